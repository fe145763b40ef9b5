// The footer is the last 53 bytes of a RocksDB block-based table file. Readers
// start with it. Little-endian:
//
//   offset  bytes  format_version 2 to 5       format_version 6 and 7
//   0       1      checksum type               the same
//   1       40     metaindex handle            3e 00 7a 00
//                  index handle                footer checksum, 4
//                  padding, ignored            base context checksum, 4
//                                              metaindex size, 4
//                                              reserved, 16
//                                              zero, 8
//   41      4      format_version              the same
//   45      8      magic 88e241b785f4cff7      the same
//
// From format_version 6 on the metaindex block ends where the footer starts,
// and the metaindex has the handle of the index. Version 7 differs from 6 only
// in the property rocksdb.compression (compression.h). Source: RocksDB 7.8.3,
// 9.10.0, 10.9.1 and 11.8.1, table/format.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/checksum.h"

namespace rowbloom::sst {

inline constexpr size_t kFooterBytes = 53;

// Follows each block: compression type (1 byte), checksum (4 bytes).
inline constexpr size_t kBlockTrailerBytes = 5;

// The place of a block. The size is that of the stored contents, without the
// trailer.
struct BlockHandle {
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;

  friend bool operator==(const BlockHandle&, const BlockHandle&) = default;
};

// Takes a handle (offset and size as varints) off the front of `*in`.
[[nodiscard]] bool GetBlockHandle(std::string_view* in, BlockHandle* handle);

// Tells whether the block and its trailer end at or before `end_bytes`.
bool EndsWithin(const BlockHandle& handle, uint64_t end_bytes);

struct Footer {
  uint32_t format_version = 0;
  ChecksumType checksum_type = ChecksumType::kNone;
  uint32_t base_context_checksum = 0;  // 0 below format_version 6
  uint64_t offset_bytes = 0;           // the footer's place in the file
  BlockHandle metaindex;
  std::optional<BlockHandle> index;  // nullopt from format_version 6 on
};

// Decodes the footer of a file of `file_size_bytes`. `tail` has the last bytes
// of the file, up to kFooterBytes; `path` is for messages. Thread-safe. Errors
// leave *footer unchanged:
//   NotSupported  no RocksDB table, another kind of table, or a format_version
//                 other than 2 to 7
//   Corruption    a block-based table whose footer contradicts itself, its
//                 checksum or the file's size; or a file named *.sst whose end
//                 is not that of any table
rocksdb::Status DecodeFooter(const std::string& path, std::string_view tail,
                             uint64_t file_size_bytes, Footer* footer);

}  // namespace rowbloom::sst
