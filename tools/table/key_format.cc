#include "tools/table/key_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/hfile/cell.h"
#include "tools/cli/text.h"

namespace rowbloom::table {

std::optional<KeyParts> ParseHFileColumn(std::string_view bytes) {
  uint16_t row_bytes = 0;
  if (!GetBig(&bytes, &row_bytes)) return std::nullopt;
  if (row_bytes >= bytes.size()) return std::nullopt;
  const auto family_bytes = static_cast<uint8_t>(bytes[row_bytes]);
  const std::string_view rest = bytes.substr(row_bytes + 1);
  if (family_bytes > rest.size()) return std::nullopt;
  return KeyParts{bytes.substr(0, row_bytes), rest.substr(0, family_bytes),
                  rest.substr(family_bytes)};
}

std::string HFileTypeName(uint8_t type) {
  static const std::map<uint8_t, std::string> kNames = {
      {0, "minimum"},        {4, "put"},
      {8, "delete"},         {10, "delete-family-version"},
      {12, "delete-column"}, {14, "delete-family"},
      {255, "maximum"}};
  const auto name = kNames.find(type);
  return name == kNames.end() ? fmt::format("type 0x{:02x}", type)
                              : name->second;
}

std::string KeyFormat::Text(std::string_view bytes) const {
  return hex ? cli::ToHex(bytes) : ToPrintable(bytes);
}

std::string KeyFormat::ShortText(std::string_view bytes) const {
  constexpr size_t kMaxBytes = 32;
  if (bytes.size() <= kMaxBytes) return Text(bytes);
  return Text(bytes.substr(0, kMaxBytes)) + "...";
}

std::string KeyFormat::ValueText(const Property& property) const {
  if (property.number) return fmt::format("{}", *property.number);
  return property.text.empty() ? Text(property.bytes) : property.text;
}

std::string KeyFormat::KeyText(std::string_view user_key) const {
  HFileKey key;
  if (form != KeyForm::kHFile || !hfile::ParseKey(user_key, &key)) {
    return Text(user_key);
  }
  return fmt::format("{}/{}/{}", ColumnText(user_key), key.timestamp_ms,
                     HFileTypeName(static_cast<uint8_t>(key.type)));
}

std::string KeyFormat::ColumnText(std::string_view user_key) const {
  const std::string_view key = WithoutTimestamp(user_key);
  if (form != KeyForm::kHFile) return Text(key);
  const auto parts = Split(key);
  if (!parts) return Text(key);
  return fmt::format("{}/{}:{}", Text(parts->row), Text(parts->family),
                     Text(parts->qualifier));
}

std::string_view KeyFormat::WithoutTimestamp(std::string_view user_key) const {
  user_key.remove_suffix(std::min(timestamp_bytes, user_key.size()));
  return user_key;
}

std::optional<Timestamp> KeyFormat::TimestampOf(
    std::string_view user_key) const {
  if (timestamp_bytes == 0 || user_key.size() < timestamp_bytes) {
    return std::nullopt;
  }
  if (form == KeyForm::kHFile) {
    HFileKey key;
    if (!hfile::ParseKey(user_key, &key)) return std::nullopt;
    return Timestamp{static_cast<uint64_t>(key.timestamp_ms),
                     /*is_signed=*/true};
  }
  std::string_view in = user_key.substr(WithoutTimestamp(user_key).size());
  uint64_t value = 0;
  if (!GetFixed(&in, &value)) return std::nullopt;
  return Timestamp{value, /*is_signed=*/false};
}

std::string KeyFormat::LayoutText() const {
  return form == KeyForm::kHFile ? "hfile" : layout->ToString();
}

std::optional<KeyParts> KeyFormat::Split(std::string_view key) const {
  if (form == KeyForm::kHFile) return ParseHFileColumn(key);
  const auto split = layout ? layout->Split(key) : std::nullopt;
  if (!split) return std::nullopt;
  return KeyParts{split->row, /*family=*/{}, split->qualifier};
}

std::optional<std::string> KeyFormat::DecodeRow(
    std::string_view row_bytes) const {
  return form == KeyForm::kHFile ? std::string(row_bytes)
                                 : layout->DecodeRow(row_bytes);
}

Result<std::string> KeyFormat::EncodeRow(std::string_view row) const {
  if (form != KeyForm::kHFile) return layout->EncodeRow(row);
  if (row.empty() || row.size() > kHFileMaxRowBytes) {
    return Error{fmt::format("row of {} bytes, expected 1 to {} in an HFile",
                             row.size(), kHFileMaxRowBytes)};
  }
  return std::string(row);
}

std::string KeyFormat::JoinKey(std::string_view row_bytes,
                               std::string_view qualifier) const {
  std::string key;
  if (form != KeyForm::kHFile) return key.append(row_bytes).append(qualifier);
  hfile::AppendKey({.row = row_bytes, .family = family, .qualifier = qualifier},
                   &key);
  key.resize(key.size() - hfile::kTimestampTypeBytes);
  return key;
}

std::string KeyFormat::RowText(std::string_view row_bytes) const {
  const auto row = has_rows() ? DecodeRow(row_bytes) : std::nullopt;
  return Text(row ? *row : row_bytes);
}

std::string ToString(const Timestamp& timestamp) {
  return timestamp.is_signed
             ? fmt::format("{}", static_cast<int64_t>(timestamp.bits))
             : fmt::format("{}", timestamp.bits);
}

}  // namespace rowbloom::table
