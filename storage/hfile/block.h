// A file consists of blocks, up to its trailer:
//
//   header (33 bytes) | payload, compressed with the file's codec | checksums
//
//   offset  bytes  field, big-endian
//   0       8      magic: the block's type
//   8       4      bytes on disk after the header, checksums included
//   12      4      bytes of the payload, uncompressed
//   16      8      offset of the previous block of this type, -1 if none
//   24      1      checksum type
//   25      4      bytes that each checksum covers
//   29      4      bytes on disk with the header, without checksums
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile {

inline constexpr size_t kBlockMagicBytes = 8;
inline constexpr size_t kBlockHeaderBytes = 33;
inline constexpr size_t kChecksumBytes = 4;

enum class BlockType : uint8_t {
  kData,
  kEncodedData,
  kLeafIndex,
  kBloomChunk,
  kMeta,
  kIntermediateIndex,
  kRootIndex,
  kFileInfo,
  kGeneralBloomMeta,
  kDeleteFamilyBloomMeta,
};
inline constexpr size_t kBlockTypes = 10;

// Tells whether a block of this type holds cells, in any encoding.
inline bool IsData(BlockType type) {
  return type == BlockType::kData || type == BlockType::kEncodedData;
}

// Returns the type's magic: eight bytes, all printable.
std::string_view Magic(BlockType type);

// The checksums that follow a block, one for each `bytes_per_checksum` bytes
// from the first byte of its header on. The values are on disk: never renumber.
enum class ChecksumType : uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };

struct BlockHeader {
  BlockType type = BlockType::kData;
  uint32_t stored_bytes = 0;  // the payload on disk
  uint32_t payload_bytes = 0;
  int64_t previous_offset = -1;
  ChecksumType checksum = ChecksumType::kNull;
  uint32_t bytes_per_checksum = 0;
  uint32_t checksums_bytes = 0;

  uint64_t block_bytes() const {
    return uint64_t{kBlockHeaderBytes} + stored_bytes + checksums_bytes;
  }
};

// Parses a header. Returns Corruption, without a place, for an unknown type and
// for invalid or contradictory numbers. REQUIRES kBlockHeaderBytes bytes.
rocksdb::Status ParseBlockHeader(std::string_view bytes, BlockHeader* header);

// REQUIRES all bytes of the block.
rocksdb::Status VerifyChecksums(const BlockHeader& header,
                                std::string_view block);

// Appends to `*out` the checksums of its last `covered_bytes` bytes.
void AppendChecksums(ChecksumType type, uint32_t bytes_per_checksum,
                     size_t covered_bytes, std::string* out);

// Writes the header into the first kBlockHeaderBytes bytes of `*stored`, which
// the caller has left free, and appends the checksums. Computes the header's
// stored_bytes and checksums_bytes.
void SealBlock(BlockHeader header, std::string* stored);

}  // namespace rowbloom::hfile
