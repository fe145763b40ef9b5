#include <algorithm>
#include <bit>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {
namespace {

constexpr uint8_t kSameKeyBytes = 0x01;
constexpr uint8_t kSameValueBytes = 0x02;
constexpr uint8_t kSameType = 0x04;
constexpr uint8_t kTimestampIsDifference = 0x08;
constexpr int kTimestampBytesShift = 4;  // three bits: bytes minus 1
constexpr uint8_t kTimestampIsNegative = 0x80;

uint64_t Negated(uint64_t value) { return ~value + 1; }

// The sign, the absolute value and the size of a timestamp or a difference.
struct Magnitude {
  explicit Magnitude(uint64_t signed_value)
      : is_negative(signed_value >> 63 != 0),
        value(is_negative ? Negated(signed_value) : signed_value),
        bytes(std::max(static_cast<int>((std::bit_width(value) + 7) / 8), 1)) {}

  bool is_negative;
  uint64_t value;
  int bytes;
};

}  // namespace

bool DiffCells::ReadHead() {
  uint8_t family_bytes = 0;
  offset_ = OffsetOfRest();
  if (!GetBig(&rest_, &family_bytes)) return Fail("family is cut off");
  if (family_bytes <= kHFileMaxFamilyBytes &&
      GetBytes(&rest_, family_bytes, &family_)) {
    return true;
  }
  return Fail(Concat("family of ", family_bytes, " bytes, expected at most ",
                     std::min<uint64_t>(kHFileMaxFamilyBytes, rest_.size())));
}

bool DiffCells::ReadKeyAndValue() {
  const bool is_first = key_bytes() == 0;
  uint8_t flags = 0;
  if (!GetBig(&rest_, &flags)) return FailCutOff();
  constexpr uint8_t kNeedCellBefore =
      kSameKeyBytes | kSameValueBytes | kSameType | kTimestampIsDifference;
  if (is_first && (flags & kNeedCellBefore) != 0) {
    return Fail(Concat("flags ", flags,
                       " of a first cell, expected 0 in the lowest four"));
  }
  uint64_t new_key_bytes = key_bytes();
  uint64_t value_bytes = cell_.value.size();
  uint64_t common = 0;
  if (((flags & kSameKeyBytes) == 0 && !GetVarint(&rest_, &new_key_bytes)) ||
      ((flags & kSameValueBytes) == 0 && !GetVarint(&rest_, &value_bytes)) ||
      !GetVarint(&rest_, &common)) {
    return FailCutOff();
  }
  if (!CheckSizes(new_key_bytes, value_bytes) ||
      !ReadColumn(family_, common, new_key_bytes) || !ReadTimestamp(flags)) {
    return false;
  }
  uint8_t type = static_cast<uint8_t>(cell_.type);
  if ((flags & kSameType) == 0 && !GetBig(&rest_, &type)) return FailCutOff();
  cell_.type = static_cast<HFileCellType>(type);
  return ReadValue(value_bytes);
}

bool DiffCells::ReadTimestamp(uint8_t flags) {
  const size_t byte_count = (flags >> kTimestampBytesShift & 7) + 1;
  std::string_view bytes;
  if (!GetBytes(&rest_, byte_count, &bytes)) return FailCutOff();
  // The lowest byte is first, unlike everything else in the file.
  uint64_t value = 0;
  for (size_t i = byte_count; i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  if ((flags & kTimestampIsNegative) != 0) value = Negated(value);
  if ((flags & kTimestampIsDifference) != 0) {
    value = static_cast<uint64_t>(cell_.timestamp_ms) - value;
  }
  cell_.timestamp_ms = static_cast<int64_t>(value);
  return true;
}

void DiffBuilder::AddKeyAndValue(const HFileCellView* before,
                                 const HFileCellView& cell) {
  const size_t key_bytes = KeyBytes(cell.key());
  const auto timestamp = static_cast<uint64_t>(cell.timestamp_ms);
  Magnitude stored(timestamp);
  uint8_t flags = 0;
  size_t common = 0;
  if (before == nullptr) {
    PutBig<uint8_t>(&payload_, static_cast<uint8_t>(cell.family.size()));
    payload_.append(cell.family);
  } else {
    if (KeyBytes(before->key()) == key_bytes) flags |= kSameKeyBytes;
    if (before->value.size() == cell.value.size()) flags |= kSameValueBytes;
    if (before->type == cell.type) flags |= kSameType;
    common = CommonColumnBytes(*before, cell);
    const Magnitude difference(static_cast<uint64_t>(before->timestamp_ms) -
                               timestamp);
    if (difference.bytes < stored.bytes) {
      flags |= kTimestampIsDifference;
      stored = difference;
    }
  }
  if (stored.is_negative) flags |= kTimestampIsNegative;
  flags |= static_cast<uint8_t>((stored.bytes - 1) << kTimestampBytesShift);
  PutBig<uint8_t>(&payload_, flags);
  if ((flags & kSameKeyBytes) == 0) PutVarint(&payload_, key_bytes);
  if ((flags & kSameValueBytes) == 0) PutVarint(&payload_, cell.value.size());
  PutVarint(&payload_, common);
  AppendColumn(cell, common);
  for (int i = 0; i < stored.bytes; ++i) {
    PutBig<uint8_t>(&payload_, static_cast<uint8_t>(stored.value >> (8 * i)));
  }
  if ((flags & kSameType) == 0) {
    PutBig<uint8_t>(&payload_, static_cast<uint8_t>(cell.type));
  }
  AppendValue(cell.value);
}

}  // namespace rowbloom::hfile
