// Writes blocks one after another: compresses them, adds header and checksums.
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/format/output_file.h"
#include "storage/hfile/block.h"
#include "storage/hfile/block_reader.h"
#include "storage/hfile/codec.h"
#include "storage/hfile/file_form.h"

namespace rowbloom::hfile {

class BlockWriter {
 public:
  BlockWriter(const FileForm& options, OutputFile* file);

  // Returns InvalidArgument if a block of `block_bytes` is too large.
  rocksdb::Status CheckBytes(size_t block_bytes) const;

  // Writes a block and sets `*location` to its place.
  rocksdb::Status Write(BlockType type, std::string_view payload,
                        BlockLocation* location);

 private:
  OutputFile* const file_;
  PayloadCompressor compressor_;
  const ChecksumType checksum_;
  const uint32_t bytes_per_checksum_;
  std::array<int64_t, kBlockTypes> previous_offsets_;
  std::string stored_;
};

}  // namespace rowbloom::hfile
