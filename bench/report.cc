#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

// A number of nanoseconds in the unit that suits it.
std::string Time(double nanos) {
  if (nanos < 1e4) return fmt::format("{:.1f} ns", nanos);
  if (nanos < 1e7) return fmt::format("{:.1f} us", nanos / 1e3);
  return fmt::format("{:.1f} ms", nanos / 1e6);
}

std::string Claimed(const Comparison& comparison, size_t contender) {
  std::string text;
  for (const Claim& claim : comparison.claims) {
    if (claim.contender != contender) continue;
    const bool wall = claim.of == &Measurement::wall_ratio ||
                      claim.of == &Measurement::wall_nanos;
    const bool time = claim.of == &Measurement::cpu_nanos ||
                      claim.of == &Measurement::wall_nanos;
    if (!text.empty()) text += "; ";
    text += fmt::format(
        "{} <= {}: {}", wall ? "wall" : "CPU",
        time ? Time(claim.at_most) : fmt::format("{:.3f}", claim.at_most),
        ToString(comparison.VerdictOn(claim)));
  }
  return text;
}

ordered_json Rounded(const ordered_json& value) {
  ordered_json rounded = value;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) return nullptr;
    return std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr);
  }
  if (value.is_structured()) {
    for (ordered_json& part : rounded) part = Rounded(part);
  }
  return rounded;
}

}  // namespace

std::string Spread(const Estimate& estimate, int decimals) {
  if (std::isinf(estimate.high) || estimate.value == 0) return "?";
  return fmt::format("{:.{}f}%",
                     50 * (estimate.high - estimate.low) / estimate.value,
                     decimals);
}

std::string ToTable(const std::vector<Comparison>& comparisons) {
  size_t what = 9;
  size_t where = 5;
  size_t by = 2;
  for (const Comparison& comparison : comparisons) {
    what = std::max(what, comparison.what.size());
    where = std::max(where, comparison.where.size());
    for (const Measurement& measurement : comparison.measurements) {
      by = std::max(by, measurement.name.size());
    }
  }
  std::string table =
      fmt::format("{:{}}  {:{}}  {:{}}{:>11}{:>11}{:>8}{:>7}{:>8}{:>7}  {}\n",
                  "operation", what, "where", where, "by", by, "CPU", "wall",
                  "CPU", "+-", "wall", "+-", "claimed");
  table += std::string(table.size() + 8, '-') + "\n";
  for (const Comparison& comparison : comparisons) {
    for (size_t i = 0; i < comparison.measurements.size(); ++i) {
      const Measurement& own = comparison.measurements[i];
      std::string line = fmt::format(
          "{:{}}  {:{}}  {:{}}{:>11}{:>11}{:>8.3f} {:>6}{:>8.3f} {:>6}  {}",
          i == 0 ? comparison.what : "", what, i == 0 ? comparison.where : "",
          where, own.name, by, Time(own.cpu_nanos.value),
          Time(own.wall_nanos.value), own.cpu_ratio.value,
          i == 0 ? "" : Spread(own.cpu_ratio, 1), own.wall_ratio.value,
          i == 0 ? "" : Spread(own.wall_ratio, 1), Claimed(comparison, i));
      line.erase(line.find_last_not_of(' ') + 1);
      table += line + "\n";
    }
  }
  return table +
         fmt::format(
             "\n"
             "CPU, wall      of the thread's processor, and by the "
             "clock, for one operation, or one\n"
             "               cell of a write, scan or load; then as "
             "medians of ratios to the first\n"
             "               of each operation, in turns side by side\n"
             "+-             half of the median's interval of 95 %; ?: "
             "too few turns for one\n"
             "{:15}the first contender, or one like it, once more: what "
             "a ratio is worth\n"
             "claimed        holds or is missed where the whole "
             "interval is on one side\n",
             kControl);
}

std::string ToVerdict(const std::vector<std::string>& missed,
                      const std::vector<std::string>& undecided) {
  std::string verdict;
  for (const std::string& claim : missed) {
    verdict += "not as claimed: " + claim + "\n";
  }
  for (const std::string& claim : undecided) {
    verdict += "undecided: " + claim + "\n";
  }
  return verdict.empty() ? "All is as claimed.\n" : verdict;
}

std::string ToVerdict(const std::vector<Comparison>& comparisons) {
  return ToVerdict(ClaimsThatAre(Verdict::kMissed, comparisons),
                   ClaimsThatAre(Verdict::kUndecided, comparisons));
}

ordered_json ToJson(const Estimate& estimate) {
  return {estimate.value, estimate.low, estimate.high};
}

std::vector<ordered_json> Records(const std::vector<Comparison>& comparisons) {
  std::vector<ordered_json> records;
  for (const Comparison& comparison : comparisons) {
    ordered_json record = {{"operation", comparison.what},
                           {"where", comparison.where},
                           {"unit", comparison.unit}};
    for (size_t i = 0; i < comparison.measurements.size(); ++i) {
      const Measurement& own = comparison.measurements[i];
      record["by"].push_back(own.name);
      record["turns"].push_back(own.turns);
      record["cpu_nanos"].push_back(ToJson(own.cpu_nanos));
      record["wall_nanos"].push_back(ToJson(own.wall_nanos));
      record["cpu_ratio"].push_back(ToJson(own.cpu_ratio));
      record["wall_ratio"].push_back(ToJson(own.wall_ratio));
      if (!comparison.claims.empty()) {
        record["claimed"].push_back(Claimed(comparison, i));
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::string ToJson(const ordered_json& head,
                   const std::vector<ordered_json>& records) {
  std::string text = "{\n";
  for (const auto& [name, value] : head.items()) {
    text += fmt::format("{}: {},\n", ordered_json(name).dump(),
                        Rounded(value).dump());
  }
  text += "\"records\": [";
  for (size_t i = 0; i < records.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + Rounded(records[i]).dump();
  }
  return text + "\n]\n}\n";
}

}  // namespace rowbloom::bench
