// Durations that people type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// Returns milliseconds. The text is a whole number with a unit, "250ms", "60s",
// "5m", "24h", "7d"; "0" and "forever" are 0. Error: the expected and the found
// text.
Result<uint64_t> ParseDuration(std::string_view text);

// Returns a text in the largest unit with a whole number; 0 is "forever".
std::string DurationText(uint64_t duration_ms);

}  // namespace rowbloom
