// Durations that people type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// In milliseconds: a whole number with a unit, "250ms", "60s", "5m", "24h",
// "7d"; "0" and "forever" are 0. Error: what was expected, what was found.
Result<uint64_t> ParseDuration(std::string_view text);

// The same in the largest unit that it is whole in; 0 is "forever".
std::string DurationText(uint64_t duration_ms);

}  // namespace rowbloom
