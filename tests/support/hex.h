// Bytes as hex digits.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::test {

inline std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// Pairs of digits; what is none counts as 0.
inline std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

}  // namespace rowbloom::test
