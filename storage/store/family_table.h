// The families of an open store, which come, change and go while others read.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "storage/format/thread_slot.h"
#include "storage/store/family_options.h"

namespace rowbloom {

using FamilyMap = std::map<std::string, Family, std::less<>>;

// The families at one time. A holder can use them, even if they are dropped
// meanwhile, and keep iterators into the map.
using SharedFamilies = std::shared_ptr<const FamilyMap>;

// Thread-safe. Every read and write takes a SharedFamilies, and none waits for
// another: a family that is dropped lives until its last user is done. Threads
// are dealt over slots with a reference count each, since one count for all
// would move between the processors with every read.
class FamilyTable {
 public:
  explicit FamilyTable(FamilyMap families) { Set(Share(std::move(families))); }

  SharedFamilies Get() const {
    const Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    return slot.families;
  }
  // The same without a share. REQUIRES that there is no Set meanwhile.
  const FamilyMap& Unshared() const { return *slots_[0].families; }

  // Keep the families from being changed, and while they are being changed.
  std::shared_lock<std::shared_mutex> LockUnchanged() const {
    return std::shared_lock(change_mutex_);
  }
  std::unique_lock<std::shared_mutex> LockForChange() {
    return std::unique_lock(change_mutex_);
  }

  // The families for all slots. Set takes no memory of its own.
  using Shares = std::array<SharedFamilies, kThreadSlots>;
  static Shares Share(FamilyMap families) {
    const SharedFamilies shared =
        std::make_shared<const FamilyMap>(std::move(families));
    Shares shares;
    for (SharedFamilies& share : shares) {
      share = SharedFamilies(shared.get(), [shared](const FamilyMap*) {});
    }
    return shares;
  }

  // REQUIRES LockForChange and, of writes, that none is under way.
  void Set(Shares shares) noexcept {
    for (size_t i = 0; i < kThreadSlots; ++i) {
      const std::lock_guard lock(slots_[i].mutex);
      slots_[i].families.swap(shares[i]);
    }
  }

 private:
  struct alignas(kCacheLineBytes) Slot {
    mutable std::mutex mutex;
    SharedFamilies families;
  };

  mutable std::shared_mutex change_mutex_;
  std::array<Slot, kThreadSlots> slots_;
};

}  // namespace rowbloom
