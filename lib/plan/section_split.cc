#include "lib/plan/section_split.h"

#include <algorithm>
#include <cmath>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr uint64_t kMaxBlocks = kMaxSectionBytes / kBloomBlockBytes;

}  // namespace

WastedReads PredictWastedReads(const SectionRates& rates, double row_spread) {
  const double both = rates.row * rates.row_col;
  return {.scan_absent_row = rates.row,
          .get_absent_row = both,
          .get_absent_column =
              row_spread * rates.row_col + (1 - row_spread) * both};
}

SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread) {
  SectionRates best = {.row = rate, .row_col = rate};
  if (rows == 0 || cells == 0) return best;
  double least = PredictWastedReads(best, row_spread).Sum();
  const double equal = KindBits(kind, rate);
  const double rows_per_cell =
      static_cast<double>(rows) / static_cast<double>(cells);
  constexpr double kStep = 0.125;  // bits
  for (double row = equal + kStep; row <= kMaxBitsPerKey; row += kStep) {
    const double row_col = equal - (row - equal) * rows_per_cell;
    if (row_col < kMinBitsPerKey) break;
    const SectionRates rates = {.row = KindRate(kind, row),
                                .row_col = KindRate(kind, row_col)};
    const WastedReads wasted = PredictWastedReads(rates, row_spread);
    if (wasted.get_absent_column > rate) break;
    if (wasted.Sum() < least) {
      least = wasted.Sum();
      best = rates;
    }
  }
  return best;
}

double BitsPerKey(const SectionSize& section) {
  return static_cast<double>(section.blocks) * kBloomBlockBits /
         static_cast<double>(std::max<uint64_t>(1, section.keys));
}

uint64_t BlocksFor(uint64_t keys, double bits_per_key) {
  const double blocks =
      std::ceil(static_cast<double>(keys) * bits_per_key / kBloomBlockBits);
  return static_cast<uint64_t>(
      std::min(blocks, static_cast<double>(kMaxBlocks)));
}

void SizeSections(FilterKind kind, const BloomSetting& setting,
                  std::optional<double> row_spread,
                  std::span<SectionSize> sections) {
  for (SectionSize& section : sections) {
    section.blocks = BlocksFor(section.keys, setting.bits_per_key);
    // The largest section may have fewer bits per key than the setting.
    section.probes = section.blocks < kMaxBlocks
                         ? setting.probes
                         : TableProbes(BitsPerKey(section));
    section.rate = setting.rate;
  }
  if (!row_spread || sections.size() < 2) return;
  SectionSize& row = sections[0];
  SectionSize& row_col = sections[1];
  const SectionRates rates =
      AdaptiveSplit(kind, row.keys, row_col.keys, setting.rate, *row_spread);
  if (rates.row == setting.rate) return;
  row.rate = rates.row;
  row_col.rate = rates.row_col;
  if (kind == FilterKind::kRibbon) {
    for (SectionSize& section : sections) {
      const double bits = KindBits(FilterKind::kBloom, section.rate);
      section.blocks = BlocksFor(section.keys, bits);
      section.probes = TableProbes(std::min(bits, BitsPerKey(section)));
    }
    return;
  }
  // Whole blocks move from one section to the other.
  const uint64_t blocks = row.blocks + row_col.blocks;
  const uint64_t wanted = std::min(
      kMaxBlocks,
      static_cast<uint64_t>(static_cast<double>(row.keys) *
                                KindBits(FilterKind::kBloom, rates.row) /
                                kBloomBlockBits +
                            0.5));
  if (wanted <= row.blocks || wanted >= blocks) return;
  row.blocks = wanted;
  row_col.blocks = blocks - wanted;
  for (SectionSize& section : sections) {
    section.probes = TableProbes(BitsPerKey(section));
  }
}

}  // namespace rowbloom
