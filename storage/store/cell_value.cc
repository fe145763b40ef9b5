#include "storage/store/cell_value.h"

namespace rowbloom {

std::array<char, kCellHeadBytes> EncodeCellHead(uint64_t timestamp_ms) {
  std::array<char, kCellHeadBytes> head;
  head[0] = static_cast<char>(kCellFormatVersion);
  for (size_t i = 1; i < kCellHeadBytes; ++i) {
    head[i] = static_cast<char>(timestamp_ms >> (8 * (i - 1)));
  }
  return head;
}

bool DecodeCellValue(std::string_view stored, CellValue* cell,
                     std::string* problem) {
  if (stored.size() < kCellHeadBytes) {
    *problem = "expected a value of at least " +
               std::to_string(kCellHeadBytes) + " bytes, found " +
               std::to_string(stored.size());
    return false;
  }
  const auto version = static_cast<uint8_t>(stored[0]);
  if (version != kCellFormatVersion) {
    *problem = "expected a value of format version " +
               std::to_string(kCellFormatVersion) + ", found " +
               std::to_string(version);
    return false;
  }
  cell->timestamp_ms = 0;
  for (size_t i = 1; i < kCellHeadBytes; ++i) {
    cell->timestamp_ms |= uint64_t{static_cast<uint8_t>(stored[i])}
                          << (8 * (i - 1));
  }
  cell->value = stored.substr(kCellHeadBytes);
  return true;
}

}  // namespace rowbloom
