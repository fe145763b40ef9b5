// Key layouts. An input is a layout's text, after its length in one byte, and a
// key; the key is split by that layout and by one of each kind.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/key_layout.h"
#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {
namespace {

// Two bytes, unless the first is 0xff.
KeyLayout Custom() {
  static const KeyLayout layout = *KeyLayout::RegisterCustom(
      "two-bytes", [](std::string_view key) -> std::optional<size_t> {
        if (key.size() < 2 || key[0] == '\xff') return std::nullopt;
        return 2;
      });
  return layout;
}

void CheckText(const KeyLayout& layout) {
  const std::string id = layout.ToString();
  Check(id.size() <= 71, "an id has at most 71 bytes");
  for (const char c : id) {
    Check(c > ' ' && c < '\x7f', "an id is printable ASCII");
    Check(std::string_view("{}=;,\\\"'#").find(c) == std::string_view::npos,
          "an id is free of what RocksDB's option strings use");
  }
  const auto again = KeyLayout::FromString(id);
  Check(again.has_value(), "FromString takes what ToString prints");
  Check(*again == layout, "FromString is the inverse of ToString");
}

void CheckSplit(const KeyLayout& layout, std::string_view key) {
  const auto split = layout.Split(key);
  const size_t row_bytes = layout.RowBytes(key);
  if (!split) {
    Check(row_bytes == KeyLayout::kNoRow, "RowBytes agrees with Split");
    return;
  }
  Check(row_bytes == split->row.size(), "RowBytes agrees with Split");
  Check(split->row.data() == key.data() &&
            split->row.size() + split->qualifier.size() == key.size() &&
            split->qualifier == key.substr(row_bytes),
        "row and qualifier are the key");
  Check(layout.RowBytes(split->row) == row_bytes, "a row splits into itself");
  Check(layout.RowBytes(std::string(key) + key.front()) == row_bytes,
        "what follows a row does not change it");
  for (size_t cut = row_bytes; cut > 0 && row_bytes - cut < 64; --cut) {
    const size_t shorter = layout.RowBytes(key.substr(0, cut - 1));
    Check(shorter == KeyLayout::kNoRow, "no row is a prefix of another");
  }
  const auto row = layout.DecodeRow(split->row);
  Check(row.has_value(), "the row bytes of a key are one row");
  const auto encoded = layout.EncodeRow(*row);
  Check(encoded.has_value() && *encoded == split->row,
        "EncodeRow is the inverse of DecodeRow");
  Check(split->qualifier.empty() || !layout.DecodeRow(key),
        "a key with a qualifier is not one row");
}

// Returns the encoded row, if the layout can hold it.
std::optional<std::string> CheckEncode(const KeyLayout& layout,
                                       std::string_view row) {
  const auto encoded = layout.EncodeRow(row);
  if (!encoded) {
    Check(!encoded.error().empty(), "an error says what is wrong");
    return std::nullopt;
  }
  Check(layout.RowBytes(*encoded) == encoded->size(),
        "an encoded row splits into itself");
  Check(layout.DecodeRow(*encoded) == row,
        "DecodeRow is the inverse of EncodeRow");
  return *encoded;
}

void CheckLayout(const KeyLayout& layout, std::string_view key) {
  CheckText(layout);
  CheckSplit(layout, key);
  // The key is two rows, too.
  const std::string_view a = key.substr(0, key.size() / 2);
  const std::string_view b = key.substr(key.size() / 2, key.size() / 2);
  const auto encoded_a = CheckEncode(layout, a);
  const auto encoded_b = CheckEncode(layout, b);
  CheckEncode(layout, key);
  if (!encoded_a || !encoded_b) return;
  CheckSplit(layout, *encoded_a + *encoded_b);
  Check(layout.RowBytes(*encoded_a + *encoded_b) == encoded_a->size(),
        "an encoded row ends where it says");
  Check((*encoded_a == *encoded_b) == (a == b), "rows keep apart");
  Check(!layout.PreservesRowOrder() || (*encoded_a < *encoded_b) == (a < b),
        "encoded rows sort as rows do");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rowbloom::KeyLayout;
  rowbloom::fuzz::Input input({reinterpret_cast<const char*>(data), size});
  std::vector<KeyLayout> layouts = {
      KeyLayout::Escaped(),      KeyLayout::LengthPrefixed(),
      KeyLayout::Delimited(':'), KeyLayout::Delimited('\0'),
      KeyLayout::FixedRow(1),    KeyLayout::FixedRow(8),
      rowbloom::fuzz::Custom()};
  const auto layout = KeyLayout::FromString(input.SizedBytes());
  if (layout) {
    layouts.push_back(*layout);
  } else {
    rowbloom::fuzz::Check(!layout.error().empty(),
                          "an error says what is wrong");
  }
  const std::string_view key = input.Rest();
  for (const KeyLayout& each : layouts) {
    rowbloom::fuzz::CheckLayout(each, key);
  }
  return 0;
}
