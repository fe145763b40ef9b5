// Internal keys: a user key, and eight bytes that identify the write, a
// sequence number (56 bits) and a type (8 bits). Source: RocksDB 7.8.3 and
// 9.10.0, db/dbformat.h. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "storage/format/coding.h"

namespace rowbloom::sst {

// The kind of a write. The values are on disk. Only the kinds that occur in
// table files are listed.
enum class EntryType : uint8_t {
  kDeletion = 0x00,
  kPut = 0x01,
  kMerge = 0x02,
  kSingleDeletion = 0x07,
  kRangeDeletion = 0x0f,  // in the block of range deletions alone
  kBlobIndex = 0x11,      // a reference to the value, as in a blob file
  kDeletionWithTimestamp = 0x14,
  kWideColumnEntity = 0x16,
  kValuePreferredSequence = 0x18,  // a value and the time it was written at
};

// "put", "delete", ...; "type 0x99" for a value that is none of them.
std::string ToString(EntryType type);

// Tells whether entries of data blocks may have the type.
bool IsPointEntry(EntryType type);

// Tells whether the entry hides older entries of its key.
inline bool IsDeletion(EntryType type) {
  return type == EntryType::kDeletion || type == EntryType::kSingleDeletion ||
         type == EntryType::kDeletionWithTimestamp;
}

inline constexpr size_t kInternalKeySuffixBytes = 8;
inline constexpr uint64_t kMaxSequence = (uint64_t{1} << 56) - 1;

struct InternalKey {
  std::string_view user_key;  // with its timestamp, if keys have one
  uint64_t sequence = 0;
  EntryType type = EntryType::kPut;
};

// Deletes the user keys [start, end).
struct RangeDeletion {
  std::string_view start;
  std::string_view end;
  uint64_t sequence = 0;
};

// Returns false if `bytes` is shorter than the suffix. The type is not checked.
[[nodiscard]] inline bool ParseInternalKey(std::string_view bytes,
                                           InternalKey* key) {
  if (bytes.size() < kInternalKeySuffixBytes) return false;
  key->user_key = bytes.substr(0, bytes.size() - kInternalKeySuffixBytes);
  const auto packed = LoadFixed<uint64_t>(bytes.data() + key->user_key.size());
  key->sequence = packed >> 8;
  key->type = static_cast<EntryType>(packed & 0xff);
  return true;
}

// The order of a file's keys, as far as its comparator's name says it.
enum class KeyOrder : uint8_t { kBytewise, kReverseBytewise, kUnknown };

// Returns the order that the property rocksdb.comparator names, with or without
// timestamps.
KeyOrder KeyOrderOf(std::string_view comparator_name);

// Returns the size of the user-defined timestamp at the end of each user key,
// if this comparator of RocksDB has one; else 0.
size_t TimestampBytesOf(std::string_view comparator_name);

// Implements CompareUserKeys for keys with timestamps.
int CompareTimestampedKeys(KeyOrder order, size_t timestamp_bytes,
                           std::string_view a, std::string_view b);

// Returns a number below, equal to or above 0 if user key `a` is before, equal
// to or after `b`. Among equal keys the greater timestamp is first. REQUIRES a
// known order.
inline int CompareUserKeys(KeyOrder order, size_t timestamp_bytes,
                           std::string_view a, std::string_view b) {
  if (timestamp_bytes != 0) {
    return CompareTimestampedKeys(order, timestamp_bytes, a, b);
  }
  if (order == KeyOrder::kReverseBytewise) std::swap(a, b);
  // If the first bytes differ, this saves a call.
  if (!a.empty() && !b.empty() && a.front() != b.front()) {
    return static_cast<unsigned char>(a.front()) -
           static_cast<unsigned char>(b.front());
  }
  return a.compare(b);
}

}  // namespace rowbloom::sst
