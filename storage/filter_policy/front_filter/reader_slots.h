// Readers of objects that are replaced while they read, and when a replaced
// object may be freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

namespace rowbloom::front_filter {

// Thread-safe. A reader holds a Reading while it uses an object that it loaded
// (sequentially consistent) after it began to. Who replaces the object does so
// (sequentially consistent) and then retires the old one.
class ReaderSlots {
 public:
  class Reading {
   public:
    explicit Reading(ReaderSlots* slots) : count_(slots->Mine()) {
      count_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~Reading() { count_.fetch_sub(1, std::memory_order_release); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    std::atomic<uint64_t>& count_;
  };

  struct Retired {
    std::shared_ptr<const void> object;
    int checks = 0;  // how often its readers were found to be gone
  };

  // Takes the elements of `retired`, and frees those that no reader is left of,
  // now or in a later call. Never waits.
  void Retire(std::list<Retired> retired);

  // Objects that are not freed yet.
  size_t retired() const;

 private:
  static constexpr size_t kSlots = 64;
  struct alignas(64) Slot {
    std::array<std::atomic<uint64_t>, 2> counts{};
  };

  static size_t ThreadSlot() {
    static std::atomic<size_t> next{0};
    static thread_local const size_t slot =
        next.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return slot;
  }
  std::atomic<uint64_t>& Mine() {
    return slots_[ThreadSlot()].counts[turn_.load(std::memory_order_relaxed)];
  }
  bool NobodyIn(size_t turn) const;

  std::array<Slot, kSlots> slots_;
  std::atomic<size_t> turn_{0};  // the counter that new readers use
  mutable std::mutex mutex_;
  std::list<Retired> retired_;
};

}  // namespace rowbloom::front_filter
