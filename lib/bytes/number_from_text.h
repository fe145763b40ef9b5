// Numbers that people type, and what is wrong with them.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "rowbloom/printable.h"
#include "rowbloom/result.h"

namespace rowbloom {

// All of the text, in decimal. Error: what was expected, what was found.
template <typename Number>
Result<Number> NumberFromText(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return Error{std::string("expected ") +
                 (std::is_integral_v<Number>
                      ? "a whole number of at most " +
                            std::to_string(std::numeric_limits<Number>::max())
                      : "a number") +
                 ", found " + "\"" + ToPrintable(text) + "\""};
  }
  return number;
}

}  // namespace rowbloom
