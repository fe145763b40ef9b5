// Bytes, numbers and times as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::cli {

// "512 B", "1.2 MiB".
std::string HumanBytes(uint64_t bytes);

// "1.2 MiB (1258291 bytes)"; under 1 KiB "512 bytes".
std::string HumanAndExactBytes(uint64_t bytes);

// "0.953 %" of a share in [0, 1]: three significant digits.
std::string Percent(double share);

// "49.9 %" or "48.2-51.0 %": one decimal, shares in [0, 1].
std::string PercentRange(double low, double high);

// Returns `text` with control characters as \xHH, to print on a terminal.
std::string WithoutControls(std::string_view text);

// The bytes as lower case hex digits.
std::string ToHex(std::string_view bytes);

// "2026-11-24 11:25:00 UTC" of seconds since 1970; from the year 10000 on,
// which no real time reaches, the number itself.
std::string UtcText(uint64_t seconds);

// "1,234,567".
std::string Grouped(uint64_t number);

// "file bytes" of the name "file_bytes".
std::string WithBlanks(std::string_view name);

}  // namespace rowbloom::cli
