// The texts of options: names of Bloom types and filter kinds, and the id of a
// policy, which OPTIONS files and table properties hold. The input is such a
// text, and in its second reading the numbers of options whose id is made.
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"
#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {
namespace {

bool SameRate(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void CheckNames(std::string_view text) {
  if (const auto type = BloomTypeFromString(text)) {
    const auto again = BloomTypeFromString(ToString(*type));
    Check(again && *again == *type, "the name of a Bloom type is its inverse");
    Check(ToString(*type).size() == text.size(),
          "a Bloom type's name differs in letter case alone");
  } else {
    Check(!type.error().empty(), "an error says what is wrong");
  }
  if (const auto kind = FilterKindFromString(text)) {
    const auto again = FilterKindFromString(ToString(*kind));
    Check(again && *again == *kind, "the name of a kind is its inverse");
  } else {
    Check(!kind.error().empty(), "an error says what is wrong");
  }
}

void CheckRoundTrip(const FilterPolicyOptions& options) {
  const std::string id = PolicyId(options);
  Check(id.starts_with(kPolicyIdPrefix), "an id starts with its prefix");
  for (const char c : id) {
    Check(c > ' ' && c < '\x7f', "an id is printable ASCII");
    Check(std::string_view("{}=;,\\\"'#").find(c) == std::string_view::npos,
          "an id is free of what RocksDB's option strings use");
  }
  const auto again = ParsePolicyId(id);
  Check(again.has_value(), "ParsePolicyId takes what PolicyId prints");
  Check(again->bloom_type == options.bloom_type &&
            again->kind == options.kind &&
            again->key_layout == options.key_layout &&
            again->row_prefix_length == options.row_prefix_length &&
            again->level_allocation.has_value() ==
                options.level_allocation.has_value() &&
            again->row_spread.has_value() == options.row_spread.has_value() &&
            SameRate(again->false_positive_rate, options.false_positive_rate),
        "ParsePolicyId is the inverse of PolicyId");
  if (options.kind == FilterKind::kRibbon) {
    Check(again->bloom_before_level == options.bloom_before_level,
          "an id has the level before which a ribbon policy builds blooms");
  }
  if (options.level_allocation) {
    const LevelShape& shape = *options.level_allocation;
    const LevelShape& parsed = *again->level_allocation;
    Check(parsed.levels == shape.levels &&
              parsed.level0_files == shape.level0_files &&
              parsed.dynamic_level_bytes == shape.dynamic_level_bytes &&
              SameRate(parsed.size_ratio, shape.size_ratio),
          "an id has the shape of the tree that bits are spread over");
  }
  if (options.row_spread) {
    Check(SameRate(*again->row_spread, *options.row_spread),
          "an id has the row spread");
  }
  Check(PolicyId(*again) == id, "equal options have one id");

  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = NewFilterPolicy(options, &policy);
  Check(status.ok() == (policy != nullptr),
        "options out of their range make no policy, others make one");
  Check(status.ok() || status.IsInvalidArgument(),
        "options out of their range are an invalid argument");
}

FilterPolicyOptions OptionsFrom(std::string_view bytes) {
  constexpr std::array kTypes = {BloomType::kNone, BloomType::kRow,
                                 BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength};
  Input input(bytes);
  FilterPolicyOptions options = {.key_layout = KeyLayout::Escaped()};
  options.bloom_type = kTypes[input.Byte() % kTypes.size()];
  options.false_positive_rate = std::bit_cast<double>(input.Number(8));
  options.row_prefix_length = static_cast<uint32_t>(input.Number(4));
  const uint8_t layout = input.Byte();
  if (layout % 4 == 0) options.key_layout = KeyLayout::LengthPrefixed();
  if (layout % 4 == 1) {
    options.key_layout = KeyLayout::Delimited(static_cast<char>(input.Byte()));
  }
  if (layout % 4 == 2) {
    options.key_layout = KeyLayout::FixedRow(
        1 + static_cast<uint32_t>(input.Number(2)) % KeyLayout::kMaxRowBytes);
  }
  const uint8_t bits = input.Byte();
  if (bits & 1) {
    options.level_allocation =
        LevelShape{.levels = static_cast<uint32_t>(input.Number(4)),
                   .size_ratio = std::bit_cast<double>(input.Number(8)),
                   .level0_files = static_cast<uint32_t>(input.Number(4)),
                   .dynamic_level_bytes = (bits & 2) != 0};
  }
  if (bits & 4) {
    options.row_spread = std::bit_cast<double>(input.Number(8));
  }
  if (bits & 8) {
    options.kind = FilterKind::kRibbon;
    options.bloom_before_level =
        static_cast<int>(static_cast<uint32_t>(input.Number(4)));
  }
  return options;
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rowbloom::fuzz::CheckNames(text);
  if (const auto options = rowbloom::ParsePolicyId(text)) {
    rowbloom::fuzz::CheckRoundTrip(*options);
  } else {
    rowbloom::fuzz::Check(!options.error().empty(),
                          "an error says what is wrong");
  }
  rowbloom::fuzz::CheckRoundTrip(rowbloom::fuzz::OptionsFrom(text));
  return 0;
}
