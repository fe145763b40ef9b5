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

  // Of one thread, which alone calls these.
  class alignas(64) Stripe {
   public:
    [[gnu::always_inline]] uint64_t Get(size_t slot) const {
      return slots_.data()[slot].load(std::memory_order_relaxed);
    }
    [[gnu::always_inline]] void Set(size_t slot, uint64_t value) {
      slots_.data()[slot].store(value, std::memory_order_relaxed);
    }
    [[gnu::always_inline]] void Increment(size_t slot) {
#if defined(__x86_64__)
      // What the line below means, in the one instruction that GCC and Clang do
      // not make of it.
      __asm__("incq %0" : "+m"(slots_.data()[slot]) : : "cc");
#else
      Set(slot, Get(slot) + 1);
#endif
    }

   private:
    friend class StripedCounters;
    std::array<std::atomic<uint64_t>, kSlots> slots_{};
  };

  StripedCounters() = default;
  StripedCounters(const StripedCounters&) = delete;
  StripedCounters& operator=(const StripedCounters&) = delete;

  void Add(size_t slot, uint64_t times) noexcept;

  // Whether this thread has a stripe, and the stripe: for kernels, which inline
  // them.
  [[gnu::always_inline]] static bool ThreadOwnsOne() {
    return thread_stripe_at_ < kNoStripeAt;
  }
  // REQUIRES ThreadOwnsOne().
  [[gnu::always_inline]] Stripe& Own() { return StripeAt(thread_stripe_at_); }

  // Over all threads.
  uint64_t Sum(size_t slot) const;

  // REQUIRES that nobody counts.
  void Reset();

 private:
  using Counter = std::atomic<uint64_t>;
  static_assert(sizeof(Stripe) == 64);

  static constexpr size_t kOwnedStripes = 63;
  // Of threads without a stripe of their own: the shared one.
  static constexpr size_t kNoStripeAt = kOwnedStripes * sizeof(Stripe);

  [[gnu::always_inline]] Stripe& StripeAt(size_t at) {
    return *reinterpret_cast<Stripe*>(reinterpret_cast<std::byte*>(stripes_) +
                                      at);
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
