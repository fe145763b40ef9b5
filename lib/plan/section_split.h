// The sizes and rates of the sections of one block, as the builder makes them
// and as Predict predicts them. doc/planning.md has the model. All functions
// are pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rowbloom/advise.h"
#include "rowbloom/bloom_type.h"

namespace rowbloom {

// The most bytes of one section: with three sections every offset fits 32 bits.
inline constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 30;

// The bits per key of a kBloom filter, and the probes and the rate that follow.
struct BloomSetting {
  double bits_per_key = 0;
  int probes = 0;
  double rate = 0;
};

// A section of kind kBloom, or the one that a ribbon of the same rate replaces.
struct SectionSize {
  uint64_t keys = 0;
  uint64_t blocks = 0;  // kBloomBlockBytes each
  int probes = 0;
  double rate = 0;
};

// Returns the bits per key of a section of kind kBloom, or all of its bits if
// it has no keys.
double BitsPerKey(const SectionSize& section);

// Tells whether `row_spread` is usable: inside (0, 1], not NaN.
inline bool IsRowSpread(double row_spread) {
  return row_spread > 0 && row_spread <= 1;
}

// Returns the rates with the least sum of wasted reads for a ROW section of
// `rows` and a ROWCOL section of `cells` distinct entries. Both are of `kind`,
// and take the bits of two sections of `rate`. None of the three wasted reads
// is above `rate`, and ROW has at least the bits of that rate. With a
// row_spread of 1, and without rows or cells, both rates are `rate`. REQUIRES
// IsRowSpread(row_spread).
SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread);

// The blocks for so many keys, kMaxSectionBytes at most.
uint64_t BlocksFor(uint64_t keys, double bits_per_key);

// Sizes a ROW section and, if there is another, a ROWCOL section of these keys:
// with the setting, or, for a `row_spread`, with the adaptive split of its
// bits. The split does not change the size of both together, or, as kRibbon,
// hardly.
void SizeSections(FilterKind kind, const BloomSetting& setting,
                  std::optional<double> row_spread,
                  std::span<SectionSize> sections);

}  // namespace rowbloom
