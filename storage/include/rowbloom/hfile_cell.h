// The cells of HFiles, and their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace rowbloom {

// The type of a cell: a put, or the kind of a delete. The values are on disk:
// never renumber. A file may have other values, which readers return unchanged.
enum class HFileCellType : uint8_t {
  kMinimum = 0,  // in search keys only
  kPut = 4,
  kDelete = 8,                // the version with this timestamp
  kDeleteFamilyVersion = 10,  // that version of all columns
  kDeleteColumn = 12,         // this version and older ones
  kDeleteFamily = 14,         // the same of all columns
  kMaximum = 255,  // in search keys only: before all with its timestamp
};

// The timestamp that sorts before all others.
inline constexpr int64_t kHFileLatestTimestamp =
    std::numeric_limits<int64_t>::max();

// Limits of a cell that the writer takes, in bytes. Rows are not empty.
inline constexpr size_t kHFileMaxRowBytes = 32767;
inline constexpr size_t kHFileMaxFamilyBytes = 127;
inline constexpr size_t kHFileMaxTagsBytes = 32767;
// The limit for key and value together: beside a value of 1 GiB there is room
// for a key of 2 MiB.
inline constexpr size_t kHFileMaxCellBytes =
    (size_t{1} << 30) + (size_t{2} << 20);
// The largest block that the writer writes, compressed or not, encoded or not:
// Java counts its bytes in a signed int.
inline constexpr size_t kHFileMaxBlockBytes =
    std::numeric_limits<int32_t>::max() / 8 * 7;

// The place of a cell in the order of a file: rows, families and qualifiers
// ascend as unsigned bytes, timestamps and types descend. Defaults make a key
// that sorts before all cells of its column. Owns nothing.
struct HFileKey {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_ms = kHFileLatestTimestamp;
  HFileCellType type = HFileCellType::kMaximum;
};

// HBase's CellComparatorImpl without the mvcc number: negative, zero or
// positive as `a` sorts before, with or after `b`. Thread-safe.
int CompareHFileKeys(const HFileKey& a, const HFileKey& b);

// A cell. Owns nothing.
struct HFileCellView {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_ms = 0;
  HFileCellType type = HFileCellType::kPut;
  std::string_view value;
  // Serialized: for each its length plus 1 (16 bits, big-endian), type, bytes.
  std::string_view tags;
  // The write number that orders cells of equal keys inside HBase.
  int64_t mvcc = 0;

  HFileKey key() const { return {row, family, qualifier, timestamp_ms, type}; }
};

// A cell with its own bytes.
struct HFileCell {
  std::string row;
  std::string family;
  std::string qualifier;
  int64_t timestamp_ms = 0;
  HFileCellType type = HFileCellType::kPut;
  std::string value;
  std::string tags;
  int64_t mvcc = 0;

  HFileCell() = default;
  explicit HFileCell(const HFileCellView& cell)
      : row(cell.row),
        family(cell.family),
        qualifier(cell.qualifier),
        timestamp_ms(cell.timestamp_ms),
        type(cell.type),
        value(cell.value),
        tags(cell.tags),
        mvcc(cell.mvcc) {}
  HFileCellView View() const {
    return {row, family, qualifier, timestamp_ms, type, value, tags, mvcc};
  }
  friend bool operator==(const HFileCell&, const HFileCell&) = default;
};

}  // namespace rowbloom
