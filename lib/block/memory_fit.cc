#include "lib/block/memory_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/kernels/bloom_block.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// A size varies by less than a third either way: more bits than that are spent
// on too little.
constexpr double kSmallest = 0.75;
constexpr double kLargest = 4.0 / 3;
constexpr int kSteps = 64;
constexpr int kStepsOfAllBits = 512;

uint64_t Blocks(std::span<const MemoryFit::Section> sections) {
  uint64_t blocks = 0;
  for (const MemoryFit::Section& section : sections) blocks += section.blocks;
  return blocks;
}

}  // namespace

MemoryFit::MemoryFit(double bits_per_key,
                     std::function<size_t(size_t)> usable_bytes)
    : MemoryFit(bits_per_key * kSmallest * 0.9, bits_per_key * kLargest * 1.1,
                kSteps, std::move(usable_bytes)) {}

MemoryFit::MemoryFit(std::function<size_t(size_t)> usable_bytes)
    : MemoryFit(kMinBitsPerKey, kMaxBitsPerKey, kStepsOfAllBits,
                std::move(usable_bytes)) {}

MemoryFit::MemoryFit(double low_bits, double high_bits, int steps,
                     std::function<size_t(size_t)> usable_bytes)
    : low_bits_(low_bits),
      step_bits_((high_bits - low_bits) / steps),
      usable_bytes_(std::move(usable_bytes)) {
  for (int i = 0; i <= steps; ++i) {
    const double bits = low_bits_ + i * step_bits_;
    probes_.push_back(BestProbes(bits));
    rates_.push_back(BlockedFalsePositiveRate(bits, probes_.back()));
  }
}

// Sections of few keys, which have more bits than the table, take its end: what
// they vary is not counted.
size_t MemoryFit::Index(const Section& section) const {
  const double bits = static_cast<double>(section.blocks) * kBloomBlockBits /
                      static_cast<double>(std::max<uint64_t>(1, section.keys));
  return static_cast<size_t>(
      std::clamp(std::round((bits - low_bits_) / step_bits_), 0.0,
                 static_cast<double>(rates_.size() - 1)));
}

double MemoryFit::RateOf(std::span<const Section> sections) const {
  double rate = 0;
  for (const Section& section : sections) {
    if (section.keys > 0) rate += rates_[Index(section)];
  }
  return rate;
}

void MemoryFit::Choose(size_t other_bytes, std::span<Section> sections) {
  const std::vector<Section> wanted(sections.begin(), sections.end());
  const double wanted_rate = RateOf(wanted);
  const double credit = -balance();
  if (credit > 0) {
    for (const double scale : {kSmallest, 13.0 / 16, 7.0 / 8, 15.0 / 16}) {
      std::vector<Section> smaller = wanted;
      for (Section& section : smaller) {
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
    for (Section& section : sections) {
      const uint64_t more = spare * section.blocks / blocks;
      section.blocks += more;
      given += more;
    }
    const auto largest =
        std::ranges::max_element(sections, {}, &Section::blocks);
    if (largest != sections.end() && largest->keys > 0) {
      largest->blocks += spare - given;
    }
  }

  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].blocks != wanted[i].blocks) {
      sections[i].probes = probes_[Index(sections[i])];
    }
  }
  balance_.fetch_add(RateOf(sections) - wanted_rate, std::memory_order_relaxed);
}

}  // namespace rowbloom
