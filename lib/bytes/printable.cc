#include "rowbloom/printable.h"

#include "lib/bytes/text.h"

namespace rowbloom {

std::string ToPrintable(std::string_view bytes) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += "\\x";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
  return text;
}

std::string FromPrintable(std::string_view text) {
  constexpr size_t kEscapeBytes = 4;  // \xHH
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    unsigned char byte = 0;
    if (text.size() >= kEscapeBytes && text.starts_with("\\x") &&
        ParseNumber(text.substr(2, 2), &byte, 16)) {
      bytes += static_cast<char>(byte);
      text.remove_prefix(kEscapeBytes);
      continue;
    }
    bytes += text.front();
    text.remove_prefix(1);
  }
  return bytes;
}

}  // namespace rowbloom
