#include "storage/hfile/checksum.h"

#include <algorithm>

#include "storage/format/coding.h"
#include "storage/format/crc.h"

namespace rowbloom::hfile {

uint32_t Checksum(ChecksumType type, std::string_view bytes) {
  switch (type) {
    case ChecksumType::kNull:
      return 0;
    case ChecksumType::kCrc32:
      return Crc32(bytes);
    case ChecksumType::kCrc32c:
      return Crc32c(bytes);
  }
  return 0;
}

void AppendChecksums(ChecksumType type, uint32_t bytes_per_checksum,
                     size_t covered_bytes, std::string* out) {
  const size_t start = out->size() - covered_bytes;
  for (size_t at = 0; at < covered_bytes; at += bytes_per_checksum) {
    const size_t length =
        std::min<size_t>(bytes_per_checksum, covered_bytes - at);
    PutBig<uint32_t>(
        out, Checksum(type, std::string_view(*out).substr(start + at, length)));
  }
}

}  // namespace rowbloom::hfile
