#include "storage/hfile/vlong.h"

#include <bit>

#include "storage/format/coding.h"

namespace rowbloom::hfile {
namespace {

constexpr int kMinOneByte = -112;
constexpr int kMaxOneByte = 127;
constexpr int kNegativeShift = 8;

bool IsOneByte(int64_t value) {
  return value >= kMinOneByte && value <= kMaxOneByte;
}

// Returns the bits that follow the first byte.
uint64_t BitsOf(int64_t value) {
  return static_cast<uint64_t>(value < 0 ? ~value : value);
}

int SignificantBytes(uint64_t value) { return (std::bit_width(value) + 7) / 8; }

}  // namespace

void PutVlong(std::string* out, int64_t value) {
  if (IsOneByte(value)) {
    out->push_back(static_cast<char>(value));
    return;
  }
  const uint64_t bits = BitsOf(value);
  const int byte_count = SignificantBytes(bits);
  out->push_back(static_cast<char>(kMinOneByte - byte_count -
                                   (value < 0 ? kNegativeShift : 0)));
  for (int i = byte_count; i-- > 0;) {
    out->push_back(static_cast<char>(bits >> (8 * i)));
  }
}

size_t VlongBytes(int64_t value) {
  if (IsOneByte(value)) return 1;
  return 1 + static_cast<size_t>(SignificantBytes(BitsOf(value)));
}

void PutByteArray(std::string* out, std::string_view bytes) {
  PutVlong(out, static_cast<int64_t>(bytes.size()));
  out->append(bytes);
}

bool GetVlong(std::string_view* in, int64_t* value) {
  if (in->empty()) return false;
  const auto first = static_cast<int8_t>(in->front());
  if (first >= kMinOneByte) {
    *value = first;
    in->remove_prefix(1);
    return true;
  }
  const bool negative = first < kMinOneByte - kNegativeShift;
  const auto byte_count = static_cast<size_t>(
      kMinOneByte - (negative ? kNegativeShift : 0) - first);
  if (in->size() - 1 < byte_count) return false;
  uint64_t bits = 0;
  for (size_t i = 1; i <= byte_count; ++i) {
    bits = bits << 8 | static_cast<uint8_t>((*in)[i]);
  }
  *value = static_cast<int64_t>(negative ? ~bits : bits);
  in->remove_prefix(1 + byte_count);
  return true;
}

bool GetByteArray(std::string_view* in, std::string_view* bytes) {
  std::string_view rest = *in;
  int64_t byte_count = 0;
  if (!GetVlong(&rest, &byte_count) || byte_count < 0 ||
      !GetBytes(&rest, static_cast<uint64_t>(byte_count), bytes)) {
    return false;
  }
  *in = rest;
  return true;
}

}  // namespace rowbloom::hfile
