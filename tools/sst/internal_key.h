// Internal keys: a user key, and eight bytes that say which write it was, a
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

// The kind of a write. The values are on disk. The list has those of table
// files.
enum class EntryType : uint8_t {
  kDeletion = 0x00,
  kPut = 0x01,
  kMerge = 0x02,
  kSingleDeletion = 0x07,
  kRangeDeletion = 0x0f,  // in the block of range deletions alone
  kBlobIndex = 0x11,  // the value says where the value is, as in a blob file
  kDeletionWithTimestamp = 0x14,
  kWideColumnEntity = 0x16,
  kValuePreferredSequence = 0x18,  // a value and the time it was written at
};

// "put", "delete", ...; "type 0x99" for a value that is none of them.
std::string ToString(EntryType type);

// Tells whether the type is one that a data block has.
bool IsPointEntry(EntryType type);

// Tells whether the entry hides older entries of its key.
inline bool IsDeletion(EntryType type) {
  return type == EntryType::kDeletion || type == EntryType::kSingleDeletion ||
         type == EntryType::kDeletionWithTimestamp;
}

inline constexpr size_t kInternalKeySuffixBytes = 8;
inline constexpr uint64_t kMaxSequence = (uint64_t{1} << 56) - 1;

struct InternalKey {
  std::string_view user_key;  // with its timestamp, where keys have them
  uint64_t sequence = 0;
  EntryType type = EntryType::kPut;
};

// Deletes the user keys [start, end).
struct RangeDeletion {
  std::string_view start;
  std::string_view end;
  uint64_t sequence = 0;
};

// False for fewer bytes than the suffix has. The type is as stored.
[[nodiscard]] inline bool ParseInternalKey(std::string_view bytes,
                                           InternalKey* key) {
  if (bytes.size() < kInternalKeySuffixBytes) return false;
  key->user_key = bytes.substr(0, bytes.size() - kInternalKeySuffixBytes);
  std::string_view suffix = bytes.substr(key->user_key.size());
  uint64_t packed = 0;
  if (!GetFixed(&suffix, &packed)) return false;
  key->sequence = packed >> 8;
  key->type = static_cast<EntryType>(packed & 0xff);
  return true;
}

// The order of a file's keys, as far as its comparator's name says it.
enum class KeyOrder : uint8_t { kBytewise, kReverseBytewise, kUnknown };

// The order that the property rocksdb.comparator names, with and without
// timestamps.
KeyOrder KeyOrderOf(std::string_view comparator_name);

// Bytes of the user-defined timestamp that ends each user key under this
// comparator of RocksDB's; 0 for others.
size_t TimestampBytesOf(std::string_view comparator_name);

// CompareUserKeys of keys with timestamps.
int CompareTimestampedKeys(KeyOrder order, size_t timestamp_bytes,
                           std::string_view a, std::string_view b);

// Below 0, 0, or above 0 as user key `a` comes before, with or after `b`. Among
// equal keys the greater timestamp comes first. REQUIRES a known order.
inline int CompareUserKeys(KeyOrder order, size_t timestamp_bytes,
                           std::string_view a, std::string_view b) {
  if (timestamp_bytes != 0) {
    return CompareTimestampedKeys(order, timestamp_bytes, a, b);
  }
  if (order == KeyOrder::kReverseBytewise) std::swap(a, b);
  // If the first bytes tell, a call is spared.
  if (!a.empty() && !b.empty() && a.front() != b.front()) {
    return static_cast<unsigned char>(a.front()) -
           static_cast<unsigned char>(b.front());
  }
  return a.compare(b);
}

}  // namespace rowbloom::sst
