// A parser of numbers that people type, with messages for wrong ones.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "rowbloom/result.h"

namespace rowbloom {

// Parses all of the text as a decimal number. The error says what was expected
// and what was found.
template <typename Number>
Result<Number> NumberFromText(std::string_view text) {
  Number number{};
  if (ParseNumber(text, &number)) return number;
  std::string expected = "a number";
  if constexpr (std::is_integral_v<Number>) {
    expected = Concat("a whole number of at most ",
                      std::numeric_limits<Number>::max());
  }
  return Error{
      Concat("expected ", expected, ", found \"", ToPrintable(text), "\"")};
}

}  // namespace rowbloom
