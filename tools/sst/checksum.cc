#include "tools/sst/checksum.h"

#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "storage/format/crc.h"

namespace rowbloom::sst {
namespace {

uint32_t MaskedCrc32c(std::string_view bytes) {
  return std::rotr(Crc32c(bytes), 15) + 0xa282ead8U;
}

uint32_t Xxh3(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto last = static_cast<unsigned char>(bytes.back());
  const auto hash =
      static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size() - 1));
  return hash ^ (last * 0x6b9083d9U);
}

}  // namespace

std::optional<ChecksumType> ChecksumTypeFromByte(uint8_t value) {
  if (value > static_cast<uint8_t>(ChecksumType::kXxh3)) return std::nullopt;
  return static_cast<ChecksumType>(value);
}

std::string_view ToString(ChecksumType type) {
  // In the order of the types.
  static constexpr std::string_view kNames[] = {"none", "crc32c", "xxhash",
                                                "xxhash64", "xxh3"};
  return kNames[static_cast<size_t>(type)];
}

uint32_t Checksum(ChecksumType type, std::string_view bytes) {
  switch (type) {
    case ChecksumType::kNone:
      return 0;
    case ChecksumType::kCrc32c:
      return MaskedCrc32c(bytes);
    case ChecksumType::kXxHash:
      return XXH32(bytes.data(), bytes.size(), 0);
    case ChecksumType::kXxHash64:
      return static_cast<uint32_t>(XXH64(bytes.data(), bytes.size(), 0));
    case ChecksumType::kXxh3:
      return Xxh3(bytes);
  }
  return 0;
}

uint32_t ContextModifier(uint32_t base, uint64_t offset_bytes) {
  if (base == 0) return 0;
  return base ^ (static_cast<uint32_t>(offset_bytes) +
                 static_cast<uint32_t>(offset_bytes >> 32));
}

}  // namespace rowbloom::sst
