// The text of keys in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rowbloom/printable.h"

namespace rowbloom {

// Returns the text of a key, or of a part of one, for a message: rows are
// whole, but a qualifier may have as many bytes as a block.
inline std::string KeyText(std::string_view key) {
  constexpr size_t kMostBytes = size_t{64} << 10;
  return ToPrintable(key.substr(0, kMostBytes)) +
         (key.size() > kMostBytes ? "..." : "");
}

}  // namespace rowbloom
