#include "lib/kernels/striped_counters.h"

#include <mutex>
#include <new>
#include <numeric>
#include <utility>

namespace rowbloom {

constinit thread_local size_t StripedCounters::thread_stripe_ = kNoStripe;

StripedCounters::~StripedCounters() {
  for (auto& stripe : stripes_) delete stripe.load(std::memory_order_acquire);
}

void StripedCounters::Add(size_t slot, uint64_t times) noexcept {
  if (thread_stripe_ == kNoStripe) TakeStripe();
  const bool owned = thread_stripe_ != kNoStripe;
  std::atomic<Stripe*>& place =
      stripes_[owned ? thread_stripe_ : kSharedStripe];
  Stripe* stripe = place.load(std::memory_order_acquire);
  if (stripe == nullptr) {
    auto* made = new (std::nothrow) Stripe;
    if (made == nullptr) return;
    if (place.compare_exchange_strong(stripe, made,
                                      std::memory_order_acq_rel)) {
      stripe = made;
    } else {
      delete made;  // another thread was first at the shared one
    }
  }
  Counter& counter = (*stripe)[slot];
  if (owned) {
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
      const size_t stripe = std::exchange(thread_stripe_, kNoStripe);
      if (stripe == kNoStripe) return;
      const std::lock_guard lock(free.mutex);
      free.stripes[free.count++] = stripe;
    }
  };
  // Outlives the owner.
  static constinit thread_local bool has_asked = false;
  if (std::exchange(has_asked, true)) return;
  thread_local const Owner owner;
  const std::lock_guard lock(free.mutex);
  if (free.count > 0) thread_stripe_ = free.stripes[--free.count];
}

uint64_t StripedCounters::Sum(size_t slot) const {
  uint64_t sum = 0;
  for (const auto& place : stripes_) {
    const Stripe* stripe = place.load(std::memory_order_acquire);
    if (stripe != nullptr) {
      sum += (*stripe)[slot].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

void StripedCounters::Reset() {
  for (const auto& place : stripes_) {
    Stripe* stripe = place.load(std::memory_order_acquire);
    if (stripe == nullptr) continue;
    for (Counter& counter : *stripe) {
      counter.store(0, std::memory_order_relaxed);
    }
  }
}

}  // namespace rowbloom
