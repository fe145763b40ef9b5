// CRC32 (zlib's and gzip's) and CRC32C (Castagnoli), with the CPU's
// instructions where it has them. Targets that include this link libisal.
#pragma once

#include <isa-l/crc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowbloom {

inline uint32_t Crc32(std::string_view bytes) {
  return crc32_gzip_refl(
      0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

inline uint32_t Crc32c(std::string_view bytes) {
  // The library counts in int and leaves both inversions to its caller.
  constexpr size_t kMaxStepBytes = size_t{1} << 30;
  uint32_t crc = ~uint32_t{0};
  while (!bytes.empty()) {
    const size_t step = std::min(bytes.size(), kMaxStepBytes);
    // It does not write; the parameter only lacks its const.
    auto* data =
        reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(step), crc);
    bytes.remove_prefix(step);
  }
  return ~crc;
}

}  // namespace rowbloom
