#include "lib/plan/kind_bits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// Slots of all layers of a large ribbon, for each key.
constexpr double kSlotsOfEachKey = 1.002;
// Limits take two bits for each bucket of 128 slots.
constexpr double kLimitBits = 2.0 / 128;

constexpr double kStepsPerBit = 8;

double Position(double bits_per_key) {
  return (std::clamp(bits_per_key, kMinBitsPerKey, kMaxBitsPerKey) -
          kMinBitsPerKey) *
         kStepsPerBit;
}

// The logarithm of kBloom's rate for each step of the bits per key. Rates
// between two steps are interpolated.
struct RateTable {
  std::vector<double> log_rates;  // strictly decreasing
  std::vector<int> probes;

  RateTable() {
    const auto steps = static_cast<size_t>(Position(kMaxBitsPerKey));
    for (size_t i = 0; i <= steps; ++i) {
      const double bits =
          kMinBitsPerKey + static_cast<double>(i) / kStepsPerBit;
      probes.push_back(BestProbes(bits));
      log_rates.push_back(
          std::log(BlockedFalsePositiveRate(bits, probes.back())));
    }
  }
};

// Never destroyed: filters may be built while the process ends, as RocksDB
// finishes the compactions under way.
const RateTable& Table() {
  static const RateTable& table = *new RateTable;
  return table;
}

double BloomRate(double bits_per_key) {
  const std::vector<double>& log_rates = Table().log_rates;
  const double position = Position(bits_per_key);
  const auto i = std::min(static_cast<size_t>(position), log_rates.size() - 2);
  const double share = position - static_cast<double>(i);
  return std::exp(log_rates[i] + share * (log_rates[i + 1] - log_rates[i]));
}

double BloomBits(double rate) {
  const std::vector<double>& log_rates = Table().log_rates;
  const double wanted = std::log(rate);
  if (wanted >= log_rates.front()) return kMinBitsPerKey;
  if (wanted <= log_rates.back()) return kMaxBitsPerKey;
  // The first that is not above `wanted`.
  const auto after = std::lower_bound(log_rates.begin(), log_rates.end(),
                                      wanted, std::greater<>());
  const double share = (after[-1] - wanted) / (after[-1] - *after);
  const auto i = static_cast<double>(after - log_rates.begin() - 1);
  return kMinBitsPerKey + (i + share) / kStepsPerBit;
}

}  // namespace

double KindBits(FilterKind kind, double rate) {
  const double bloom = BloomBits(rate);
  return kind == FilterKind::kRibbon ? std::min(bloom, RibbonBitsPerKey(rate))
                                     : bloom;
}

double KindRate(FilterKind kind, double bits_per_key) {
  const double bloom = BloomRate(bits_per_key);
  if (kind != FilterKind::kRibbon) return bloom;
  return std::max(std::min(bloom, RibbonRate(bits_per_key)),
                  RibbonRate(kMaxBitsPerKey));
}

int TableProbes(double bits_per_key) {
  return Table()
      .probes[static_cast<size_t>(std::lround(Position(bits_per_key)))];
}

RibbonColumns RibbonColumnsFor(double false_positive_rate) {
  const double bits = -std::log2(false_positive_rate);
  const int narrow =
      std::clamp(static_cast<int>(std::floor(bits)), 1, kMaxRibbonColumns);
  const double narrow_rate = std::ldexp(1.0, -narrow);
  const double wide_rate = narrow_rate / 2;
  return {narrow, std::clamp((false_positive_rate - wide_rate) /
                                 (narrow_rate - wide_rate),
                             0.0, 1.0)};
}

double RibbonBitsPerKey(double false_positive_rate, double slots_per_key) {
  const RibbonColumns columns = RibbonColumnsFor(false_positive_rate);
  return std::max(kSlotsOfEachKey, slots_per_key) *
             (columns.narrow + 1 - columns.narrow_share) +
         kLimitBits;
}

double RibbonRate(double bits_per_key, double slots_per_key) {
  const double columns =
      (bits_per_key - kLimitBits) / std::max(kSlotsOfEachKey, slots_per_key);
  if (columns < 1) return 1;
  const double narrow =
      std::min(std::floor(columns), double{kMaxRibbonColumns});
  const double wide_share = std::min(columns - narrow, 1.0);
  return std::exp2(-narrow) * (1 - wide_share / 2);
}

}  // namespace rowbloom
