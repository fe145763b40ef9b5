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

std::string ProblemOfCellValue(std::string_view stored) {
  if (stored.size() < kCellHeadBytes) {
    return "expected a value of at least " + std::to_string(kCellHeadBytes) +
           " bytes, found " + std::to_string(stored.size());
  }
  return "expected a value of format version " +
         std::to_string(kCellFormatVersion) + ", found " +
         std::to_string(static_cast<uint8_t>(stored[0]));
}

}  // namespace rowbloom
