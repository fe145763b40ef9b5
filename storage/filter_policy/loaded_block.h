// Filter blocks that RocksDB holds in memory: the front filter probes their
// ROWCOL sections there, and keeps no copy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "lib/block/lookup.h"
#include "storage/format/thread_slot.h"

namespace rowbloom {

// The blocks of the same bytes, of which RocksDB may hold none, one or several.
// Thread-safe.
class LoadedBlock {
 public:
  // While one of these lives, blocks that RocksDB loads can be found.
  class Wanted {
   public:
    Wanted() { wanted_.fetch_add(1, std::memory_order_relaxed); }
    ~Wanted() { wanted_.fetch_sub(1, std::memory_order_relaxed); }
    Wanted(const Wanted&) = delete;
    Wanted& operator=(const Wanted&) = delete;
  };

  // Makes the ROWCOL section of a loaded block findable, if a Wanted exists.
  // The destructor waits for probes under way, which take no locks.
  class Shown {
   public:
    // `row_col`, the section of this block, has to outlive this. Throws
    // std::bad_alloc.
    Shown(std::string_view block, const SectionProbe* row_col);
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    const SectionProbe* const row_col_;
    std::shared_ptr<LoadedBlock> block_;  // null: not shown
  };

  // The one object for blocks of these bytes. Throws std::bad_alloc.
  static std::shared_ptr<LoadedBlock> OfBytes(std::string_view bytes);

  explicit LoadedBlock(uint64_t digest) : digest_(digest) {}
  ~LoadedBlock();
  LoadedBlock(const LoadedBlock&) = delete;
  LoadedBlock& operator=(const LoadedBlock&) = delete;

  // False: the block has no cell with this hash. True if no block is loaded.
  bool MayHaveCell(uint64_t hash, const Kernel& kernel) const {
    if (row_col_.load(std::memory_order_relaxed) == nullptr) return true;
    // Either ~Shown sees this probe and waits for it, or the probe sees null.
    std::atomic<uint64_t>& probing = probing_[ThreadSlot() % kSlots].count;
    probing.fetch_add(1, std::memory_order_seq_cst);
    const SectionProbe* const row_col =
        row_col_.load(std::memory_order_seq_cst);
    const bool may_have = row_col == nullptr || row_col->Find(kernel, hash);
    probing.fetch_sub(1, std::memory_order_release);
    return may_have;
  }

 private:
  // The probes under way are counted by thread, so that many threads can probe
  // one block at a time.
  static constexpr size_t kSlots = 16;
  struct alignas(kCacheLineBytes) Slot {
    std::atomic<uint64_t> count{0};
  };

  static std::atomic<size_t> wanted_;

  const uint64_t digest_;
  std::atomic<const SectionProbe*> row_col_{nullptr};  // one of shown_
  mutable std::array<Slot, kSlots> probing_;
  std::mutex mutex_;  // held to change row_col_ and shown_
  std::vector<const SectionProbe*> shown_;
};

}  // namespace rowbloom
