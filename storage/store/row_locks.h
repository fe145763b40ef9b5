// Locks of rows: a fixed number of stripes, onto which rows are hashed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

namespace rowbloom {

class RowLocks {
  static constexpr size_t kStripes = 256;

 public:
  // What the timestamps of a stripe's rows have to respect, guarded by its
  // lock. A delete takes later writes of its own timestamp, too, hence a put
  // that follows one needs a larger one.
  struct Stripe {
    std::mutex mutex;
    uint64_t last_put_ms = 0;
    uint64_t last_delete_ms = 0;
    bool has_delete = false;
  };

  // Holds the stripes of some rows. Taking them in the order of their places
  // keeps two writers from waiting for each other.
  class Guard {
   public:
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      for (const size_t place : places_) locks_->stripes_[place].mutex.unlock();
    }

   private:
    friend class RowLocks;
    Guard(RowLocks* locks, size_t place) : locks_(locks) {
      places_.reserve(1);
      Take(place);
    }
    Guard(RowLocks* locks, const std::array<bool, kStripes>& wanted)
        : locks_(locks) {
      places_.reserve(kStripes);
      for (size_t place = 0; place < kStripes; ++place) {
        if (wanted[place]) Take(place);
      }
    }
    void Take(size_t place) {
      locks_->stripes_[place].mutex.lock();
      places_.push_back(place);
    }

    RowLocks* const locks_;
    std::vector<size_t> places_;  // those that are locked
  };

  // Locks the rows row_at(0) to row_at(count - 1).
  template <typename RowAt>
  Guard Lock(size_t count, RowAt row_at) {
    if (count == 1) return Guard(this, PlaceOf(row_at(0)));
    std::array<bool, kStripes> wanted{};
    std::string_view last;
    for (size_t i = 0; i < count; ++i) {
      const std::string_view row = row_at(i);
      if (i == 0 || row != last) wanted[PlaceOf(row)] = true;
      last = row;
    }
    return Guard(this, wanted);
  }

  Guard LockAll() {
    std::array<bool, kStripes> wanted;
    wanted.fill(true);
    return Guard(this, wanted);
  }

  Stripe& StripeOf(std::string_view row) { return stripes_[PlaceOf(row)]; }

 private:
  static size_t PlaceOf(std::string_view row) {
    return std::hash<std::string_view>()(row) % kStripes;
  }

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace rowbloom
