// Sizes of filter blocks that fit what an allocator has to give.
//
// An allocator with size classes gives more than a program requests: with four
// classes for each power of two, a tenth more on average. MemoryFit makes
// blocks larger to fill it; and as long as the blocks so far have fewer false
// positives than they should, it begins with a smaller size, so that the mean
// of the rates stays the target.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "lib/plan/section_split.h"

namespace rowbloom {

// Shared by the builders of blocks that are to balance out. Thread-safe.
class MemoryFit {
 public:
  // `usable_bytes(n)` is what an allocation for a block of n bytes has room
  // for, at least n; thread-safe.
  explicit MemoryFit(std::function<size_t(size_t)> usable_bytes)
      : usable_bytes_(std::move(usable_bytes)) {}

  // Changes the blocks of the sections, and where they change, sets the best
  // number of probes. `other_bytes` is what the block has besides. No section
  // with keys is left without blocks.
  void Choose(size_t other_bytes, std::span<SectionSize> sections);

  // The accumulated excess of actual over requested rates, over all blocks.
  double balance() const { return balance_.load(std::memory_order_relaxed); }

 private:
  std::function<size_t(size_t)> usable_bytes_;
  std::atomic<double> balance_{0};
};

}  // namespace rowbloom
