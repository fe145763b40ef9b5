#include "rowbloom/bloom_math.h"

#include <algorithm>
#include <cmath>

namespace rowbloom {
namespace {

constexpr double kBits = kBloomBlockBits;

// Computes pow for small exponents.
double Power(double base, int exponent) {
  double product = 1;
  for (; exponent > 0; --exponent) product *= base;
  return product;
}

// The probability that `probes` random bits of a block are all set after
// `keys` keys set `probes` random bits each: the mean of (s / kBits)^probes
// over the number s of set bits, to second order around its own mean.
double BlockRate(double keys, int probes) {
  if (keys <= 0) return 0;
  static const double log_not_one = std::log1p(-1 / kBits);
  static const double log_not_two = std::log1p(-2 / kBits);
  const double throws = keys * probes;
  const double empty = std::exp(throws * log_not_one);
  const double two_empty = std::exp(throws * log_not_two);
  const double fill = 1 - empty;
  const double variance = std::max(
      0.0, empty / kBits + (1 - 1 / kBits) * two_empty - empty * empty);
  const double pairs = probes * (probes - 1) / 2.0;
  // One probe has no pairs.
  const double second_order =
      pairs == 0 ? 0 : pairs * Power(fill, probes - 2) * variance;
  return std::min(1.0, Power(fill, probes) + second_order);
}

// The mean of BlockRate over a distribution of keys per block that is given by
// its mode and by the ratio of the probabilities of j + 1 and j.
template <typename Ratio>
double MeanBlockRate(double mode, int probes, Ratio ratio) {
  // Around such a mode all bits of all blocks are set. The sums would take time
  // in proportion to its root, and would not end where j + 1 rounds to j.
  constexpr double kFullBlockKeys = 1e5;
  if (mode > kFullBlockKeys) return 1;
  constexpr double kNegligible = 1e-20;
  double weight_sum = 1;
  double rate_sum = BlockRate(mode, probes);
  double weight = 1;
  for (double j = mode; weight > kNegligible; ++j) {
    weight *= ratio(j);
    weight_sum += weight;
    rate_sum += weight * BlockRate(j + 1, probes);
  }
  weight = 1;
  for (double j = mode; j > 0 && weight > kNegligible; --j) {
    weight /= ratio(j - 1);
    weight_sum += weight;
    rate_sum += weight * BlockRate(j - 1, probes);
  }
  return rate_sum / weight_sum;
}

double Clamp(double bits_per_key) {
  return std::clamp(bits_per_key, kMinBitsPerKey, kMaxBitsPerKey);
}

}  // namespace

bool IsFalsePositiveRate(double rate) { return rate > 0 && rate < 1; }

double BlockedFalsePositiveRate(double bits_per_key, int probes) {
  const double mean = kBits / bits_per_key;
  return MeanBlockRate(std::floor(mean), probes,
                       [mean](double j) { return mean / (j + 1); });
}

double BlockedFalsePositiveRate(uint64_t keys, uint64_t blocks, int probes) {
  if (keys == 0) return 0;
  if (blocks == 0) return 1;
  const auto n = static_cast<double>(keys);
  if (blocks == 1) return BlockRate(n, probes);
  const double odds = 1 / (static_cast<double>(blocks) - 1);
  const double mode = std::floor((n + 1) / static_cast<double>(blocks));
  return MeanBlockRate(std::min(mode, n), probes, [n, odds](double j) {
    return (n - j) / (j + 1) * odds;
  });
}

int BestProbes(double bits_per_key) {
  const double bits = Clamp(bits_per_key);
  // The search starts below the best number, which is 0.42 to 1 probes for each
  // bit, or kMaxProbes.
  int best = std::clamp(static_cast<int>(0.4 * bits), 1, kMaxProbes);
  double best_rate = BlockedFalsePositiveRate(bits, best);
  for (int probes = best + 1; probes <= kMaxProbes; ++probes) {
    const double rate = BlockedFalsePositiveRate(bits, probes);
    if (rate >= best_rate) break;
    best = probes;
    best_rate = rate;
  }
  return best;
}

double FalsePositiveRate(double bits_per_key) {
  const double bits = Clamp(bits_per_key);
  return BlockedFalsePositiveRate(bits, BestProbes(bits));
}

double BitsPerKey(double rate) {
  double low = kMinBitsPerKey;
  double high = kMaxBitsPerKey;
  if (rate >= FalsePositiveRate(low)) return low;
  if (rate <= FalsePositiveRate(high)) return high;
  // 50 halvings leave less than the spacing of doubles near 64.
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (FalsePositiveRate(middle) > rate ? low : high) = middle;
  }
  return high;
}

}  // namespace rowbloom
