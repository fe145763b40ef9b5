// ReaderSlots frees a replaced object when no reader uses it any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "storage/filter_policy/thread_counters.h"

namespace rowbloom::front_filter {

// Thread-safe. A reader makes a Reading, loads the object (with acquire), and
// keeps the Reading while it uses it. A thread that replaces the object stores
// the new one (sequentially consistent) and then retires the old one.
//
// A reader counts itself in memory of its own thread, by plain loads and
// stores. Retire then makes every thread of the process pass a barrier (Linux's
// membarrier), so that either it sees a reader's count or the reader loads the
// new object. Without membarrier each reader passes a barrier of its own.
class ReaderSlots {
 public:
  class Reading {
   public:
    explicit Reading(ReaderSlots* slots)
        : slots_(*slots), turn_(slots->turn_.load(std::memory_order_relaxed)) {
      slots_.counts_.Add(turn_, 1);
      if (!slots_.has_membarrier_) [[unlikely]]
        slots_.Meet();
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Reading() { slots_.counts_.Add(turn_, uint64_t{0} - 1); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    ReaderSlots& slots_;
    const size_t turn_;
  };

  struct Retired {
    std::shared_ptr<const void> object;
    int checks = 0;  // checks that found its readers gone
  };

  enum class Barrier : uint8_t { kMembarrier, kOwn };
  // kMembarrier is used if the system has it. Throws std::bad_alloc.
  explicit ReaderSlots(Barrier barrier = Barrier::kMembarrier);

  // Takes the elements of `retired`, and frees each of them, now or in a later
  // call, once no reader uses it. Never waits for readers.
  void Retire(std::list<Retired> retired);

  // Objects that are not freed yet.
  size_t retired() const;

 private:
  // Makes writes before a call visible to a thread that calls this later.
  void Meet() { meeting_.fetch_add(1, std::memory_order_acq_rel); }
  // The barrier of Retire. False: the system refused it.
  bool PassBarrier();

  ThreadCounters counts_;        // two counters of readers
  std::atomic<size_t> turn_{0};  // the one that new readers use
  std::atomic<uint64_t> meeting_{0};
  const bool has_membarrier_;
  mutable std::mutex mutex_;
  std::list<Retired> retired_;
};

}  // namespace rowbloom::front_filter
