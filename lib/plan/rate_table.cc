#include "lib/plan/rate_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr double kStepsPerBit = 8;

double Position(double bits_per_key) {
  return (std::clamp(bits_per_key, kMinBitsPerKey, kMaxBitsPerKey) -
          kMinBitsPerKey) *
         kStepsPerBit;
}

}  // namespace

RateTable::RateTable() {
  const auto steps = static_cast<size_t>(Position(kMaxBitsPerKey));
  for (size_t i = 0; i <= steps; ++i) {
    const double bits = kMinBitsPerKey + static_cast<double>(i) / kStepsPerBit;
    probes_.push_back(BestProbes(bits));
    log_rates_.push_back(
        std::log(BlockedFalsePositiveRate(bits, probes_.back())));
  }
}

const RateTable& RateTable::Get() {
  static const RateTable table;
  return table;
}

double RateTable::Rate(double bits_per_key) const {
  const double position = Position(bits_per_key);
  const auto i = std::min(static_cast<size_t>(position), log_rates_.size() - 2);
  const double share = position - static_cast<double>(i);
  return std::exp(log_rates_[i] + share * (log_rates_[i + 1] - log_rates_[i]));
}

double RateTable::Bits(double rate) const {
  const double wanted = std::log(rate);
  if (wanted >= log_rates_.front()) return kMinBitsPerKey;
  if (wanted <= log_rates_.back()) return kMaxBitsPerKey;
  // The first that is not above `wanted`.
  const auto after = std::lower_bound(log_rates_.begin(), log_rates_.end(),
                                      wanted, std::greater<>());
  const double share = (after[-1] - wanted) / (after[-1] - *after);
  const auto i = static_cast<double>(after - log_rates_.begin() - 1);
  return kMinBitsPerKey + (i + share) / kStepsPerBit;
}

int RateTable::Probes(double bits_per_key) const {
  return probes_[static_cast<size_t>(std::lround(Position(bits_per_key)))];
}

}  // namespace rowbloom
