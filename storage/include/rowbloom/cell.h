// Cells of the embedded store and how they are addressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom {

// Names of rows and qualifiers are any bytes; a row has at least one.
inline constexpr size_t kMaxRowBytes = 32767;  // as in HBase
inline constexpr size_t kMaxQualifierBytes = size_t{1} << 20;
inline constexpr size_t kMaxValueBytes = size_t{1} << 30;
// The limit for the values of all versions of one cell together. Older versions
// beyond it are dropped, whatever max_versions says. The newest is always kept.
inline constexpr size_t kMaxCellBytes = size_t{1} << 30;
// The limit for a batch or transaction: its keys and values, and some 24 bytes
// for each change.
inline constexpr size_t kMaxBatchBytes = size_t{2} << 30;

// Timestamps are milliseconds since 1970-01-01 UTC, or any numbers that the
// application gives. Signed in HBase, hence this bound.
inline constexpr uint64_t kMaxTimestampMs = (uint64_t{1} << 63) - 1;

// One version of one column of a row.
struct Cell {
  std::string family;
  std::string qualifier;
  uint64_t timestamp_ms = 0;
  std::string value;

  friend bool operator==(const Cell&, const Cell&) = default;
};

// A row that Store::Scan gives. It has at least one cell to show. Cells are
// ordered by family name, by qualifier, and newest version first.
struct Row {
  std::string row;
  std::vector<Cell> cells;

  friend bool operator==(const Row&, const Row&) = default;
};

// The address of a cell to read. The names are the caller's, and outlive the
// read.
struct CellAddress {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
};

// A family, or one column of it.
struct Column {
  std::string family;
  std::optional<std::string> qualifier = std::nullopt;  // nullopt: all

  friend bool operator==(const Column&, const Column&) = default;
};

// Timestamps from begin_ms up to, but without, end_ms.
struct TimeRange {
  uint64_t begin_ms = 0;
  uint64_t end_ms = std::numeric_limits<uint64_t>::max();

  static constexpr TimeRange All() { return {}; }
  // Times up to this one. With max_versions 1 a cell is as it was at that time.
  static constexpr TimeRange UpTo(uint64_t timestamp_ms) {
    return {0, After(timestamp_ms)};
  }
  static constexpr TimeRange At(uint64_t timestamp_ms) {
    return {timestamp_ms, After(timestamp_ms)};
  }
  constexpr bool Contains(uint64_t timestamp_ms) const {
    return begin_ms <= timestamp_ms && timestamp_ms < end_ms;
  }

  friend bool operator==(const TimeRange&, const TimeRange&) = default;

 private:
  static constexpr uint64_t After(uint64_t timestamp_ms) {
    return timestamp_ms == std::numeric_limits<uint64_t>::max()
               ? timestamp_ms
               : timestamp_ms + 1;
  }
};

}  // namespace rowbloom
