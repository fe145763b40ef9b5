// The values that the store keeps for cells, in both of its formats, and what
// merges make of them. The input is two such values, and rules for versions.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {
namespace {

bool IsPartOf(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() &&
          part.data() + part.size() <= whole.data() + whole.size());
}

void CheckLatest(std::string_view stored) {
  CellValue cell;
  if (!DecodeCellValue(stored, &cell)) {
    Check(!ProblemOfCellValue(stored).empty(), "a problem is named");
    return;
  }
  Check(cell.timestamp_ms <= kMaxTimestampMs, "a timestamp has its bound");
  Check(IsPartOf(cell.value, stored), "a value is part of the stored bytes");
  std::string written = EncodeCellHead(cell.timestamp_ms, cell.ttl_ms);
  written += cell.value;
  Check(written == stored, "a value is written as it was read");
}

bool Decode(std::string_view stored, Entries* entries) {
  std::string problem;
  if (!DecodeEntries(stored, entries, &problem)) {
    Check(!problem.empty(), "a problem is named");
    return false;
  }
  for (size_t i = 0; i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    Check(entry.timestamp_ms <= kMaxTimestampMs, "a timestamp has its bound");
    Check(entry.ttl_ms == kNoTtl || (entry.type == ChangeType::kPut &&
                                     entry.ttl_ms <= kMaxTimestampMs),
          "a TTL has its bound, and is a put's");
    Check(IsPartOf(entry.value, stored), "a value is part of the stored bytes");
    Check(i == 0 || ComesBefore((*entries)[i - 1], entry),
          "entries come in order, each once");
  }
  Check(EncodeEntries(*entries) == stored, "entries are written as they were");
  return true;
}

std::vector<Entry> Visible(const Entries& entries, const VersionRules& rules,
                           uint64_t now_ms) {
  std::vector<Entry> visible;
  ForEachVisible(entries, RowDeletes(), rules, now_ms,
                 [&visible](const Entry& entry) {
                   visible.push_back(entry);
                   return true;
                 });
  Check(visible.size() <= rules.max_versions, "no more than max_versions show");
  for (size_t i = 0; i < visible.size(); ++i) {
    Check(visible[i].type == ChangeType::kPut, "only puts show");
    Check(i == 0 || visible[i].timestamp_ms < visible[i - 1].timestamp_ms,
          "the newest version shows first");
  }
  return visible;
}

void CheckMerge(const Entries& earlier, const Entries& later,
                const VersionRules& rules, uint64_t now_ms) {
  const Entries state = ApplyOperand({}, earlier, rules);
  const Entries merged = ApplyOperand(state, later, rules);
  Entries again;
  Check(Decode(EncodeEntries(merged), &again) && again == merged,
        "what a merge makes can be read");
  const std::vector<Entry> visible = Visible(merged, rules, now_ms);
  if (const auto operand = CombineOperands(earlier, later)) {
    Check(Decode(EncodeEntries(*operand), &again) && again == *operand,
          "what joined operands make can be read");
  }
  Entries alive = merged;
  RemoveDead(rules, {.wall_ms = now_ms, .no_puts_before_ms = now_ms}, &alive);
  Check(Visible(alive, rules, now_ms) == visible,
        "what is removed as dead had not been seen");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  using namespace rowbloom;
  using namespace rowbloom::fuzz;
  Input input({reinterpret_cast<const char*>(data), byte_count});
  VersionRules rules;
  rules.max_versions = 1u + input.Byte() % 8;
  rules.min_versions = input.Byte() % (rules.max_versions + 1);
  rules.ttl_ms = input.Number(2);
  const uint64_t now_ms = input.Number(4);
  const std::string_view first = input.Bytes(input.Number(2));
  const std::string_view second = input.Rest();
  CheckLatest(first);
  CheckLatest(second);
  Entries earlier;
  Entries later;
  const bool first_good = Decode(first, &earlier);
  const bool both = Decode(second, &later) && first_good;
  if (both) CheckMerge(earlier, later, rules, now_ms);
  return 0;
}
