// Options of reads of the embedded store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/filter.h"

namespace rowbloom {

// A state of a store: reads with it see what was written before it was taken,
// and nothing later. Versions still expire (ttl) by the clock, and the next
// compaction removes versions that an AlterFamily excludes. Where a version was
// deleted, an AlterFamily to more max_versions may show an older one in its
// place, which was surplus before. A snapshot pins the disk space of what it
// sees. It must be destroyed before the store.
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
  // The versions that are visible. Deletes outside of the range apply, too.
  // Scans and reads of whole families skip files of a `versioned` family all of
  // whose versions are older; reads of single cells do not.
  TimeRange time_range = TimeRange::All();
  // The number of versions of each cell, the newest in the time range; at least
  // 1. A family never shows more than its own max_versions.
  uint32_t max_versions = 1;
  // A snapshot of this store (of another one: InvalidArgument); nullptr: the
  // present state.
  const Snapshot* snapshot = nullptr;
};

// Options of reads of rows.
struct RowOptions {
  // The columns to read, in any order; empty: all families. Each column is
  // looked up by itself, which probes the ROWCOL sections. If a whole family is
  // among them, the row is scanned instead.
  std::vector<Column> columns;
  // The qualifiers to read, of each family: those that start with the prefix
  // and are in the range.
  std::string qualifier_prefix;
  std::string qualifier_start;  // the first, inclusive
  std::string qualifier_stop;   // the end, exclusive; empty: to the end
  // Pages through a wide row: skips the first `column_offset` of the columns
  // that have a visible cell, in order over all families, and gives the next
  // `column_limit`.
  size_t column_offset = 0;
  size_t column_limit = std::numeric_limits<size_t>::max();
  // Reads, counts and filters columns from the last one to the first, so that
  // column_limit N gives the last N. The cells that are given keep their order.
  bool columns_from_end = false;
  // Gives cells without their values, which are empty. Filters see the values.
  bool keys_only = false;
  Filter filter = {};
  // These mean the same as in ReadOptions.
  TimeRange time_range = TimeRange::All();
  uint32_t max_versions = 1;
  const Snapshot* snapshot = nullptr;
};

// Rows from start_row on up to, but without, stop_row.
struct RowRange {
  std::string start_row;  // empty: from the beginning
  std::string stop_row;   // empty: to the end
};

// Options of reads of many rows.
struct ScanOptions {
  std::string start_row;   // the first, inclusive; empty: from the beginning
  std::string stop_row;    // the end, exclusive; empty: to the end
  std::string row_prefix;  // only rows that start with it
  // Only rows in one of these ranges, in any order, which may overlap; empty:
  // no such limit. The scan seeks from one to the next.
  std::vector<RowRange> ranges;
  uint64_t limit = std::numeric_limits<uint64_t>::max();  // the most rows
  // Scans from the last row in the range to the first. The cells of a row keep
  // their order.
  bool reverse = false;
  // Continues an earlier scan of this direction after the row of this
  // RowScanner::Token; empty: from the beginning. A token can only remove rows
  // from those that the other options choose. `limit`, Filter::Page and the
  // state of the store are those of the new scan. InvalidArgument: the bytes
  // are no token.
  std::string token;
  // The options for each row. Rows without a visible cell are skipped.
  RowOptions row = {};
};

// The rows that a scan gives, and all their cells.
struct ScanCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
};

}  // namespace rowbloom
