#include "storage/hfile/block.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/format/crc.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

// The magics, by BlockType.
constexpr std::array<std::string_view, kBlockTypes> kMagics = {
    "DATABLK*", "DATABLKE", "IDXLEAF2", "BLMFBLK2", "METABLKc",
    "IDXINTE2", "IDXROOT2", "FILEINF2", "BLMFMET2", "DFBLMET2",
};

constexpr uint32_t kMaxJavaInt = std::numeric_limits<int32_t>::max();

// Returns the number of checksums of so many bytes.
uint64_t ChecksumCount(uint64_t byte_count, uint32_t bytes_per_checksum) {
  return (byte_count + bytes_per_checksum - 1) / bytes_per_checksum;
}

// Returns 0 for kNull; such files store zeros.
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

}  // namespace

std::string_view Magic(BlockType type) {
  return kMagics[static_cast<size_t>(type)];
}

Status ParseBlockHeader(std::string_view bytes, BlockHeader* header) {
  std::string_view cursor = bytes;
  std::string_view magic;
  uint32_t after_header_bytes = 0;
  uint32_t payload_bytes = 0;
  uint64_t previous_offset = 0;
  uint8_t checksum = 0;
  uint32_t bytes_per_checksum = 0;
  uint32_t covered_bytes = 0;
  if (!GetBytes(&cursor, kBlockMagicBytes, &magic) ||
      !GetBig(&cursor, &after_header_bytes) ||
      !GetBig(&cursor, &payload_bytes) || !GetBig(&cursor, &previous_offset) ||
      !GetBig(&cursor, &checksum) || !GetBig(&cursor, &bytes_per_checksum) ||
      !GetBig(&cursor, &covered_bytes)) {
    return Corruption("block header of ", bytes.size(), " bytes, expected ",
                      kBlockHeaderBytes);
  }
  size_t type = 0;
  while (type < kMagics.size() && kMagics[type] != magic) ++type;
  if (type == kMagics.size()) {
    return Corruption("unknown block magic \"", ToPrintable(magic), "\"");
  }
  if (payload_bytes > kMaxJavaInt) {
    return Corruption("payload of ", payload_bytes, " bytes, expected at most ",
                      kMaxJavaInt);
  }
  if (checksum > static_cast<uint8_t>(ChecksumType::kCrc32c)) {
    return Corruption("checksum type ", static_cast<int>(checksum),
                      ", expected 0 to 2");
  }
  if (bytes_per_checksum == 0 || bytes_per_checksum > kMaxJavaInt) {
    return Corruption(bytes_per_checksum, " bytes per checksum, expected 1 to ",
                      kMaxJavaInt);
  }
  if (after_header_bytes > kMaxJavaInt || covered_bytes < kBlockHeaderBytes ||
      covered_bytes - kBlockHeaderBytes > after_header_bytes) {
    return Corruption(covered_bytes, " bytes with the header, expected ",
                      kBlockHeaderBytes, " to ",
                      uint64_t{kBlockHeaderBytes} + after_header_bytes);
  }
  header->type = static_cast<BlockType>(type);
  header->stored_bytes =
      static_cast<uint32_t>(covered_bytes - kBlockHeaderBytes);
  header->payload_bytes = payload_bytes;
  header->previous_offset = static_cast<int64_t>(previous_offset);
  header->checksum = static_cast<ChecksumType>(checksum);
  header->bytes_per_checksum = bytes_per_checksum;
  header->checksums_bytes = after_header_bytes - header->stored_bytes;
  const uint64_t expected =
      kChecksumBytes * ChecksumCount(covered_bytes, bytes_per_checksum);
  if (header->checksums_bytes != expected) {
    return Corruption("checksums of ", header->checksums_bytes,
                      " bytes, expected ", expected);
  }
  return Status::OK();
}

Status VerifyChecksums(const BlockHeader& header, std::string_view block) {
  if (header.checksum == ChecksumType::kNull) return Status::OK();
  std::string_view covered =
      block.substr(0, kBlockHeaderBytes + header.stored_bytes);
  const char* stored = block.data() + covered.size();
  for (size_t at = 0; !covered.empty(); ++at, stored += kChecksumBytes) {
    const std::string_view part = covered.substr(0, header.bytes_per_checksum);
    covered.remove_prefix(part.size());
    const uint32_t expected = Checksum(header.checksum, part);
    const uint32_t found = LoadBig<uint32_t>(stored);
    if (found != expected) {
      return Corruption("checksum ", at, ": expected ", expected, ", found ",
                        found);
    }
  }
  return Status::OK();
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

void SealBlock(BlockHeader header, std::string* stored) {
  const size_t covered_bytes = stored->size();
  header.stored_bytes =
      static_cast<uint32_t>(covered_bytes - kBlockHeaderBytes);
  header.checksums_bytes = static_cast<uint32_t>(
      kChecksumBytes * ChecksumCount(covered_bytes, header.bytes_per_checksum));
  std::string bytes(Magic(header.type));
  PutBig<uint32_t>(&bytes, header.stored_bytes + header.checksums_bytes);
  PutBig<uint32_t>(&bytes, header.payload_bytes);
  PutBig<uint64_t>(&bytes, static_cast<uint64_t>(header.previous_offset));
  PutBig<uint8_t>(&bytes, static_cast<uint8_t>(header.checksum));
  PutBig<uint32_t>(&bytes, header.bytes_per_checksum);
  PutBig<uint32_t>(&bytes, static_cast<uint32_t>(covered_bytes));
  stored->replace(0, kBlockHeaderBytes, bytes);
  AppendChecksums(header.checksum, header.bytes_per_checksum, covered_bytes,
                  stored);
}

}  // namespace rowbloom::hfile
