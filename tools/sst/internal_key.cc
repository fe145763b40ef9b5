#include "tools/sst/internal_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rowbloom::sst {
namespace {

constexpr std::string_view kBytewiseName = "leveldb.BytewiseComparator";
constexpr std::string_view kReverseName = "rocksdb.ReverseBytewiseComparator";
// Ends such a name if each key ends with a 64-bit timestamp.
constexpr std::string_view kTimestampSuffix = ".u64ts";
constexpr size_t kTimestampBytes = 8;

struct NamedType {
  EntryType type;
  const char* name;
};

// The types of table files, frequent ones first.
constexpr NamedType kEntryTypes[] = {
    {EntryType::kPut, "put"},
    {EntryType::kMerge, "merge"},
    {EntryType::kDeletion, "delete"},
    {EntryType::kSingleDeletion, "single-delete"},
    {EntryType::kRangeDeletion, "range-delete"},
    {EntryType::kBlobIndex, "blob-index"},
    {EntryType::kDeletionWithTimestamp, "delete-with-timestamp"},
    {EntryType::kWideColumnEntity, "entity"},
    {EntryType::kValuePreferredSequence, "timed-put"},
};

// Returns null for another type.
const NamedType* FindNamed(EntryType type) {
  const auto* const named =
      std::ranges::find(kEntryTypes, type, &NamedType::type);
  return named == std::end(kEntryTypes) ? nullptr : named;
}

std::string_view WithoutSuffix(std::string_view name) {
  if (name.ends_with(kTimestampSuffix)) {
    name.remove_suffix(kTimestampSuffix.size());
  }
  return name;
}

}  // namespace

std::string ToString(EntryType type) {
  const NamedType* const named = FindNamed(type);
  return named != nullptr
             ? named->name
             : fmt::format("type 0x{:02x}", static_cast<int>(type));
}

bool IsPointEntry(EntryType type) {
  return type != EntryType::kRangeDeletion && FindNamed(type) != nullptr;
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
