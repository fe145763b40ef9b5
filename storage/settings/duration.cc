#include "storage/settings/duration.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"

namespace rowbloom {
namespace {

constexpr std::string_view kForever = "forever";

struct Unit {
  std::string_view name;
  uint64_t duration_ms;
};

// Largest first.
constexpr Unit kUnits[] = {{"d", 86'400'000},
                           {"h", 3'600'000},
                           {"m", 60'000},
                           {"s", 1'000},
                           {"ms", 1}};

}  // namespace

Result<uint64_t> ParseDuration(std::string_view text) {
  if (text == "0" || text == kForever) return uint64_t{0};
  const size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  const Unit* unit =
      std::ranges::find(kUnits, text.substr(digits), &Unit::name);
  if (digits == 0 || unit == std::end(kUnits)) {
    return Error{"expected a time such as 250ms, 60s, 5m, 24h or 7d, found \"" +
                 ToPrintable(text) + "\""};
  }
  constexpr uint64_t kLongest = std::numeric_limits<uint64_t>::max();
  uint64_t number = 0;
  if (!ParseNumber(text.substr(0, digits), &number) ||
      number > kLongest / unit->duration_ms) {
    return Error{Concat("expected a time of at most ", kLongest, "ms, found \"",
                        text, "\"")};
  }
  return number * unit->duration_ms;
}

std::string DurationText(uint64_t duration_ms) {
  if (duration_ms == 0) return std::string(kForever);
  const Unit* unit = std::find_if(
      std::begin(kUnits), std::end(kUnits),
      [=](const Unit& known) { return duration_ms % known.duration_ms == 0; });
  return std::to_string(duration_ms / unit->duration_ms).append(unit->name);
}

}  // namespace rowbloom
