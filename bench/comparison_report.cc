#include "bench/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

std::string Claim(const Comparison& comparison, size_t i) {
  if (i != 1 || !comparison.claimed_ratio) return "";
  return fmt::format(
      "<= {:.3f}{}", *comparison.claimed_ratio,
      comparison.Ratio(1) <= *comparison.claimed_ratio ? "" : " missed");
}

}  // namespace

std::string ToTable(const std::vector<Comparison>& comparisons) {
  size_t what = 9;
  size_t where = 5;
  size_t by = 2;
  for (const Comparison& comparison : comparisons) {
    what = std::max(what, comparison.what.size());
    where = std::max(where, comparison.where.size());
    for (const Timing& timing : comparison.timings) {
      by = std::max(by, timing.name.size());
    }
  }
  std::string table = fmt::format(
      "{:{}}  {:{}}  {:{}}{:>11}{:>11}{:>8}{:>8}  {}\n", "operation", what,
      "where", where, "by", by, "CPU ns", "wall ns", "CPU", "wall", "claimed");
  table += std::string(table.size() + 8, '-') + "\n";
  for (const Comparison& comparison : comparisons) {
    for (size_t i = 0; i < comparison.timings.size(); ++i) {
      const Timing& timing = comparison.timings[i];
      std::string line = fmt::format(
          "{:{}}  {:{}}  {:{}}{:>11.1f}{:>11.1f}{:>8.3f}{:>8.3f}  {}",
          i == 0 ? comparison.what : "", what, i == 0 ? comparison.where : "",
          where, timing.name, by, timing.cpu_nanos, timing.wall_nanos,
          timing.cpu_ratio, timing.wall_ratio, Claim(comparison, i));
      line.erase(line.find_last_not_of(' ') + 1);
      table += line + "\n";
    }
  }
  return table +
         "\nCPU ns, wall ns  nanoseconds of the thread's processor, and by the "
         "clock, for one\n                 operation, or one cell of a write, "
         "scan or load\nCPU, wall        medians of ratios to the first of "
         "each operation, in turns side by side\nclaimed          of the "
         "second, its CPU, or of loads its wall\n";
}

std::string ToVerdict(const std::vector<Comparison>& comparisons) {
  const std::vector<std::string> missed = MissedClaims(comparisons);
  if (missed.empty()) return "All times are as claimed.\n";
  std::string verdict;
  for (const std::string& claim : missed) {
    verdict += "not as claimed: " + claim + "\n";
  }
  return verdict;
}

ordered_json ToJson(const std::vector<Comparison>& comparisons) {
  ordered_json list = ordered_json::array();
  for (const Comparison& comparison : comparisons) {
    ordered_json contenders = ordered_json::array();
    for (const Timing& timing : comparison.timings) {
      contenders.push_back({{"by", timing.name},
                            {"cpu_nanos", timing.cpu_nanos},
                            {"wall_nanos", timing.wall_nanos},
                            {"cpu_ratio", timing.cpu_ratio},
                            {"wall_ratio", timing.wall_ratio}});
    }
    ordered_json one = {{"operation", comparison.what},
                        {"where", comparison.where},
                        {"unit", comparison.unit},
                        {"contenders", std::move(contenders)}};
    if (comparison.claimed_ratio) {
      one["claimed_ratio"] = *comparison.claimed_ratio;
      one["claim_is_of"] = comparison.by_wall_time ? "wall_ratio" : "cpu_ratio";
    }
    list.push_back(std::move(one));
  }
  return {{"comparisons", std::move(list)},
          {"missed_claims", MissedClaims(comparisons)}};
}

}  // namespace rowbloom::bench
