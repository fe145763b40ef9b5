#include "storage/filter_policy/ids.h"

#include <array>
#include <charconv>
#include <system_error>

namespace rowbloom {
namespace {

constexpr std::string_view kUniform = "uniform";

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

}  // namespace

std::string PolicyId(const FilterPolicyOptions& options) {
  // The shortest text that reads back as the same double.
  std::array<char, 32> rate;
  const auto end = std::to_chars(rate.data(), rate.data() + rate.size(),
                                 options.false_positive_rate)
                       .ptr;
  std::string id(kPolicyIdPrefix);
  id.append(ToString(options.bloom_type)).append(":");
  id.append(ToString(options.kind)).append(":");
  id.append(rate.data(), end).append(":");
  id.append(std::to_string(options.row_prefix_length)).append(":");
  id.append(kUniform).append(":");
  id.append(options.key_layout.ToString());
  return id;
}

Result<FilterPolicyOptions> ParsePolicyId(std::string_view id) {
  const Error malformed{"filter policy id \"" + std::string(id) +
                        "\": expected " + std::string(kPolicyIdPrefix) +
                        "TYPE:KIND:RATE:ROW_PREFIX_LENGTH:uniform:LAYOUT"};
  if (!id.starts_with(kPolicyIdPrefix)) return malformed;
  std::string_view rest = id.substr(kPolicyIdPrefix.size());
  std::array<std::string_view, 5> fields;
  for (std::string_view& field : fields) {
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return malformed;
    field = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  FilterPolicyOptions options;
  const auto type = BloomTypeFromString(fields[0]);
  if (!type) return Error{type.error()};
  const auto kind = FilterKindFromString(fields[1]);
  if (!kind) return Error{kind.error()};
  if (!ParseNumber(fields[2], &options.false_positive_rate) ||
      !ParseNumber(fields[3], &options.row_prefix_length) ||
      fields[4] != kUniform) {
    return malformed;
  }
  const auto layout = KeyLayout::FromString(rest);
  if (!layout) return Error{layout.error()};
  options.bloom_type = *type;
  options.kind = *kind;
  options.key_layout = *layout;
  return options;
}

}  // namespace rowbloom
