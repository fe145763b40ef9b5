// The compound Bloom filters of HFiles, chunk by chunk, and lookups in them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/hfile/bloom_chunk.h"
#include "tools/table/hfile_table.h"
#include "tools/table/key_format.h"

namespace rowbloom::table {
namespace {

using hfile::BloomFilter;
using rocksdb::Status;

double FillOf(std::string_view bits) {
  return static_cast<double>(BitsSet(bits)) /
         (8 * static_cast<double>(bits.size()));
}

// Formats a filter key. Those of ROWCOL filters are cell keys without a family.
std::string KeyText(BloomType type, std::string_view key) {
  HFileKey cell;
  if (type != BloomType::kRowCol || !hfile::ParseKey(key, &cell)) {
    return ToPrintable(key);
  }
  return ToPrintable(cell.row) + "/" + ToPrintable(cell.qualifier);
}

// Estimates the number of keys that set this share of the bits.
uint64_t KeysFromFill(double fill, uint64_t bits, uint32_t hash_count) {
  const double share = std::min(fill, 1 - 1 / static_cast<double>(bits));
  return static_cast<uint64_t>(std::llround(-static_cast<double>(bits) /
                                            hash_count * std::log1p(-share)));
}

// Returns the uncompressed size of a chunk; 0 if it cannot be read.
uint64_t BytesOf(const hfile::Reader& reader, const BloomFilter& filter,
                 size_t entry) {
  hfile::BlockHeader header;
  const Status status =
      reader.blocks().ReadHeader(filter.chunks.location(entry).offset,
                                 reader.trailer().load_on_open_offset, &header);
  return status.ok() ? header.payload_bytes : 0;
}

// Adds the facts of the plan about a chunk; `last` tells whether it is the
// last.
void AddPlanned(const hfile::ChunkPlan& plan, bool last, SectionFacts* facts) {
  facts->keys = last ? plan.last_keys : plan.full_keys;
  facts->capacity_keys = last ? plan.last_max_keys : plan.full_keys;
  facts->folds = last ? plan.last_folds : 0;
}

// Adds the facts that follow from the bits of a chunk.
void AddBits(const HFileBloomInfo& info, std::string_view bits,
             SectionFacts* facts) {
  facts->bits = bits;
  facts->size_bytes = bits.size();
  facts->fill = FillOf(bits);
  facts->rate = std::pow(*facts->fill, info.hash_count);
  if (!facts->keys) {
    facts->keys = KeysFromFill(*facts->fill, 8 * bits.size(), info.hash_count);
    facts->keys_estimated = true;
  }
}

// Reads the chunks of one filter. `full_bytes` is the size of a chunk that is
// not folded; nullopt: not known, as for a single chunk.
Status ForEachChunk(const hfile::Reader& reader, const BloomFilter& filter,
                    const std::string& section,
                    std::optional<uint64_t> full_bytes,
                    const std::function<void(const FilterPart&)>& use) {
  const size_t count = filter.chunks.size();
  if (count == 0) return Status::OK();
  const auto plan = hfile::PlanChunks(
      filter.info, full_bytes.value_or(hfile::kDefaultChunkBytes),
      BytesOf(reader, filter, count - 1));
  // Chunks must follow one another in the file, so that an index cannot name
  // one of them any number of times.
  uint64_t next_offset = 0;
  for (size_t i = 0; i < count; ++i) {
    const hfile::BlockLocation location = filter.chunks.location(i);
    if (location.offset < next_offset) {
      return reader.file().Located(
          "Bloom chunk", location.offset,
          Status::Corruption(
              Concat("expected at offset ", next_offset, " or behind")));
    }
    next_offset = location.offset + location.block_bytes;
    FilterPart part{.number = i + 1,
                    .offset_bytes = location.offset,
                    .key_text = KeyText(filter.info.type, filter.chunks.key(i)),
                    .writer = "HBase",
                    .parameters = fmt::format(
                        "{} hashes", rowbloom::ToString(filter.info.hash))};
    SectionFacts facts{.section = section,
                       .kind = "bloom",
                       .probes = static_cast<int>(filter.info.hash_count)};
    if (plan) AddPlanned(*plan, i + 1 == count, &facts);
    facts.folds_assumed = facts.folds && !full_bytes;
    std::shared_ptr<const hfile::Block> chunk;
    part.status = reader.CachedChunk(filter, i, &chunk);
    if (part.status.ok()) {
      AddBits(filter.info, chunk->payload, &facts);
    } else {
      facts.keys.reset();  // its bytes are not known, either
    }
    part.size_bytes = facts.size_bytes;
    part.sections.push_back(std::move(facts));
    use(part);
  }
  return Status::OK();
}

// Probes the general filter for rows, prefixes or columns, as HBase does.
class HFileFilterReader final : public FilterReader {
 public:
  explicit HFileFilterReader(const hfile::Reader& reader)
      : reader_(reader), description_(reader.bloom_description()) {
    if (can_probe()) rates_.resize(reader.general_bloom()->chunks.size());
  }

  bool can_probe() const override { return reader_.GeneralBloom() != nullptr; }

  void LookUp(const FilterLookup& lookup, FilterAnswer* answer) override {
    *answer = {};
    if (!can_probe()) {
      const Status& status = reader_.BloomStatus();
      answer->filter = status.ok() ? "none" : "unusable";
      if (!status.ok()) answer->problems.push_back({.status = status});
      return;
    }
    answer->filter = FilterPolicyText(reader_);
    answer->by = is_row_col()  ? FilterAnswer::By::kKey
                 : is_prefix() ? FilterAnswer::By::kPrefix
                               : FilterAnswer::By::kRow;
    const std::string section = SectionName(description_.type);
    if (lookup.is_row && is_row_col()) {
      answer->sections.push_back(
          {section, Verdict::kNotProbed, "not probed: it holds no rows"});
      return;
    }
    const std::vector<std::string> keys = KeysOf(lookup);
    // The last key is the first of its row, so the others are after it.
    const bool past_last =
        description_.has_last_key &&
        hfile::CompareIndexKeys(
            is_row_col() ? hfile::KeyForm::kCellKey : hfile::KeyForm::kBytes,
            keys.back(), description_.last_key) > 0;
    double ruled_out = 1;  // the probability that all lookups are negative
    for (const std::string& key : keys) {
      const bool is_own = &key == &keys.front();
      ruled_out *= 1 - LookUpKey(is_own ? section : section + " markers", key,
                                 past_last, answer);
    }
    answer->rate = answer->column_rate = 1 - ruled_out;
    answer->may_match =
        std::ranges::any_of(answer->sections, [](const SectionAnswer& found) {
          return found.verdict != Verdict::kNoMatch;
        });
  }

  Facts OtherAnswers(const FilterLookup& lookup,
                     bool* may_match) const override {
    const std::string_view row = ColumnOf(lookup).row;
    const bool in_range = reader_.KeyRangeMayContain(row, row);
    if (!in_range) *may_match = false;
    Facts facts = {{"range", in_range ? "within first to last row"
                                      : "outside of first to last row"}};
    if (reader_.DeleteFamilyBloom() != nullptr) {
      facts.emplace_back("family deletes", reader_.MayContainDeleteFamily(row)
                                               ? "may be there"
                                               : "not there");
    }
    return facts;
  }

  // In a ROWCOL filter, a lookup of a cell also probes the marker of its
  // family, whose qualifier is empty.
  std::vector<std::string> KeysOf(const FilterLookup& lookup) const override {
    const KeyParts column = ColumnOf(lookup);
    std::vector<std::string> keys = {
        hfile::BloomKey(description_, column.row, column.qualifier)};
    if (is_row_col() && !column.qualifier.empty()) {
      keys.push_back(hfile::BloomKey(description_, column.row, {}));
    }
    return keys;
  }

 private:
  bool is_row_col() const { return description_.type == BloomType::kRowCol; }
  bool is_prefix() const {
    return description_.type == BloomType::kRowPrefixFixedLength;
  }

  static KeyParts ColumnOf(const FilterLookup& lookup) {
    if (lookup.is_row) return {.row = lookup.key};
    return ParseHFileColumn(lookup.key).value_or(KeyParts{});
  }

  // Adds the answer for one key of the filter. Returns the predicted rate of
  // the chunk; 0 if there is none to probe.
  double LookUpKey(std::string section, std::string_view key, bool past_last,
                   FilterAnswer* answer) {
    answer->sections.push_back({std::move(section), Verdict::kNoMatch});
    SectionAnswer& found = answer->sections.back();
    const BloomFilter& filter = *reader_.general_bloom();
    const size_t entry = filter.chunks.Find(key);
    if (past_last || entry == filter.chunks.size()) {
      found.note =
          past_last ? ": after LAST_BLOOM_KEY" : ": before the first chunk";
      return 0;
    }
    found.note = fmt::format(", chunk {} of {}", entry + 1, rates_.size());
    std::shared_ptr<const hfile::Block> chunk;
    const Status status = reader_.CachedChunk(filter, entry, &chunk);
    if (!status.ok()) {
      found.verdict = Verdict::kUnusable;
      answer->unusable = true;
      answer->problems.push_back({.status = status});
      return 1;
    }
    if (hfile::ChunkMayContain(chunk->payload, filter.info.hash,
                               filter.info.hash_count, key)) {
      found.verdict = Verdict::kMayMatch;
    }
    std::optional<double>& rate = rates_[entry];
    if (!rate) rate = std::pow(FillOf(chunk->payload), filter.info.hash_count);
    return *rate;
  }

  const hfile::Reader& reader_;
  const hfile::BloomDescription& description_;
  std::vector<std::optional<double>> rates_;  // of the chunks, once read
};

}  // namespace

Status HFileTable::ForEachFilterPart(
    const std::function<void(const FilterPart&)>& use) const {
  Status status = reader_->BloomStatus();
  // A writer plans the chunks of both filters alike.
  std::optional<uint64_t> full_bytes;
  const auto for_each_chunk = [&](const std::optional<BloomFilter>& filter,
                                  const std::string& section) {
    if (!filter) return;
    if (filter->chunks.size() > 1) full_bytes = BytesOf(*reader_, *filter, 0);
    const Status read = ForEachChunk(*reader_, *filter, section, full_bytes,
                                     [&](const FilterPart& part) {
                                       ReadUpTo(part.offset_bytes);
                                       use(part);
                                     });
    if (status.ok()) status = read;
  };
  for_each_chunk(reader_->general_bloom(),
                 SectionName(reader_->bloom_description().type));
  for_each_chunk(reader_->delete_family_bloom(), "delete family");
  ReadUpTo(size_bytes());
  return status;
}

Status HFileTable::NewFilterReader(
    std::unique_ptr<FilterReader>* reader) const {
  *reader = std::make_unique<HFileFilterReader>(*reader_);
  return Status::OK();
}

void HFileTable::Verify(const KeyFormat& /*format*/, Findings* findings,
                        VerifyCounts* counts) const {
  if (key_order() == sst::KeyOrder::kUnknown) {
    findings->Note("the order of keys is not checked: comparator " +
                   ToPrintable(reader_->trailer().comparator) +
                   " is not known");
  }
  if (reader_->CellsStatus().ok() && reader_->BloomStatus().IsNotSupported()) {
    findings->Note(std::string("a filter is not checked: ") +
                   reader_->BloomStatus().getState());
  }
  HFileReport report;
  const Status status = reader_->Verify(
      [this](uint64_t twice_bytes) { ReadUpTo(twice_bytes / 2); }, &report);
  ReadUpTo(size_bytes());
  for (const std::string& problem : report.problems) {
    findings->Problem(problem);
  }
  findings->MoreProblems(report.problem_count - report.problems.size());
  if (!status.ok() && !status.IsCorruption()) findings->Failure(status);
  *counts = {.blocks = report.blocks,
             .damaged_blocks = report.damaged_blocks,
             .cells = report.cells,
             .has_filter = reader_->GeneralBloom() != nullptr ||
                           reader_->DeleteFamilyBloom() != nullptr,
             .keys_probed = report.bloom_keys_checked,
             .false_negatives = report.false_negatives};
}

}  // namespace rowbloom::table
