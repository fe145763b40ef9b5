// The timestamps that the store recently assigned to the cells of some rows.
//
// Two puts of a cell with one timestamp are one version, and a delete hides a
// put at its timestamp. So the store assigns rising timestamps to each cell: a
// put gets the store's time, or a millisecond more than the cell's last put or
// delete. A cell may run ahead of the store's time by kMaxAheadMs. A put beyond
// that replaces the cell's newest version, as HBase's puts of one millisecond
// do. A delete beyond that gets an older timestamp than the newest versions
// that it takes, which have to be removed. If the application gave a delete a
// timestamp so far ahead, a put after it has a millisecond more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rowbloom {

// Not thread-safe. Times are milliseconds; cells and rows are identified by
// hashes. Two with the same hash only run ahead sooner.
class GivenTimes {
 public:
  static constexpr uint64_t kMaxAheadMs = 1000;

  // Forgets all timestamps if they are before `now_ms`. If too many are
  // remembered while the clock stands still, forgets at least half of them and
  // returns the time to which the store's time then has to be raised.
  std::optional<uint64_t> MoveTo(uint64_t now_ms) {
    if (now_ms > newest_ms_) {
      if (newest_ms_ != 0) Clear();
      return std::nullopt;
    }
    if (!IsFull()) return std::nullopt;
    std::vector<uint64_t> after;
    after.reserve(times_.size());
    for (const auto& [id, times] : times_) after.push_back(times.after_ms());
    const auto middle =
        after.begin() + static_cast<std::ptrdiff_t>(after.size() / 2);
    std::nth_element(after.begin(), middle, after.end());
    const uint64_t raised_ms = std::max(now_ms, *middle);
    std::erase_if(times_, [&](const auto& known) {
      return known.second.after_ms() <= raised_ms;
    });
    return raised_ms;
  }

  // Tells whether so many cells are remembered that MoveTo may raise the time.
  bool IsFull() const { return times_.size() >= kMaxCells; }

  // Assigns the timestamp of a put at the store's time `now_ms`. With
  // `replaces` it may be that of the cell's last put.
  uint64_t Put(uint64_t row, uint64_t cell, uint64_t now_ms, bool replaces) {
    Times& of_row = times_[row];
    Times& times = times_[cell];
    uint64_t after_put_ms = times.after_put_ms;
    if (after_put_ms > 0 && (replaces || after_put_ms > now_ms + kMaxAheadMs)) {
      --after_put_ms;
    }
    const uint64_t timestamp_ms = std::max(
        {now_ms, after_put_ms, times.after_delete_ms, of_row.after_delete_ms});
    Note(&of_row, &times.after_put_ms, timestamp_ms);
    return timestamp_ms;
  }

  struct Marker {
    uint64_t timestamp_ms;
    // The timestamp does not cover all versions: they have to be removed.
    bool remove;
  };
  // Returns the marker of a delete of a cell, or, with `row` as `cell`, of a
  // whole row. The timestamps that it takes stay remembered, as the delete may
  // not be written after all.
  Marker Delete(uint64_t row, uint64_t cell, uint64_t now_ms) {
    Times& deleted = times_[cell];
    // The first time after all versions that the delete has to take.
    const uint64_t after_ms = deleted.after_ms();
    const uint64_t limit_ms = now_ms + kMaxAheadMs;
    const bool remove = after_ms > limit_ms;
    const uint64_t timestamp_ms =
        (remove ? limit_ms : std::max(now_ms + 1, after_ms)) - 1;
    Note(&times_[row], &deleted.after_delete_ms, timestamp_ms);
    return {timestamp_ms, remove};
  }

  // Note a put, or a delete as above, with a given timestamp: later puts of the
  // cell get a later one. False: it is past, or too far ahead, and not noted.
  bool NotePut(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
               uint64_t now_ms) {
    if (!IsNear(timestamp_ms, now_ms)) return false;
    Note(&times_[row], &times_[cell].after_put_ms, timestamp_ms);
    return true;
  }

  bool NoteDelete(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
                  uint64_t now_ms) {
    if (!IsNear(timestamp_ms, now_ms)) return false;
    Note(&times_[row], &times_[cell].after_delete_ms, timestamp_ms);
    return true;
  }

  // Forgets timestamps that are more than kMaxAheadMs ahead of `now_ms`.
  // Returns the newest that is left; 0: none.
  uint64_t ForgetBeyond(uint64_t now_ms) {
    const uint64_t most_ms = now_ms + kMaxAheadMs + 1;
    newest_ms_ = 0;
    std::erase_if(times_, [&](const auto& known) {
      // A call that had no memory may have left a cell or row without times.
      const uint64_t after_ms = std::max<uint64_t>(known.second.after_ms(), 1);
      if (after_ms <= most_ms) newest_ms_ = std::max(newest_ms_, after_ms - 1);
      return after_ms > most_ms;
    });
    return newest_ms_;
  }

  // Forgets all timestamps, and frees their memory.
  void Clear() {
    times_.clear();
    newest_ms_ = 0;
  }

 private:
  // The number of cells and rows that are remembered before the time is raised
  // past half of them.
  static constexpr size_t kMaxCells = 1024;

  // The first times after those of the last put and delete; 0: none.
  struct Times {
    uint64_t after_put_ms = 0;
    uint64_t after_delete_ms = 0;
    uint64_t after_cells_ms = 0;  // of a row: after all times of its cells

    uint64_t after_ms() const {
      return std::max({after_put_ms, after_delete_ms, after_cells_ms});
    }
  };
  static bool IsNear(uint64_t timestamp_ms, uint64_t now_ms) {
    return timestamp_ms >= now_ms && timestamp_ms <= now_ms + kMaxAheadMs;
  }
  // Notes the time of a cell of the row, or of the row itself.
  void Note(Times* of_row, uint64_t* after_ms, uint64_t timestamp_ms) {
    *after_ms = std::max(*after_ms, timestamp_ms + 1);
    of_row->after_cells_ms = std::max(of_row->after_cells_ms, *after_ms);
    newest_ms_ = std::max(newest_ms_, timestamp_ms);
  }

  uint64_t newest_ms_ = 0;  // the newest remembered time
  // The times by the hash of a cell, or of a row. A hash table would let chosen
  // names make a large batch take quadratic time: the hashes have no secret.
  std::map<uint64_t, Times> times_;
};

}  // namespace rowbloom
