#include "tools/cli/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace rowbloom::cli {
std::string HumanBytes(uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // A value that would be rounded to 1024.0 belongs to the next unit.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string HumanAndExactBytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", HumanBytes(bytes), bytes);
}

std::string Percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string PercentRange(double low, double high) {
  const std::string from = fmt::format("{:.1f}", 100 * low);
  const std::string to = fmt::format("{:.1f}", 100 * high);
  return from == to ? from + " %" : fmt::format("{}-{} %", from, to);
}

std::string WithoutControls(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  int following = 0;  // bytes of a character of UTF-8 that are to come
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // The controls from 0x80 to 0x9F, alone or as UTF-8 has them, after 0xC2.
    const bool is_high = byte >= 0x80 && byte < 0xa0 && following == 0;
    if (byte >= 0xc0) {
      following = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte > 0xc2 ? 1 : 0;
    } else {
      following = byte < 0x80 ? 0 : std::max(0, following - 1);
    }
    if (byte < 0x20 || byte == 0x7f || is_high) {
      clean += fmt::format("\\x{:02X}", byte);
    } else {
      clean += c;
    }
  }
  return clean;
}

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string UtcText(uint64_t seconds) {
  constexpr uint64_t kYear10000 = 253'402'300'800;
  if (seconds >= kYear10000) return fmt::format("{}", seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string Grouped(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string WithBlanks(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace rowbloom::cli
