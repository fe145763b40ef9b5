// Sizes of filter blocks that fill the allocations of their memory.
//
// An allocator with size classes gives more bytes than a program requests: a
// tenth more on average, with four classes for each power of two. MemoryFit
// makes blocks larger to fill these bytes. As long as the blocks so far have
// fewer false positives than requested, it begins with a smaller size, so that
// the mean of the rates stays the target.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "lib/plan/section_split.h"

namespace rowbloom {

// Shared by all builders over whose blocks the rates average out. Thread-safe.
class MemoryFit {
 public:
  // `usable_bytes(n)` is the usable size of an allocation for a block of n
  // bytes, at least n; it is thread-safe.
  explicit MemoryFit(std::function<size_t(size_t)> usable_bytes)
      : usable_bytes_(std::move(usable_bytes)) {}

  // Changes the number of blocks of the sections, and sets the best number of
  // probes for those that change. `other_bytes` are the further bytes of the
  // filter block. A section with keys keeps at least one block.
  void Choose(size_t other_bytes, std::span<SectionSize> sections);

  // The sum of actual rates minus requested rates, over all blocks.
  double balance() const { return balance_.load(std::memory_order_relaxed); }

 private:
  std::function<size_t(size_t)> usable_bytes_;
  std::atomic<double> balance_{0};
};

}  // namespace rowbloom
