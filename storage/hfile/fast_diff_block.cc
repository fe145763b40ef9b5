#include <algorithm>
#include <bit>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {
namespace {

// The number of common leading bytes of the timestamp, without the last byte.
constexpr uint8_t kCommonTimestampBytes = 0x07;
constexpr uint8_t kSameKeyBytes = 0x08;
constexpr uint8_t kSameValueBytes = 0x10;
constexpr uint8_t kSameType = 0x20;
constexpr uint8_t kSameValue = 0x40;

}  // namespace

bool FastDiffCells::ReadKeyAndValue() {
  const bool is_first = key_bytes() == 0;
  uint8_t flags = 0;
  if (!GetBig(&rest_, &flags)) return FailCutOff();
  if (flags > (is_first ? 0 : 0x7f)) {
    return Fail(Concat("flags ", flags, ", expected at most ",
                       is_first ? "0 of a first cell" : "127"));
  }
  uint64_t new_key_bytes = key_bytes();
  uint64_t value_bytes = cell_.value.size();
  uint64_t common = 0;
  if (((flags & kSameKeyBytes) == 0 && !GetVarint(&rest_, &new_key_bytes)) ||
      ((flags & kSameValueBytes) == 0 && !GetVarint(&rest_, &value_bytes)) ||
      !GetVarint(&rest_, &common)) {
    return FailCutOff();
  }
  if (!CheckSizes(new_key_bytes, value_bytes)) return false;
  if (is_first) {
    return ReadKey(common, new_key_bytes) && ReadValue(value_bytes);
  }
  if (!ReadColumn(cell_.family, common, new_key_bytes) ||
      !ReadTimestamp(flags & kCommonTimestampBytes)) {
    return false;
  }
  uint8_t type = static_cast<uint8_t>(cell_.type);
  if ((flags & kSameType) == 0 && !GetBig(&rest_, &type)) return FailCutOff();
  cell_.type = static_cast<HFileCellType>(type);
  if ((flags & kSameValue) == 0) return ReadValue(value_bytes);
  if (value_bytes == cell_.value.size()) return true;
  return Fail(Concat("value of ", value_bytes, " bytes, expected ",
                     cell_.value.size(), " as those of the cell before"));
}

bool FastDiffCells::ReadTimestamp(size_t common_bytes) {
  std::string_view rest;
  if (!GetBytes(&rest_, sizeof(uint64_t) - common_bytes, &rest)) {
    return FailCutOff();
  }
  uint64_t low = 0;
  for (const char byte : rest) low = low << 8 | static_cast<uint8_t>(byte);
  const uint64_t high_mask =
      common_bytes == 0 ? 0 : ~uint64_t{0} << (64 - 8 * common_bytes);
  cell_.timestamp_ms = static_cast<int64_t>(
      (static_cast<uint64_t>(cell_.timestamp_ms) & high_mask) | low);
  return true;
}

void FastDiffBuilder::AddKeyAndValue(const HFileCellView* before,
                                     const HFileCellView& cell) {
  const size_t key_bytes = KeyBytes(cell.key());
  if (before == nullptr) {
    PutBig<uint8_t>(&payload_, 0);
    PutVarint(&payload_, key_bytes);
    PutVarint(&payload_, cell.value.size());
    PutVarint(&payload_, 0);
    AppendKey(cell.key(), &payload_);
    AppendValue(cell.value);
    return;
  }
  const bool same_key_bytes = KeyBytes(before->key()) == key_bytes;
  const bool same_value_bytes = before->value.size() == cell.value.size();
  const bool same_type = before->type == cell.type;
  const bool same_value = before->value == cell.value;
  const auto timestamp = static_cast<uint64_t>(cell.timestamp_ms);
  const int common_timestamp_bytes =
      std::min(std::countl_zero(timestamp ^
                                static_cast<uint64_t>(before->timestamp_ms)) /
                   8,
               static_cast<int>(kCommonTimestampBytes));
  const size_t common = CommonColumnBytes(*before, cell);
  PutBig<uint8_t>(
      &payload_, static_cast<uint8_t>(common_timestamp_bytes |
                                      (same_key_bytes ? kSameKeyBytes : 0) |
                                      (same_value_bytes ? kSameValueBytes : 0) |
                                      (same_type ? kSameType : 0) |
                                      (same_value ? kSameValue : 0)));
  if (!same_key_bytes) PutVarint(&payload_, key_bytes);
  if (!same_value_bytes) PutVarint(&payload_, cell.value.size());
  PutVarint(&payload_, common);
  AppendColumn(cell, common);
  std::string timestamp_bytes;
  PutBig<uint64_t>(&timestamp_bytes, timestamp);
  payload_.append(timestamp_bytes, static_cast<size_t>(common_timestamp_bytes));
  if (!same_type) PutBig<uint8_t>(&payload_, static_cast<uint8_t>(cell.type));
  if (!same_value) AppendValue(cell.value);
}

}  // namespace rowbloom::hfile
