#include "rowbloom/key_layout.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "lib/bytes/text.h"
#include "lib/layout/row_rule.h"
#include "rowbloom/printable.h"

namespace rowbloom {

struct KeyLayout::CustomLayout {
  std::string name;
  RowSplitter splitter;
};

struct KeyLayout::CustomRegistry {
  std::mutex mutex;
  std::map<std::string, KeyLayout, std::less<>> by_name;

  // Never destroyed: lookups may continue while the process ends.
  static CustomRegistry& Get() {
    static auto* registry = new CustomRegistry;
    return *registry;
  }
};

namespace {

constexpr size_t kMaxCustomNameBytes = 64;

constexpr std::string_view kFixed = "fixed:";
constexpr std::string_view kDelimited = "delimited:";
constexpr std::string_view kCustom = "custom:";

bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Tells whether an id can have a delimiter without an escape: the others have a
// meaning in RocksDB's option strings.
bool IsPlain(char c) {
  return c > ' ' && c < '\x7f' &&
         std::string_view("{}=;,\\\"'#").find(c) == std::string_view::npos;
}

bool IsCustomName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxCustomNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

}  // namespace

Result<KeyLayout> KeyLayout::RegisterCustom(std::string_view name,
                                            RowSplitter splitter) {
  if (!IsCustomName(name)) {
    return Error{Concat("custom key layout name \"", name,
                        "\": expected 1 to 64 letters, digits, '_', '-' or "
                        "'.'")};
  }
  if (!splitter) {
    return Error{Concat("custom key layout \"", name, "\": no function given")};
  }
  KeyLayout layout(Kind::kCustom);
  layout.custom_ = std::make_shared<const CustomLayout>(
      CustomLayout{std::string(name), std::move(splitter)});
  CustomRegistry& registry = CustomRegistry::Get();
  const std::lock_guard lock(registry.mutex);
  if (!registry.by_name.emplace(name, layout).second) {
    return Error{
        Concat("custom key layout \"", name, "\" is already registered")};
  }
  return layout;
}

Result<KeyLayout> KeyLayout::FromString(std::string_view text) {
  const auto problem = [text](const auto&... parts) {
    return Error{Concat("key layout \"", ToPrintable(text), "\"", parts...)};
  };
  std::string_view rest = text;
  if (text == "escaped") return Escaped();
  if (text == "u16") return LengthPrefixed();
  if (ConsumePrefix(&rest, kFixed)) {
    uint32_t row_bytes = 0;
    if (!ParseNumber(rest, &row_bytes) || row_bytes < 1 ||
        row_bytes > kMaxRowBytes) {
      return problem(": expected fixed:N with a row length N from 1 to ",
                     kMaxRowBytes, " bytes");
    }
    return FixedRow(row_bytes);
  }
  if (ConsumePrefix(&rest, kDelimited)) {
    if (rest.size() == 1) return Delimited(rest[0]);
    unsigned value = 0;
    if (rest.size() == 4 && rest.starts_with("0x") &&
        ParseNumber(rest.substr(2), &value, 16)) {
      return Delimited(static_cast<char>(value));
    }
    return problem(": expected delimited:C with one byte C, or 0xHH");
  }
  if (ConsumePrefix(&rest, kCustom)) {
    CustomRegistry& registry = CustomRegistry::Get();
    const std::lock_guard lock(registry.mutex);
    const auto found = registry.by_name.find(rest);
    if (found != registry.by_name.end()) return found->second;
    return problem(" is not registered in this process");
  }
  return Error{
      Concat("unknown key layout \"", ToPrintable(text),
             "\": expected escaped, fixed:N, delimited:C, u16 or custom:NAME")};
}

std::string KeyLayout::ToString() const {
  switch (kind_) {
    case Kind::kEscaped:
      return "escaped";
    case Kind::kFixed:
      return std::string(kFixed) + std::to_string(parameter_);
    case Kind::kDelimited: {
      const char c = static_cast<char>(parameter_);
      if (IsPlain(c)) return std::string(kDelimited) + c;
      constexpr char kHex[] = "0123456789abcdef";
      return std::string(kDelimited) + "0x" + kHex[parameter_ >> 4] +
             kHex[parameter_ & 15];
    }
    case Kind::kLengthPrefixed:
      return "u16";
    case Kind::kCustom:
      return std::string(kCustom) + custom_->name;
  }
  return "unknown";
}

size_t KeyLayout::RowBytes(std::string_view key) const {
  if (kind_ != Kind::kCustom) {
    return RowBytesOf(kind_, parameter_, key.data(), key.size());
  }
  const auto row_bytes = custom_->splitter(key);
  return row_bytes && *row_bytes <= key.size() ? *row_bytes : kNoRow;
}

std::optional<SplitKey> KeyLayout::Split(std::string_view key) const {
  const size_t row_bytes = RowBytes(key);
  if (row_bytes == kNoRow) return std::nullopt;
  return SplitKey{key.substr(0, row_bytes), key.substr(row_bytes)};
}

Result<std::string> KeyLayout::EncodeRow(std::string_view row) const {
  std::string encoded;
  encoded.reserve(row.size() + 2);
  if (auto error = AppendRow(row, &encoded)) return *std::move(error);
  return encoded;
}

std::optional<Error> KeyLayout::AppendRow(std::string_view row,
                                          std::string* key) const {
  switch (kind_) {
    case Kind::kEscaped: {
      constexpr char kEnd[] = {kEscape, kTerminator};
      size_t at = 0;
      for (size_t escape; (escape = row.find(kEscape, at)) != row.npos;
           at = escape + 1) {
        key->append(row, at, escape + 1 - at).push_back(kEscapedZero);
      }
      key->append(row, at).append(kEnd, sizeof(kEnd));
      return std::nullopt;
    }
    case Kind::kFixed:
      if (row.size() != parameter_) {
        return Error{Concat("a row of ", row.size(),
                            " bytes does not fit key layout ", ToString(),
                            ": expected ", parameter_)};
      }
      key->append(row);
      return std::nullopt;
    case Kind::kDelimited: {
      const char delimiter = static_cast<char>(parameter_);
      const size_t at = row.find(delimiter);
      if (at != std::string_view::npos) {
        return Error{Concat("a row with the delimiter at byte ", at,
                            " does not fit key layout ", ToString())};
      }
      key->append(row).push_back(delimiter);
      return std::nullopt;
    }
    case Kind::kLengthPrefixed:
      if (row.size() > kMaxRowBytes) {
        return Error{
            Concat("a row of ", row.size(),
                   " bytes does not fit key layout u16: expected at most ",
                   kMaxRowBytes)};
      }
      key->push_back(static_cast<char>(row.size() >> 8));
      key->push_back(static_cast<char>(row.size() & 0xff));
      key->append(row);
      return std::nullopt;
    case Kind::kCustom:
      break;
  }
  const auto split = Split(row);
  if (!split || !split->qualifier.empty()) {
    return Error{"these bytes are not one row of key layout " + ToString()};
  }
  key->append(row);
  return std::nullopt;
}

std::optional<std::string> KeyLayout::DecodeRow(
    std::string_view row_bytes) const {
  std::string row;
  if (!DecodeRow(row_bytes, &row)) return std::nullopt;
  return row;
}

bool KeyLayout::DecodeRow(std::string_view row_bytes, std::string* row) const {
  if (row_bytes.size() != RowBytes(row_bytes)) return false;
  row->clear();
  switch (kind_) {
    case Kind::kEscaped:
      row_bytes.remove_suffix(2);
      for (;;) {
        const size_t escape = row_bytes.find(kEscape);
        if (escape == std::string_view::npos) break;
        row->append(row_bytes.substr(0, escape + 1));
        row_bytes.remove_prefix(escape + 2);  // and its 0xff
      }
      break;
    case Kind::kDelimited:
      row_bytes.remove_suffix(1);
      break;
    case Kind::kLengthPrefixed:
      row_bytes.remove_prefix(2);
      break;
    case Kind::kFixed:
    case Kind::kCustom:
      break;
  }
  row->append(row_bytes);
  return true;
}

}  // namespace rowbloom
