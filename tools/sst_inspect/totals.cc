#include "tools/sst_inspect/totals.h"

#include <fmt/format.h>

namespace rowbloom::sst_inspect {
namespace {

std::string ProbesText(const Range<int>& probes) {
  return probes.low == probes.high
             ? fmt::format("{}", probes.low)
             : fmt::format("{}-{}", probes.low, probes.high);
}

}  // namespace

Record TypeTotals::RecordOf(std::string_view type, uint64_t file_bytes) const {
  Record record;
  record.Text("type", type)
      .Count("blocks", blocks)
      .Count("stored_bytes", stored_bytes)
      .Share("of_the_file", static_cast<double>(stored_bytes) /
                                static_cast<double>(file_bytes))
      .Count("contents_bytes", contents_bytes)
      .Real("ratio", static_cast<double>(contents_bytes) /
                         static_cast<double>(stored_bytes))
      .Count("damaged", damaged);
  return record;
}

void SectionTotals::Add(const SectionFacts& section) {
  keys_known = keys_known && section.keys.has_value();
  keys_estimated = keys_estimated || section.keys_estimated;
  keys += section.keys.value_or(0);
  size_bytes += section.size_bytes;
  probes.Add(section.probes);
  if (section.fill) fill.Add(*section.fill);
  if (!section.rate) return;
  const auto own_weight =
      static_cast<double>(section.keys ? *section.keys : section.size_bytes);
  rate_times_weight += *section.rate * own_weight;
  weight += own_weight;
  rated = true;
}

std::optional<double> SectionTotals::BitsPerKey() const {
  if (!keys_known || keys == 0) return std::nullopt;
  return 8 * static_cast<double>(size_bytes) / static_cast<double>(keys);
}

std::optional<double> SectionTotals::Rate() const {
  if (!rated) return std::nullopt;
  return weight > 0 ? rate_times_weight / weight : 0;
}

void UseEntriesOfProperties(const TableFacts& facts, TotalsBySection* totals) {
  if (totals->size() != 1 || facts.filter_entries.value_or(0) == 0) return;
  SectionTotals& only = totals->begin()->second;
  only.keys = *facts.filter_entries;
  only.keys_known = true;
  only.keys_estimated = false;
}

void AddSectionTo(Record* record, const SectionId& what,
                  const SectionTotals& totals) {
  record->Text("section", what.first).Text("kind", what.second);
  if (totals.probes.high > 0) {
    record->Number("probes", static_cast<uint64_t>(totals.probes.low))
        .As(ProbesText(totals.probes));
  }
  record->Number("keys",
                 totals.keys_known ? std::optional(totals.keys) : std::nullopt);
  if (totals.keys_known && totals.keys_estimated) {
    record->As(fmt::format("~{}", totals.keys));
  }
  record->Flag("keys_estimated", totals.keys_estimated)
      .Number("bytes", totals.size_bytes)
      .Real("bits_per_key", totals.BitsPerKey());
  if (!totals.fill.empty) {
    record->Share("fill_low", totals.fill.low)
        .As(PercentRange(totals.fill.low, totals.fill.high))
        .Share("fill_high", totals.fill.high);
  }
  record->Share("expected_rate", totals.Rate());
}

}  // namespace rowbloom::sst_inspect
