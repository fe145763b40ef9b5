#include "lib/kernels/striped_counters.h"

#include <mutex>
#include <numeric>
#include <utility>

namespace rowbloom {

constinit thread_local size_t StripedCounters::thread_stripe_at_ = kNoStripeAt;

void StripedCounters::Add(size_t slot, uint64_t times) noexcept {
  if (thread_stripe_at_ == kNoStripeAt) TakeStripe();
  Counter& counter = StripeAt(thread_stripe_at_).slots_[slot];
  if (thread_stripe_at_ != kNoStripeAt) {
    counter.store(counter.load(std::memory_order_relaxed) + times,
                  std::memory_order_relaxed);
  } else {
    counter.fetch_add(times, std::memory_order_relaxed);
  }
}

// Once per thread.
void StripedCounters::TakeStripe() noexcept {
  struct FreeStripes {
    std::mutex mutex;
    std::array<size_t, kOwnedStripes> stripes;
    size_t count = kOwnedStripes;
    FreeStripes() { std::iota(stripes.rbegin(), stripes.rend(), size_t{0}); }
  };
  static FreeStripes free;
  // Gives the stripe back when the thread ends. What the thread counts after
  // that goes to the shared one.
  struct Owner {
    ~Owner() {
      const size_t at = std::exchange(thread_stripe_at_, kNoStripeAt);
      if (at == kNoStripeAt) return;
      const std::lock_guard lock(free.mutex);
      free.stripes[free.count++] = at / sizeof(Stripe);
    }
  };
  // Outlives the owner.
  static constinit thread_local bool has_asked = false;
  if (std::exchange(has_asked, true)) return;
  thread_local const Owner owner;
  const std::lock_guard lock(free.mutex);
  if (free.count == 0) return;
  thread_stripe_at_ = free.stripes[--free.count] * sizeof(Stripe);
}

uint64_t StripedCounters::Sum(size_t slot) const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    sum += stripe.slots_[slot].load(std::memory_order_relaxed);
  }
  return sum;
}

void StripedCounters::Reset() {
  for (Stripe& stripe : stripes_) {
    for (Counter& counter : stripe.slots_) {
      counter.store(0, std::memory_order_relaxed);
    }
  }
}

}  // namespace rowbloom
