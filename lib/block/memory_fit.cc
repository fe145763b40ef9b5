#include "lib/block/memory_fit.h"

#include <algorithm>
#include <vector>

#include "lib/kernels/bloom_block.h"
#include "lib/plan/kind_bits.h"

namespace rowbloom {
namespace {

// The limits of a changed size, relative to the requested one. Beyond a third
// more, additional bits gain too little.
constexpr double kSmallest = 0.75;
constexpr double kLargest = 4.0 / 3;

uint64_t Blocks(std::span<const SectionSize> sections) {
  uint64_t blocks = 0;
  for (const SectionSize& section : sections) blocks += section.blocks;
  return blocks;
}

// Sections of few keys may have more bits per key than KindRate covers. Such
// differences are not counted.
double RateOf(std::span<const SectionSize> sections) {
  double rate = 0;
  for (const SectionSize& section : sections) {
    if (section.keys == 0) continue;
    rate += KindRate(FilterKind::kBloom, BitsPerKey(section));
  }
  return rate;
}

}  // namespace

void MemoryFit::Choose(size_t other_bytes, std::span<SectionSize> sections) {
  const std::vector<SectionSize> wanted(sections.begin(), sections.end());
  const double wanted_rate = RateOf(wanted);
  const double credit = -balance();
  if (credit > 0) {
    for (const double scale : {kSmallest, 13.0 / 16, 7.0 / 8, 15.0 / 16}) {
      std::vector<SectionSize> smaller = wanted;
      for (SectionSize& section : smaller) {
        const auto blocks =
            static_cast<uint64_t>(static_cast<double>(section.blocks) * scale);
        section.blocks = section.keys > 0 ? std::max<uint64_t>(1, blocks) : 0;
      }
      if (RateOf(smaller) <= wanted_rate + credit) {
        std::ranges::copy(smaller, sections.begin());
        break;
      }
    }
  }

  const size_t bytes = other_bytes + Blocks(sections) * kBlockBytes;
  const size_t usable = usable_bytes_(bytes);
  if (usable > bytes &&
      static_cast<double>(usable) <= static_cast<double>(bytes) * kLargest) {
    const uint64_t spare = (usable - bytes) / kBlockBytes;
    const uint64_t blocks = std::max<uint64_t>(1, Blocks(sections));
    uint64_t given = 0;
    for (SectionSize& section : sections) {
      const uint64_t more = spare * section.blocks / blocks;
      section.blocks += more;
      given += more;
    }
    const auto largest =
        std::ranges::max_element(sections, {}, &SectionSize::blocks);
    if (largest != sections.end() && largest->keys > 0) {
      largest->blocks += spare - given;
    }
  }

  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].blocks != wanted[i].blocks) {
      sections[i].probes = TableProbes(BitsPerKey(sections[i]));
    }
  }
  balance_.fetch_add(RateOf(sections) - wanted_rate, std::memory_order_relaxed);
}

}  // namespace rowbloom
