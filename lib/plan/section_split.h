// The sizes and rates of the sections of one block: what the builder makes, and
// what Predict says of it. doc/planning.md has the model. All functions are
// pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rowbloom/advise.h"
#include "rowbloom/bloom_type.h"

namespace rowbloom {

// The most bytes of one section: leaves every offset within 32 bits for three
// sections.
inline constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 30;

// A filter of kBloom: its bits for each key, and what follows from them.
struct BloomSetting {
  double bits_per_key = 0;
  int probes = 0;
  double rate = 0;
};

// A section of kind kBloom, or the one that a ribbon of its rate stands for.
struct SectionSize {
  uint64_t keys = 0;
  uint64_t blocks = 0;  // kBloomBlockBytes each
  int probes = 0;
  double rate = 0;
};

// The bits of a section of kind kBloom for each of its keys, of which none
// counts as one.
double BitsPerKey(const SectionSize& section);

// Tells whether `row_spread` is usable: inside (0, 1], not NaN.
inline bool IsRowSpread(double row_spread) {
  return row_spread > 0 && row_spread <= 1;
}

// The rates with the least sum of wasted reads for sections of `kind` with
// `rows` and `cells` distinct entries that take the bits of two sections of
// `rate`. None of the three wasted reads is above `rate`, and the ROW section
// has at least the bits of that rate. With a row_spread of 1, and without rows
// or cells, both rates are `rate`. REQUIRES IsRowSpread(row_spread).
SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread);

// The blocks for so many keys, kMaxSectionBytes at most.
uint64_t BlocksFor(uint64_t keys, double bits_per_key);

// Sizes a ROW section and, if there is another, a ROWCOL section of these keys
// with the setting, or with the adaptive split of its bits for `row_spread`. As
// kBloom they have the same size with either; as kRibbon about the same.
void SizeSections(FilterKind kind, const BloomSetting& setting,
                  std::optional<double> row_spread,
                  std::span<SectionSize> sections);

}  // namespace rowbloom
