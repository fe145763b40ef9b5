// Options of reads of the embedded store: what they ask for, and as of when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rowbloom/cell.h"

namespace rowbloom {

// A moment of a store: reads with it see what was written before it was taken,
// and nothing later. Expiry (ttl) goes on by the clock all the same. Keeps the
// disk space of what it sees until destroyed, which must be before the store.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 protected:
  Snapshot() = default;
};

// Options of reads of single cells.
struct ReadOptions {
  // Versions outside of it are not seen. Deletes outside of it are.
  TimeRange time_range = TimeRange::All();
  // The number of versions of each cell, the newest in the time range; at least
  // 1. A family never shows more than its own max_versions.
  uint32_t max_versions = 1;
  // nullptr: as of now. Otherwise of this store.
  const Snapshot* snapshot = nullptr;
};

// Options of reads of rows.
struct RowOptions {
  // The columns to read, in any order; empty: all families. A row's chosen
  // columns are looked up one by one where no whole family is asked for, so
  // that the ROWCOL sections answer; otherwise the row is read through.
  std::vector<Column> columns;
  // Only columns whose qualifier starts with it.
  std::string qualifier_prefix;
  // Pages through a wide row: of the columns that have something to show, in
  // order over all families, skips `column_offset` and gives `column_limit`.
  size_t column_offset = 0;
  size_t column_limit = std::numeric_limits<size_t>::max();
  // As in ReadOptions.
  TimeRange time_range = TimeRange::All();
  uint32_t max_versions = 1;
  const Snapshot* snapshot = nullptr;
};

// Options of reads of many rows.
struct ScanOptions {
  std::string start_row;   // the first, inclusive; empty: from the beginning
  std::string stop_row;    // the end, exclusive; empty: to the end
  std::string row_prefix;  // only rows that start with it
  uint64_t limit = std::numeric_limits<uint64_t>::max();  // of rows
  // From the last row in the range to the first. The cells of a row keep their
  // order.
  bool reverse = false;
  // The options for each row. Rows with nothing to show are skipped.
  RowOptions row = {};
};

}  // namespace rowbloom
