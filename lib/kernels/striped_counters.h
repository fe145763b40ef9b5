// Counters that threads seldom share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowbloom {

// kSlots counters. Thread-safe and exact. The first kOwnedStripes threads have
// a stripe of them each, which nobody else writes: counting is a load, an
// addition and a store. All further threads share one, with atomic additions. A
// stripe is made when its thread first counts; without memory for it nothing is
// counted.
class StripedCounters {
 public:
  static constexpr size_t kSlots = 32;

  StripedCounters() = default;
  ~StripedCounters();
  StripedCounters(const StripedCounters&) = delete;
  StripedCounters& operator=(const StripedCounters&) = delete;

  void Add(size_t slot, uint64_t times) noexcept;

  // Add(slot, 1) for kernels, which inline it: in few instructions where this
  // thread has a stripe, else it does nothing and returns false.
  [[gnu::always_inline]] bool TryIncrement(size_t slot) {
    Stripe* stripe = stripes_[thread_stripe_].load(std::memory_order_acquire);
    if (stripe == nullptr) return false;
    IncrementOwned(&(*stripe)[slot]);
    return true;
  }

  // Over all threads.
  uint64_t Sum(size_t slot) const;

  // REQUIRES that nobody counts.
  void Reset();

 private:
  static constexpr size_t kOwnedStripes = 63;
  // Of threads without a stripe of their own: none is made.
  static constexpr size_t kNoStripe = kOwnedStripes;
  static constexpr size_t kSharedStripe = kNoStripe + 1;

  using Counter = std::atomic<uint64_t>;
  struct alignas(64) Stripe : std::array<Counter, kSlots> {};

  [[gnu::always_inline]] static void IncrementOwned(Counter* counter) {
#if defined(__x86_64__)
    // What the lines below mean, in the one instruction that GCC and Clang do
    // not make of them.
    __asm__("incq %0" : "+m"(*counter) : : "cc");
#else
    counter->store(counter->load(std::memory_order_relaxed) + 1,
                   std::memory_order_relaxed);
#endif
  }

  static void TakeStripe() noexcept;

  // The number of this thread's stripe. Read where its address is known when
  // the program starts: looking it up would take a call.
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local size_t thread_stripe_;

  std::array<std::atomic<Stripe*>, kSharedStripe + 1> stripes_{};
};

}  // namespace rowbloom
