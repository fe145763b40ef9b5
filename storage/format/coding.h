// The numbers of RocksDB's files and of the store: little-endian fixed width,
// and base-128 varints with the low groups first. Each function takes what it
// reads off the front of `*in`, or returns false and leaves `*in` as it was
// when the bytes end too early or the value does not fit. Pure and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

namespace rowbloom {

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
[[nodiscard]] inline bool GetVarint64(std::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < in->size() && i < 10; ++i) {
    const uint64_t byte = static_cast<unsigned char>((*in)[i]);
    // The tenth byte has room for the value's top bit alone.
    if (i == 9 && byte > 1) return false;
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

// Most are lengths of one byte.
[[nodiscard]] inline bool GetVarint32(std::string_view* in, uint32_t* value) {
  if (!in->empty() && static_cast<unsigned char>(in->front()) < 0x80) {
    *value = static_cast<unsigned char>(in->front());
    in->remove_prefix(1);
    return true;
  }
  std::string_view rest = *in;
  uint64_t wide = 0;
  if (!GetVarint64(&rest, &wide) ||
      wide > std::numeric_limits<uint32_t>::max()) {
    return false;
  }
  *in = rest;
  *value = static_cast<uint32_t>(wide);
  return true;
}

// A signed varint: the sign is the lowest bit ("zigzag").
[[nodiscard]] inline bool GetSignedVarint64(std::string_view* in,
                                            int64_t* value) {
  uint64_t zigzag = 0;
  if (!GetVarint64(in, &zigzag)) return false;
  *value = static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  return true;
}

// Bytes after their length, a varint32. They view into `*in`.
[[nodiscard]] inline bool GetSizedBytes(std::string_view* in,
                                        std::string_view* bytes) {
  std::string_view rest = *in;
  uint32_t length = 0;
  if (!GetVarint32(&rest, &length) || length > rest.size()) return false;
  *bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  *in = rest;
  return true;
}

}  // namespace rowbloom
