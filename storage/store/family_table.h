// The families of an open store, which come, change and go while others read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>

#include "storage/store/family_options.h"
#include "storage/store/thread_slot.h"

namespace rowbloom {

using FamilyMap = std::map<std::string, Family, std::less<>>;

// The families of one moment. Whoever holds it can use them, also if they are
// dropped meanwhile, and keep iterators into it.
using SharedFamilies = std::shared_ptr<const FamilyMap>;

// Thread-safe. Every read asks it, so that each thread has a slot, which it
// shares with few others: what is written there is rarely contended.
class FamilyTable {
  struct Slot;

 public:
  explicit FamilyTable(FamilyMap families) { Set(Share(std::move(families))); }

  // For reads that may take long, such as scans, and whoever makes changes.
  SharedFamilies Get() const {
    const Slot& slot = slots_[ThreadSlot()];
    const std::lock_guard lock(slot.mutex);
    return slot.families;
  }

  // The families for the time of one get or write, which holds up Set. It
  // borrows its slot's, with one atomic exchange, where a share takes four; if
  // another thread of the slot has them, it takes a share.
  class Loan {
   public:
    explicit Loan(const FamilyTable& table) {
      const Slot& slot = table.slots_[ThreadSlot()];
      if (!slot.is_changing.load(std::memory_order_relaxed) &&
          !slot.is_lent.exchange(true, std::memory_order_acquire)) {
        slot_ = &slot;
        families_ = slot.families.get();
      } else {
        share_ = table.Get();
        families_ = share_.get();
      }
    }
    ~Loan() {
      if (slot_ == nullptr) return;
      slot_->is_lent.store(false, std::memory_order_release);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    const FamilyMap& operator*() const { return *families_; }
    const FamilyMap* operator->() const { return families_; }

   private:
    const Slot* slot_ = nullptr;
    SharedFamilies share_;
    const FamilyMap* families_ = nullptr;
  };

  // Keep the families from being changed, and while they are being changed.
  std::shared_lock<std::shared_mutex> LockUnchanged() const {
    return std::shared_lock(change_mutex_);
  }
  std::unique_lock<std::shared_mutex> LockForChange() {
    return std::unique_lock(change_mutex_);
  }

  // The families for all slots: one map, and a count of its users for each.
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

  // REQUIRES LockForChange. Waits for loans.
  void Set(Shares shares) noexcept {
    for (size_t i = 0; i < kThreadSlots; ++i) {
      Slot& slot = slots_[i];
      // New readers take shares: the slot's borrower is the last one.
      slot.is_changing = true;
      while (slot.is_lent.exchange(true, std::memory_order_acquire)) {
        std::this_thread::yield();
      }
      {
        const std::lock_guard lock(slot.mutex);
        slot.families.swap(shares[i]);
      }
      slot.is_lent.store(false, std::memory_order_release);
      slot.is_changing = false;
    }
  }

 private:
  struct alignas(kCacheLineBytes) Slot {
    mutable std::mutex mutex;
    SharedFamilies families;  // changes with `mutex` and is_lent held
    mutable std::atomic<bool> is_lent{false};
    std::atomic<bool> is_changing{false};
  };

  mutable std::shared_mutex change_mutex_;
  std::array<Slot, kThreadSlots> slots_;
};

}  // namespace rowbloom
