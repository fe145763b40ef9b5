// Error messages out of parts.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace rowbloom {

// The parts one after another, integers in decimal.
template <typename... Parts>
std::string Message(const Parts&... parts) {
  std::string text;
  const auto append = [&text](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
      text += std::to_string(part);
    } else {
      text += std::string_view(part);
    }
  };
  (append(parts), ...);
  return text;
}

}  // namespace rowbloom
