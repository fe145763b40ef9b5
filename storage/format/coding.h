// Numbers in the bytes of files. Those of fixed width have two byte orders:
// "fixed" is RocksDB's word for the least significant byte first, "big" has the
// most significant byte first. Varints are the base-128 ones of RocksDB and
// Protocol Buffers, with the low groups first. Pure and thread-safe.
//
// Load... reads a number whose bytes exist. Get... reads from the front of
// `*in` and removes these bytes. If the bytes end too early or the value does
// not fit, it returns false and leaves `*in` unchanged. Put... appends.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "lib/bytes/integers.h"

namespace rowbloom {

// REQUIRES that all bytes of the number exist.
template <std::unsigned_integral T>
T LoadFixed(const char* at) {
  return static_cast<T>(LoadBytes(at, sizeof(T)));
}
template <std::unsigned_integral T>
T LoadBig(const char* at) {
  return static_cast<T>(__builtin_bswap64(LoadBytes(at, sizeof(T))) >>
                        (64 - 8 * sizeof(T)));
}

template <std::unsigned_integral T>
void PutBig(std::string* out, std::type_identity_t<T> value) {
  for (size_t i = sizeof(T); i-- > 0;) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}
inline void PutVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

// The bytes view into `*in`.
[[nodiscard]] inline bool GetBytes(std::string_view* in, uint64_t byte_count,
                                   std::string_view* bytes) {
  if (in->size() < byte_count) return false;
  *bytes = in->substr(0, byte_count);
  in->remove_prefix(byte_count);
  return true;
}
template <std::unsigned_integral T>
[[nodiscard]] bool GetFixed(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = LoadFixed<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}
template <std::unsigned_integral T>
[[nodiscard]] bool GetBig(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = LoadBig<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

// Reads a varint of any length.
[[nodiscard]] inline bool GetLongVarint(std::string_view* in, uint64_t* value) {
  constexpr int kLastShift = 63;
  uint64_t result = 0;
  for (int shift = 0; shift <= kLastShift; shift += 7) {
    const size_t at = static_cast<size_t>(shift) / 7;
    if (at == in->size()) return false;
    const uint64_t byte = static_cast<unsigned char>((*in)[at]);
    // The tenth byte has room for the value's top bit alone.
    if (shift == kLastShift && byte > 1) return false;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      in->remove_prefix(at + 1);
      *value = result;
      return true;
    }
  }
  return false;
}
// Most are lengths of one byte. Always inlined: an entry of a block has three.
template <std::unsigned_integral T>
[[nodiscard, gnu::always_inline]] inline bool GetVarint(std::string_view* in,
                                                        T* value) {
  if (!in->empty() && static_cast<unsigned char>(in->front()) < 0x80) {
    *value = static_cast<T>(in->front());
    in->remove_prefix(1);
    return true;
  }
  std::string_view rest = *in;
  uint64_t wide = 0;
  if (!GetLongVarint(&rest, &wide) || wide > std::numeric_limits<T>::max()) {
    return false;
  }
  *in = rest;
  *value = static_cast<T>(wide);
  return true;
}

// A signed varint: the sign is the lowest bit ("zigzag").
[[nodiscard]] inline bool GetSignedVarint(std::string_view* in,
                                          int64_t* value) {
  uint64_t zigzag = 0;
  if (!GetVarint(in, &zigzag)) return false;
  *value = static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  return true;
}

// Bytes after their length, a varint of 32 bits. They view into `*in`.
[[nodiscard]] inline bool GetSizedBytes(std::string_view* in,
                                        std::string_view* bytes) {
  std::string_view rest = *in;
  uint32_t length = 0;
  if (!GetVarint(&rest, &length) || !GetBytes(&rest, length, bytes)) {
    return false;
  }
  *in = rest;
  return true;
}

}  // namespace rowbloom
