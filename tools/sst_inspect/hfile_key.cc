#include "tools/sst_inspect/hfile_key.h"

#include <fmt/format.h>

namespace rowbloom::sst_inspect {
namespace {

constexpr size_t kRowLengthBytes = 2;

uint8_t ByteAt(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}

}  // namespace

std::optional<HFileColumn> ParseHFileColumn(std::string_view bytes) {
  if (bytes.size() < kRowLengthBytes + 1) return std::nullopt;
  const size_t row_bytes = size_t{ByteAt(bytes, 0)} << 8 | ByteAt(bytes, 1);
  bytes.remove_prefix(kRowLengthBytes);
  if (row_bytes >= bytes.size()) return std::nullopt;
  const size_t family_bytes = ByteAt(bytes, row_bytes);
  const std::string_view rest = bytes.substr(row_bytes + 1);
  if (family_bytes > rest.size()) return std::nullopt;
  return HFileColumn{bytes.substr(0, row_bytes), rest.substr(0, family_bytes),
                     rest.substr(family_bytes)};
}

std::string HFileColumnBytes(const HFileColumn& column) {
  std::string bytes;
  bytes += static_cast<char>(column.row.size() >> 8);
  bytes += static_cast<char>(column.row.size());
  bytes += column.row;
  bytes += static_cast<char>(column.family.size());
  bytes += column.family;
  bytes += column.qualifier;
  return bytes;
}

int64_t TimestampOfHFileKey(std::string_view key) {
  uint64_t value = 0;
  const size_t start = key.size() - kHFileKeySuffixBytes;
  for (size_t i = 0; i < sizeof(value); ++i) {
    value = value << 8 | ByteAt(key, start + i);
  }
  return static_cast<int64_t>(value);
}

uint8_t TypeOfHFileKey(std::string_view key) {
  return static_cast<uint8_t>(key.back());
}

std::string HFileTypeName(uint8_t type) {
  switch (type) {
    case 0:
      return "minimum";
    case 4:
      return "put";
    case 8:
      return "delete";
    case 10:
      return "delete-family-version";
    case 12:
      return "delete-column";
    case 14:
      return "delete-family";
    case 255:
      return "maximum";
    default:
      return fmt::format("type 0x{:02x}", type);
  }
}

}  // namespace rowbloom::sst_inspect
