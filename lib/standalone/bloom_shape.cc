#include "rowbloom/bloom_shape.h"

#include <algorithm>
#include <cmath>

#include "lib/bytes/text.h"

namespace rowbloom {
namespace {

// The share of bits that stay 0 is 1 - rate^(1/hashes), which must not round to
// 0 at a rate near 1.
double BitsFor(double keys, double rate, int hashes) {
  return -hashes * keys / std::log(-std::expm1(std::log(rate) / hashes));
}

}  // namespace

Result<BloomShape> BloomShapeFor(uint64_t keys, double false_positive_rate) {
  // NaN is refused, too.
  if (!(false_positive_rate >= kMinFilterRate && false_positive_rate < 1)) {
    return Error{Concat("false positive rate ", false_positive_rate,
                        ", expected one from ", kMinFilterRate, " to below 1")};
  }
  const auto n = static_cast<double>(std::max<uint64_t>(keys, 1));
  const int fewer = std::max(
      1, static_cast<int>(std::floor(-std::log2(false_positive_rate))));
  const int hashes = BitsFor(n, false_positive_rate, fewer) <=
                             BitsFor(n, false_positive_rate, fewer + 1)
                         ? fewer
                         : fewer + 1;
  const double bits =
      std::ceil(BitsFor(n, false_positive_rate, hashes) / 64) * 64;
  if (bits > static_cast<double>(kMaxFilterPlaces)) {
    return Error{Concat("a filter of ", bits, " places for ", keys,
                        " keys, expected at most ", kMaxFilterPlaces)};
  }
  return BloomShape{static_cast<uint64_t>(bits), hashes};
}

double FalsePositiveRate(const BloomShape& shape, uint64_t keys) {
  return std::pow(-std::expm1(-shape.hashes * static_cast<double>(keys) /
                              static_cast<double>(shape.bits)),
                  shape.hashes);
}

}  // namespace rowbloom
