// Numbers and texts in messages and ids.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace rowbloom {

// The shortest text that reads back as the same number: "0.01", "1e-15".
inline std::string NumberText(double number) {
  char text[32];  // "-2.2250738585072014e-308" has 24
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

// Joins the parts: texts unchanged, numbers as NumberText or in decimal digits.
template <typename... Parts>
std::string Concat(const Parts&... parts) {
  const auto text = []<typename Part>(const Part& part) {
    if constexpr (std::is_floating_point_v<Part>) {
      return NumberText(part);
    } else if constexpr (std::is_integral_v<Part>) {
      return std::to_string(part);
    } else {
      return std::string_view(part);
    }
  };
  std::string all;
  (all.append(text(parts)), ...);
  return all;
}

// Returns the name of an enumerator, or "unknown" past the last name.
template <typename Enum, size_t kCount>
std::string_view NameOf(Enum value, const std::string_view (&names)[kCount]) {
  const auto index = static_cast<size_t>(value);
  return index < kCount ? names[index] : "unknown";
}

// Tells whether two texts are equal but for the case of ASCII letters.
inline bool EqualInAnyCase(std::string_view a, std::string_view b) {
  const auto upper = [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  };
  return std::ranges::equal(a, b, {}, upper, upper);
}

// Parses `text` with std::from_chars, which has to read all of it.
template <typename Number, typename... Base>
bool ParseNumber(std::string_view text, Number* number, Base... base) {
  const char* end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, *number, base...);
  return error == std::errc() && stop == end;
}

}  // namespace rowbloom
