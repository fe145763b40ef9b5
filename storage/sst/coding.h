// The numbers of RocksDB's files: little-endian fixed width, and base-128
// varints with the low groups first. Each function takes what it reads off the
// front of `*in`, or returns false and leaves `*in` as it was when the bytes
// end too early or the value does not fit. Pure and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace rowbloom::sst {

template <typename T>
[[nodiscard]] bool GetFixed(std::string_view* in, T* value) {
  std::array<char, sizeof(T)> bytes;
  if (in->size() < bytes.size()) return false;
  std::copy_n(in->data(), bytes.size(), bytes.data());
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  *value = std::bit_cast<T>(bytes);
  in->remove_prefix(bytes.size());
  return true;
}
[[nodiscard]] inline bool GetFixed32(std::string_view* in, uint32_t* value) {
  return GetFixed(in, value);
}
[[nodiscard]] inline bool GetFixed64(std::string_view* in, uint64_t* value) {
  return GetFixed(in, value);
}
[[nodiscard]] bool GetVarint64(std::string_view* in, uint64_t* value);
[[nodiscard]] bool GetLongVarint32(std::string_view* in, uint32_t* value);

// Most are lengths of one byte.
[[nodiscard]] inline bool GetVarint32(std::string_view* in, uint32_t* value) {
  if (in->empty() || static_cast<unsigned char>(in->front()) >= 0x80) {
    return GetLongVarint32(in, value);
  }
  *value = static_cast<unsigned char>(in->front());
  in->remove_prefix(1);
  return true;
}

// A signed varint: the sign is the lowest bit ("zigzag").
[[nodiscard]] bool GetSignedVarint64(std::string_view* in, int64_t* value);

// Bytes after their length, a varint32. They view into `*in`.
[[nodiscard]] bool GetSizedBytes(std::string_view* in, std::string_view* bytes);

}  // namespace rowbloom::sst
