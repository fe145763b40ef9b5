// Blocks, of which a file consists up to its trailer:
//
//   header (33 bytes) | payload, compressed with the file's codec | checksums
//
//   offset  bytes  field, big-endian
//   0       8      magic: the block's type
//   8       4      bytes on disk after the header, checksums included
//   12      4      bytes of the payload, uncompressed
//   16      8      offset of the block of this type before it, -1 if none
//   24      1      checksum type
//   25      4      bytes that each checksum covers
//   29      4      bytes on disk with the header, without checksums
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/hfile/checksum.h"

namespace rowbloom::hfile {

inline constexpr size_t kBlockMagicBytes = 8;
inline constexpr size_t kBlockHeaderBytes = 33;
// The least that HBase's writer takes for bytes_per_checksum.
inline constexpr uint32_t kMinBytesPerChecksum = kBlockHeaderBytes;

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

// Cells, in whatever encoding.
inline bool IsData(BlockType type) {
  return type == BlockType::kData || type == BlockType::kEncodedData;
}

// Eight bytes, all printable.
std::string_view Magic(BlockType type);

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

// Corruption with what is wrong, without a place: an unknown type, or numbers
// that contradict each other. REQUIRES kBlockHeaderBytes bytes.
rocksdb::Status ParseBlockHeader(std::string_view bytes, BlockHeader* header);

// REQUIRES all bytes of the block.
rocksdb::Status VerifyChecksums(const BlockHeader& header,
                                std::string_view block);

// Appends header and checksums around what is stored: `stored` already has
// kBlockHeaderBytes bytes of room at its front. The header's stored_bytes and
// checksums_bytes are computed.
void SealBlock(BlockHeader header, std::string* stored);

}  // namespace rowbloom::hfile
