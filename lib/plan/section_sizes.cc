#include "lib/plan/section_sizes.h"

#include <algorithm>
#include <cmath>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/section_split.h"

namespace rowbloom {

uint64_t BlocksFor(uint64_t keys, double bits_per_key) {
  const double blocks =
      std::ceil(static_cast<double>(keys) * bits_per_key / kBloomBlockBits);
  constexpr uint64_t kMaxBlocks = kMaxSectionBytes / kBloomBlockBytes;
  return static_cast<uint64_t>(
      std::min(blocks, static_cast<double>(kMaxBlocks)));
}

void SizeSections(FilterKind kind, const BloomSetting& setting,
                  std::optional<double> row_spread,
                  std::span<SectionSize> sections) {
  for (SectionSize& section : sections) {
    section.blocks = BlocksFor(section.keys, setting.bits_per_key);
    section.probes = setting.probes;
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
      section.probes = TableProbes(bits);
    }
    return;
  }
  // Whole blocks move from one section to the other.
  const uint64_t blocks = row.blocks + row_col.blocks;
  const auto wanted = static_cast<uint64_t>(
      static_cast<double>(row.keys) * KindBits(FilterKind::kBloom, rates.row) /
          kBloomBlockBits +
      0.5);
  if (wanted <= row.blocks || wanted >= blocks) return;
  row.blocks = wanted;
  row_col.blocks = blocks - wanted;
  for (SectionSize& section : sections) {
    section.probes =
        TableProbes(static_cast<double>(section.blocks) * kBloomBlockBits /
                    static_cast<double>(section.keys));
  }
}

}  // namespace rowbloom
