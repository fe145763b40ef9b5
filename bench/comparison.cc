#include "bench/comparison.h"

#include <fmt/format.h>

#include <utility>

namespace rowbloom::bench {

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kMissed:
      return "missed";
  }
  return "unknown";
}

Verdict Judge(const Estimate& measured, double at_most) {
  if (measured.high <= at_most) return Verdict::kHolds;
  return measured.low > at_most ? Verdict::kMissed : Verdict::kUndecided;
}

std::vector<Claim> AtMost(std::optional<double> ratio,
                          Estimate Measurement::*of) {
  if (!ratio) return {};
  return {{.at_most = *ratio, .of = of}};
}

std::vector<std::string> ClaimsThatAre(
    Verdict verdict, const std::vector<Comparison>& comparisons) {
  std::vector<std::string> sentences;
  for (const Comparison& comparison : comparisons) {
    for (const Claim& claim : comparison.claims) {
      if (comparison.VerdictOn(claim) != verdict) continue;
      const Measurement& own = comparison.measurements[claim.contender];
      const Estimate& measured = own.*claim.of;
      const bool time = claim.of == &Measurement::cpu_nanos ||
                        claim.of == &Measurement::wall_nanos;
      sentences.push_back(fmt::format(
          "{}, {}: {} takes {:.4g} ({:.4g} to {:.4g}) {}{}, claimed is at most "
          "{:.4g}",
          comparison.what, comparison.where, own.name, measured.value,
          measured.low, measured.high, time ? "ns" : "of the time of ",
          time ? "" : comparison.measurements[0].name, claim.at_most));
    }
  }
  return sentences;
}

rocksdb::Status Bench::Compare(Comparison comparison,
                               std::vector<Contender> contenders,
                               TurnOptions turns) {
  if (!Wants(comparison.what)) return rocksdb::Status::OK();
  Step(comparison.where + ": " + comparison.what);
  if (turns.seconds > 0) turns.seconds = seconds;
  const rocksdb::Status s =
      TakeTurns(std::move(contenders), turns, &comparison.measurements);
  if (s.ok()) comparisons_.push_back(std::move(comparison));
  return s;
}

}  // namespace rowbloom::bench
