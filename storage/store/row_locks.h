// RowLocks locks rows by a fixed number of stripes, onto which rows are hashed.
// Each stripe has the notes of writes about its rows.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "lib/block/hash.h"
#include "rowbloom/write_batch.h"
#include "storage/cells/given_times.h"
#include "storage/format/thread_slot.h"

namespace rowbloom {

class RowLocks {
  static constexpr size_t kStripes = 256;
  static constexpr size_t kWordBits = 64;
  // A bit for each stripe.
  using Places = std::array<uint64_t, kStripes / kWordBits>;

 public:
  // Members that most writes need are in one line of the processor's caches.
  struct alignas(kCacheLineBytes) Stripe {
    std::mutex mutex;
    GivenTimes given;  // guarded by the mutex, as is:
    uint64_t last_wide_write = 0;
  };

  // Holds the stripes of some rows. It locks them in the order of their places,
  // so that two writers cannot deadlock.
  class Guard {
   public:
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      ForEach([](Stripe* stripe) { stripe->mutex.unlock(); });
    }

    // Calls visit(Stripe*) for each stripe that is held.
    template <typename Visit>
    void ForEach(Visit visit) const {
      for (size_t word = 0; word < places_.size(); ++word) {
        for (uint64_t left = places_[word]; left != 0; left &= left - 1) {
          const auto bit = static_cast<size_t>(std::countr_zero(left));
          visit(&locks_->stripes_[word * kWordBits + bit]);
        }
      }
    }

    // Notes a wide write, once it is visible, for all rows of the stripes. Such
    // a write changes cells without adding their keys to a memtable: a range
    // tombstone, an ingested file, a change of families. RocksDB does not find
    // it when it checks the keys of a transaction.
    void NoteWideWrite() const {
      const uint64_t number = ++locks_->wide_writes_;
      ForEach([=](Stripe* stripe) { stripe->last_wide_write = number; });
    }
    // Tells whether there was a wide write after the first `number`.
    bool HadWideWriteSince(uint64_t number) const {
      bool had = false;
      ForEach([&](Stripe* stripe) { had |= stripe->last_wide_write > number; });
      return had;
    }

   private:
    friend class RowLocks;
    Guard(RowLocks* locks, const Places& places)
        : locks_(locks), places_(places) {
      ForEach([](Stripe* stripe) { stripe->mutex.lock(); });
    }
    explicit Guard(RowLocks* locks) : locks_(locks), places_(AllPlaces()) {
      const std::lock_guard one_at_a_time(locks->all_mutex_);
      locks->all_wanted_ = true;
      ForEach([](Stripe* stripe) { stripe->mutex.lock(); });
      locks->all_wanted_ = false;
    }

    RowLocks* const locks_;
    const Places places_;
  };

  // Locks the rows of the changes.
  Guard Lock(std::span<const Change> changes) {
    Places places{};
    const Change* last = nullptr;
    for (const Change& change : changes) {
      if (last != nullptr && change.row == last->row) continue;
      const size_t place = HashRow(change.row) % kStripes;
      __builtin_prefetch(&stripes_[place]);
      places[place / kWordBits] |= uint64_t{1} << (place % kWordBits);
      last = &change;
    }
    // A LockAll that has begun comes first. A thread that writes to one row
    // without a pause, and syncs, would lock it again and again before the
    // LockAll wakes up, which keeps all other rows waiting.
    if (all_wanted_) {
      const std::lock_guard wait(all_mutex_);
    }
    return Guard(this, places);
  }

  Guard LockAll() { return Guard(this); }

  // The number of wide writes so far.
  uint64_t WideWrites() const { return wide_writes_; }

  // The stripe of a row with this HashRow.
  Stripe& StripeOf(uint64_t hash) { return stripes_[hash % kStripes]; }

 private:
  static Places AllPlaces() {
    Places places;
    places.fill(~uint64_t{0});
    return places;
  }

  std::array<Stripe, kStripes> stripes_;
  std::mutex all_mutex_;  // held by a LockAll until it has all locks
  std::atomic<uint64_t> wide_writes_{0};
  std::atomic<bool> all_wanted_{false};  // read by each write
};

}  // namespace rowbloom
