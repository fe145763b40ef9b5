#include "tools/sst_inspect/totals.h"

#include <fmt/format.h>

namespace rowbloom::sst_inspect {
namespace {

std::string ProbesText(const Range<int>& probes) {
  if (probes.high == 0) return "-";
  return probes.low == probes.high
             ? fmt::format("{}", probes.low)
             : fmt::format("{}-{}", probes.low, probes.high);
}

}  // namespace

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

std::vector<std::string> SectionColumns() {
  return {"section", "kind",      ">probes", ">keys",
          ">bytes",  ">bits/key", ">fill",   ">expected FPR"};
}

std::vector<std::string> SectionCells(const SectionId& what,
                                      const SectionTotals& totals) {
  const auto bits = totals.BitsPerKey();
  const auto rate = totals.Rate();
  return {
      what.first,
      what.second,
      ProbesText(totals.probes),
      totals.keys_known
          ? fmt::format("{}{}", totals.keys_estimated ? "~" : "", totals.keys)
          : "-",
      fmt::format("{}", totals.size_bytes),
      bits ? fmt::format("{:.2f}", *bits) : "-",
      totals.fill.empty ? "-" : PercentRange(totals.fill.low, totals.fill.high),
      rate ? Percent(*rate) : "-"};
}

}  // namespace rowbloom::sst_inspect
