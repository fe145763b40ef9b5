// Counters that threads seldom share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowbloom {

// kSlots counters, in 4 KiB. Thread-safe and exact. The first kOwnedStripes
// threads have a stripe of them each, which nobody else writes: counting is a
// load, an addition and a store. All further threads share one, with atomic
// additions.
class StripedCounters {
 public:
  static constexpr size_t kSlots = 8;

  StripedCounters() = default;
  StripedCounters(const StripedCounters&) = delete;
  StripedCounters& operator=(const StripedCounters&) = delete;

  void Add(size_t slot, uint64_t times) noexcept;

  // Add(slot, 1) for kernels, which inline it: in few instructions where this
  // thread has a stripe, else it does nothing and returns false.
  [[gnu::always_inline]] bool TryIncrement(size_t slot) {
    const size_t at = thread_stripe_at_;
    if (at >= kNoStripeAt) [[unlikely]]
      return false;
    IncrementOwned(&StripeAt(at)[slot]);
    return true;
  }

  // Over all threads.
  uint64_t Sum(size_t slot) const;

  // REQUIRES that nobody counts.
  void Reset();

 private:
  using Counter = std::atomic<uint64_t>;
  struct alignas(64) Stripe {
    std::array<Counter, kSlots> slots{};
    [[gnu::always_inline]] Counter& operator[](size_t slot) {
      return slots.data()[slot];
    }
  };
  static_assert(sizeof(Stripe) == 64);

  static constexpr size_t kOwnedStripes = 63;
  // Of threads without a stripe of their own: the shared one.
  static constexpr size_t kNoStripeAt = kOwnedStripes * sizeof(Stripe);

  [[gnu::always_inline]] Stripe& StripeAt(size_t at) {
    return *reinterpret_cast<Stripe*>(reinterpret_cast<std::byte*>(stripes_) +
                                      at);
  }

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

  // Where this thread's stripe is, in bytes: that takes no shift. Read where
  // its address is known when the program starts: looking it up would take a
  // call.
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local size_t thread_stripe_at_;

  Stripe stripes_[kOwnedStripes + 1];
};

}  // namespace rowbloom
