#include "tools/sst/internal_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/format/coding.h"

namespace rowbloom::sst {
namespace {

constexpr std::string_view kBytewiseName = "leveldb.BytewiseComparator";
constexpr std::string_view kReverseName = "rocksdb.ReverseBytewiseComparator";
// Follows such a name where each key ends with a 64-bit timestamp.
constexpr std::string_view kTimestampSuffix = ".u64ts";
constexpr size_t kTimestampBytes = 8;

std::string_view WithoutSuffix(std::string_view name) {
  if (name.ends_with(kTimestampSuffix)) {
    name.remove_suffix(kTimestampSuffix.size());
  }
  return name;
}

}  // namespace

std::string ToString(EntryType type) {
  switch (type) {
    case EntryType::kDeletion:
      return "delete";
    case EntryType::kPut:
      return "put";
    case EntryType::kMerge:
      return "merge";
    case EntryType::kSingleDeletion:
      return "single-delete";
    case EntryType::kRangeDeletion:
      return "range-delete";
    case EntryType::kBlobIndex:
      return "blob-index";
    case EntryType::kDeletionWithTimestamp:
      return "delete-with-timestamp";
    case EntryType::kWideColumnEntity:
      return "entity";
    case EntryType::kValuePreferredSequence:
      return "timed-put";
  }
  return fmt::format("type 0x{:02x}", static_cast<int>(type));
}

bool IsPointEntry(EntryType type) {
  switch (type) {
    case EntryType::kDeletion:
    case EntryType::kPut:
    case EntryType::kMerge:
    case EntryType::kSingleDeletion:
    case EntryType::kBlobIndex:
    case EntryType::kDeletionWithTimestamp:
    case EntryType::kWideColumnEntity:
    case EntryType::kValuePreferredSequence:
      return true;
    case EntryType::kRangeDeletion:
      break;
  }
  return false;
}

KeyOrder KeyOrderOf(std::string_view comparator_name) {
  const std::string_view name = WithoutSuffix(comparator_name);
  if (name == kBytewiseName) return KeyOrder::kBytewise;
  if (name == kReverseName) return KeyOrder::kReverseBytewise;
  return KeyOrder::kUnknown;
}

size_t TimestampBytesOf(std::string_view comparator_name) {
  return comparator_name.ends_with(kTimestampSuffix) &&
                 KeyOrderOf(comparator_name) != KeyOrder::kUnknown
             ? kTimestampBytes
             : 0;
}

int CompareTimestampedKeys(KeyOrder order, size_t timestamp_bytes,
                           std::string_view a, std::string_view b) {
  const auto split = [timestamp_bytes](std::string_view* key) {
    const size_t bytes = std::min(timestamp_bytes, key->size());
    std::string_view timestamp = key->substr(key->size() - bytes);
    key->remove_suffix(bytes);
    uint64_t value = 0;
    return GetFixed(&timestamp, &value) ? value : 0;
  };
  const uint64_t time_a = split(&a);
  const uint64_t time_b = split(&b);
  const int keys =
      order == KeyOrder::kReverseBytewise ? b.compare(a) : a.compare(b);
  if (keys != 0 || time_a == time_b) return keys;
  return time_a > time_b ? -1 : 1;
}

}  // namespace rowbloom::sst
