// The numbers of HFiles: big-endian fixed width, and Hadoop's variable length
// integers ("vlong": WritableUtils of Hadoop). Pure and thread-safe.
//
// A vlong in -112..127 is one byte, its value. Else the first byte f says how
// many bytes n follow, big-endian: f = -112 - n for the value, f = -120 - n for
// the complement of a negative one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

static_assert(std::endian::native == std::endian::little,
              "numbers are swapped without asking");

// REQUIRES that the bytes are there.
inline uint16_t LoadU16(const char* at) {
  uint16_t value;
  std::memcpy(&value, at, sizeof(value));
  return __builtin_bswap16(value);
}
inline uint32_t LoadU32(const char* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof(value));
  return __builtin_bswap32(value);
}
inline uint64_t LoadU64(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return __builtin_bswap64(value);
}

void PutU8(std::string* out, uint8_t value);
void PutU16(std::string* out, uint16_t value);
void PutU32(std::string* out, uint32_t value);
void PutU64(std::string* out, uint64_t value);
void PutVlong(std::string* out, int64_t value);
// Protocol Buffers' base-128 number.
void PutVarint(std::string* out, uint64_t value);
// A vlong, and as many bytes.
void PutByteArray(std::string* out, std::string_view bytes);

// Bytes that PutVlong(value) appends: 1 to 9.
size_t VlongBytes(int64_t value);

// Takes from the front of bytes that it does not own. Each function returns
// false, and takes nothing, when the bytes end too early.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  std::string_view rest() const { return rest_; }
  size_t size() const { return rest_.size(); }

  [[nodiscard]] bool ReadU8(uint8_t* value) {
    if (rest_.empty()) return false;
    *value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool ReadU16(uint16_t* value);
  [[nodiscard]] bool ReadU32(uint32_t* value);
  [[nodiscard]] bool ReadU64(uint64_t* value);
  [[nodiscard]] bool ReadVlong(int64_t* value);
  [[nodiscard]] bool ReadBytes(uint64_t byte_count, std::string_view* bytes) {
    if (rest_.size() < byte_count) return false;
    *bytes = rest_.substr(0, byte_count);
    rest_.remove_prefix(byte_count);
    return true;
  }
  // Returns false also when the length is negative.
  [[nodiscard]] bool ReadByteArray(std::string_view* bytes);
  // Protocol Buffers' base-128 number.
  [[nodiscard]] bool ReadVarint(uint64_t* value) {
    if (rest_.empty() || static_cast<uint8_t>(rest_[0]) >= 0x80) {
      return ReadLongVarint(value);
    }
    *value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return true;
  }

 private:
  [[nodiscard]] bool ReadLongVarint(uint64_t* value);

  std::string_view rest_;
};

}  // namespace rowbloom::hfile
