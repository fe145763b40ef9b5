// The records of RocksDB's MANIFEST and logs (its db/log_format.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rowbloom::test {

// The offsets of the records in the first block of a sound file.
inline std::vector<size_t> RecordsOf(const std::string& bytes) {
  constexpr size_t kBlockBytes = 32768;
  constexpr size_t kHeadBytes = 7;
  std::vector<size_t> offsets;
  for (size_t at = 0; at + kHeadBytes <= std::min(bytes.size(), kBlockBytes);) {
    offsets.push_back(at);
    at += kHeadBytes + static_cast<uint8_t>(bytes[at + 4]) +
          (size_t{static_cast<uint8_t>(bytes[at + 5])} << 8);
  }
  return offsets;
}

}  // namespace rowbloom::test
