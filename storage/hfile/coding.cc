#include "storage/hfile/coding.h"

namespace rowbloom::hfile {
namespace {

template <typename T>
void PutBigEndian(std::string* out, T value) {
  for (size_t i = sizeof(T); i-- > 0;) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

constexpr int kMinOneByte = -112;
constexpr int kMaxOneByte = 127;
constexpr int kNegativeShift = 8;

int SignificantBytes(uint64_t value) { return (std::bit_width(value) + 7) / 8; }

}  // namespace

void PutU8(std::string* out, uint8_t value) {
  out->push_back(static_cast<char>(value));
}
void PutU16(std::string* out, uint16_t value) { PutBigEndian(out, value); }
void PutU32(std::string* out, uint32_t value) { PutBigEndian(out, value); }
void PutU64(std::string* out, uint64_t value) { PutBigEndian(out, value); }

void PutVlong(std::string* out, int64_t value) {
  if (value >= kMinOneByte && value <= kMaxOneByte) {
    PutU8(out, static_cast<uint8_t>(value));
    return;
  }
  const auto bits = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int byte_count = SignificantBytes(bits);
  PutU8(out, static_cast<uint8_t>(kMinOneByte - byte_count -
                                  (value < 0 ? kNegativeShift : 0)));
  for (int i = byte_count; i-- > 0;) {
    PutU8(out, static_cast<uint8_t>(bits >> (8 * i)));
  }
}

void PutVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    PutU8(out, static_cast<uint8_t>(value | 0x80));
  }
  PutU8(out, static_cast<uint8_t>(value));
}

size_t VlongBytes(int64_t value) {
  if (value >= kMinOneByte && value <= kMaxOneByte) return 1;
  return 1 + static_cast<size_t>(SignificantBytes(
                 static_cast<uint64_t>(value < 0 ? ~value : value)));
}

void PutByteArray(std::string* out, std::string_view bytes) {
  PutVlong(out, static_cast<int64_t>(bytes.size()));
  out->append(bytes);
}

bool Cursor::ReadU16(uint16_t* value) {
  if (rest_.size() < sizeof(*value)) return false;
  *value = LoadU16(rest_.data());
  rest_.remove_prefix(sizeof(*value));
  return true;
}

bool Cursor::ReadU32(uint32_t* value) {
  if (rest_.size() < sizeof(*value)) return false;
  *value = LoadU32(rest_.data());
  rest_.remove_prefix(sizeof(*value));
  return true;
}

bool Cursor::ReadU64(uint64_t* value) {
  if (rest_.size() < sizeof(*value)) return false;
  *value = LoadU64(rest_.data());
  rest_.remove_prefix(sizeof(*value));
  return true;
}

bool Cursor::ReadVlong(int64_t* value) {
  if (rest_.empty()) return false;
  const auto first = static_cast<int8_t>(rest_[0]);
  if (first >= kMinOneByte) {
    *value = first;
    rest_.remove_prefix(1);
    return true;
  }
  const bool negative = first < kMinOneByte - kNegativeShift;
  const auto byte_count = static_cast<size_t>(
      kMinOneByte - (negative ? kNegativeShift : 0) - first);
  if (rest_.size() - 1 < byte_count) return false;
  uint64_t bits = 0;
  for (size_t i = 1; i <= byte_count; ++i) {
    bits = bits << 8 | static_cast<uint8_t>(rest_[i]);
  }
  *value = static_cast<int64_t>(negative ? ~bits : bits);
  rest_.remove_prefix(1 + byte_count);
  return true;
}

bool Cursor::ReadByteArray(std::string_view* bytes) {
  Cursor ahead(rest_);
  int64_t byte_count = 0;
  if (!ahead.ReadVlong(&byte_count) || byte_count < 0 ||
      !ahead.ReadBytes(static_cast<uint64_t>(byte_count), bytes)) {
    return false;
  }
  *this = ahead;
  return true;
}

bool Cursor::ReadLongVarint(uint64_t* value) {
  constexpr size_t kMaxBytes = 10;
  uint64_t result = 0;
  for (size_t i = 0; i < rest_.size() && i < kMaxBytes; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    // The tenth byte has room for the value's top bit alone.
    if (i == kMaxBytes - 1 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

}  // namespace rowbloom::hfile
