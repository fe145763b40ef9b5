// The value that RocksDB keeps for a cell of a family whose cell format is
// `latest`: a head, then the cell's value. FORMAT.md has the bytes. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "rowbloom/cell.h"

namespace rowbloom {

// The two ways to write the values of a family's cells; cell_versions.h has the
// other one.
enum class CellFormat : uint8_t { kLatest, kVersioned };

// The TTL of a put that has none of its own.
inline constexpr uint64_t kNoTtl = std::numeric_limits<uint64_t>::max();

// Tells whether the own TTL of a put, an Entry or a CellValue, has run out. A
// TTL of 0 has always run out.
template <typename Put>
constexpr bool HasRunOut(const Put& put, uint64_t now_ms) {
  return put.ttl_ms == 0 ||
         (put.timestamp_ms < now_ms && now_ms - put.timestamp_ms > put.ttl_ms);
}

inline constexpr uint8_t kCellFormatVersion = 1;
inline constexpr size_t kCellHeadBytes = 9;
// The format of a cell with a TTL.
inline constexpr uint8_t kTtlCellFormatVersion = 3;
inline constexpr size_t kTtlCellHeadBytes = 17;

// The bytes that precede the value.
inline std::string EncodeCellHead(uint64_t timestamp_ms, uint64_t ttl_ms) {
  const bool has_ttl = ttl_ms != kNoTtl;
  std::string head(
      has_ttl ? kTtlCellHeadBytes : kCellHeadBytes,
      static_cast<char>(has_ttl ? kTtlCellFormatVersion : kCellFormatVersion));
  StoreWord(timestamp_ms, head.data() + 1);
  if (has_ttl) StoreWord(ttl_ms, head.data() + kCellHeadBytes);
  return head;
}

struct CellValue {
  uint64_t timestamp_ms = 0;
  uint64_t ttl_ms = kNoTtl;
  std::string_view value;  // views into the stored bytes
};

// Reads a value that RocksDB returned. False: the bytes are not of this format.
inline bool DecodeCellValue(std::string_view stored, CellValue* cell) {
  if (stored.size() < kCellHeadBytes) return false;
  const auto version = static_cast<uint8_t>(stored[0]);
  cell->timestamp_ms = LoadWord(stored.data() + 1);
  if (cell->timestamp_ms > kMaxTimestampMs) return false;
  if (version == kCellFormatVersion) {
    cell->ttl_ms = kNoTtl;
    cell->value = stored.substr(kCellHeadBytes);
    return true;
  }
  if (version != kTtlCellFormatVersion || stored.size() < kTtlCellHeadBytes) {
    return false;
  }
  cell->ttl_ms = LoadWord(stored.data() + kCellHeadBytes);
  cell->value = stored.substr(kTtlCellHeadBytes);
  return cell->ttl_ms <= kMaxTimestampMs;
}

// Returns a message that says what was expected and what was found in bytes
// that DecodeCellValue refused.
inline std::string ProblemOfCellValue(std::string_view stored) {
  const uint8_t version =
      stored.empty() ? kCellFormatVersion : static_cast<uint8_t>(stored[0]);
  const bool has_ttl = version == kTtlCellFormatVersion;
  const size_t head_bytes = has_ttl ? kTtlCellHeadBytes : kCellHeadBytes;
  if (stored.size() < head_bytes) {
    return Concat("expected a value of at least ", head_bytes, " bytes, found ",
                  stored.size());
  }
  if (version != kCellFormatVersion && !has_ttl) {
    return Concat("expected a value of format version ", kCellFormatVersion,
                  " or ", kTtlCellFormatVersion, ", found ", version);
  }
  const uint64_t timestamp_ms = LoadWord(stored.data() + 1);
  if (timestamp_ms > kMaxTimestampMs) {
    return Concat("expected a timestamp of at most ", kMaxTimestampMs,
                  ", found ", timestamp_ms);
  }
  return Concat("expected a TTL of at most ", kMaxTimestampMs, ", found ",
                LoadWord(stored.data() + kCellHeadBytes));
}

}  // namespace rowbloom
