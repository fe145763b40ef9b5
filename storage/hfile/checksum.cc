#include "storage/hfile/checksum.h"

#include <zlib.h>

#include <algorithm>

#include "storage/format/crc32c.h"
#include "storage/hfile/coding.h"

namespace rowbloom::hfile {
namespace {

// The library counts in a type that is smaller than size_t.
constexpr size_t kMaxStepBytes = size_t{1} << 30;

uint32_t Crc32(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const size_t step = std::min(bytes.size(), kMaxStepBytes);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uInt>(step));
    bytes.remove_prefix(step);
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

uint32_t Checksum(HFileChecksum type, std::string_view bytes) {
  switch (type) {
    case HFileChecksum::kNull:
      return 0;
    case HFileChecksum::kCrc32:
      return Crc32(bytes);
    case HFileChecksum::kCrc32c:
      return Crc32c(bytes);
  }
  return 0;
}

void AppendChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                     size_t covered_bytes, std::string* out) {
  const size_t start = out->size() - covered_bytes;
  for (size_t at = 0; at < covered_bytes; at += bytes_per_checksum) {
    const size_t length =
        std::min<size_t>(bytes_per_checksum, covered_bytes - at);
    PutU32(out,
           Checksum(type, std::string_view(*out).substr(start + at, length)));
  }
}

}  // namespace rowbloom::hfile
