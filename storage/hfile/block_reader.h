// Reads blocks of one file: checks bounds, then checksums, then decompresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_format.h"
#include "rowbloom/hfile_reader.h"
#include "storage/format/input_file.h"
#include "storage/hfile/block.h"
#include "storage/hfile/block_cache.h"

namespace rowbloom::hfile {

// The place of a block, as an index gives it.
struct BlockLocation {
  uint64_t offset = 0;
  uint32_t block_bytes = 0;  // header and checksums included
};
inline constexpr size_t kLocationBytes = 12;  // the size of one in an index

// Immutable and thread-safe. Errors name file, offset, expected and found.
class BlockReader {
 public:
  BlockReader(const InputFile& file, HFileCompression codec,
              const HFileReaderOptions& options)
      : file_(file),
        codec_(codec),
        max_block_bytes_(options.max_block_bytes),
        max_data_block_bytes_(
            std::max(options.max_block_bytes, options.max_data_block_bytes)),
        verify_checksums_(options.verify_checksums) {}

  const InputFile& file() const { return file_; }
  uint64_t max_data_block_bytes() const { return max_data_block_bytes_; }

  // Reads the header of a block at `offset` that must end by `end_offset`.
  rocksdb::Status ReadHeader(uint64_t offset, uint64_t end_offset,
                             BlockHeader* header) const;

  // Reads the block at `location` into `*block`, whose memory it reuses. Uses
  // `*scratch` for the compressed form. Corruption for a type other than
  // `expected`.
  rocksdb::Status Read(const BlockLocation& location, BlockType expected,
                       Block* block, Buffer* scratch) const;

  // Reads a block into `*scratch` as it is stored and verifies its checksums.
  // `*block` gets its header and offset, but no payload.
  rocksdb::Status ReadStored(const BlockLocation& location, Block* block,
                             Buffer* scratch) const;

 private:
  // Returns the size limit of a block of this type, decompressed.
  uint64_t MaxBytes(BlockType type) const {
    return IsData(type) ? max_data_block_bytes_ : max_block_bytes_;
  }
  // Reads all bytes of the block into `*target` and parses its header. Refuses
  // a block that is too large for a payload of `max_bytes`.
  rocksdb::Status Load(const BlockLocation& location, uint64_t max_bytes,
                       Buffer* target, BlockHeader* header,
                       std::string_view* stored) const;
  rocksdb::Status CheckHeader(const BlockLocation& location, BlockType expected,
                              const BlockHeader& header) const;
  rocksdb::Status Unpack(const BlockLocation& location, std::string_view stored,
                         Block* block) const;

  const InputFile& file_;
  const HFileCompression codec_;
  const uint64_t max_block_bytes_;
  const uint64_t max_data_block_bytes_;
  const bool verify_checksums_;
};

}  // namespace rowbloom::hfile
