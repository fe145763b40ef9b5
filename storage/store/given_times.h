// The timestamps that the store has lately given to the cells of some rows.
//
// Two puts of a cell with one timestamp are one version, and a put at the
// timestamp of a delete is hidden by it. So the store gives each cell rising
// timestamps: a put gets the store's time, or a millisecond more than the
// cell's last put or delete. A cell may run ahead of the store's time by
// kMaxAheadMs; a put beyond that replaces the cell's newest version, as HBase's
// puts of one millisecond do, and a delete beyond that has to remove what it
// takes, so that it can have an older timestamp than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace rowbloom {

// Not thread-safe. Times are milliseconds; cells and rows are known by hashes:
// two that share one only run ahead sooner.
class GivenTimes {
 public:
  static constexpr uint64_t kMaxAheadMs = 1000;

  // Nothing that was given up to a time before `now_ms` matters any more. To
  // bound memory, while the clock stands still, the store's time may have to
  // be raised: to what this returns, if anything.
  std::optional<uint64_t> MoveTo(uint64_t now_ms);

  // The timestamp of a put at the store's time `now_ms`. With `replaces` it may
  // be that of the cell's last put.
  uint64_t Put(uint64_t row, uint64_t cell, uint64_t now_ms, bool replaces);

  struct Marker {
    uint64_t timestamp_ms;
    // It does not cover what was given: that has to be removed.
    bool remove;
  };
  // That of a delete of a cell, or, with `row` as `cell`, of a whole row.
  Marker Delete(uint64_t row, uint64_t cell, uint64_t now_ms);

  // A put, or a delete as above, had this timestamp given: later puts of the
  // cell get a later one, as long as that is not too far ahead.
  void NotePut(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
               uint64_t now_ms);
  void NoteDelete(uint64_t row, uint64_t cell, uint64_t timestamp_ms,
                  uint64_t now_ms);

  // Forgets all of them, and gives back most of their memory.
  void Clear();

 private:
  // The number of cells and rows that are remembered before the time is raised
  // past half of them.
  static constexpr size_t kMaxCells = 1024;

  // The first times after those of the last put and delete; 0: none.
  struct Times {
    uint64_t row = 0;
    uint64_t after_put_ms = 0;
    uint64_t after_delete_ms = 0;

    uint64_t after_ms() const {
      return after_put_ms > after_delete_ms ? after_put_ms : after_delete_ms;
    }
  };
  Times& TimesOf(uint64_t row, uint64_t cell);
  void Note(uint64_t* after_ms, uint64_t timestamp_ms);

  // Those of cells and, under the row, of deletes of the row.
  std::unordered_map<uint64_t, Times> times_;
  uint64_t newest_ms_ = 0;  // of all that is remembered
};

}  // namespace rowbloom
