// Walks over every block of a file in order, from the first byte to the
// trailer, whether an index names the block or not.
//
//   BlockWalk walk(reader);
//   while (walk.Next()) {
//     if (walk.status().ok()) Use(walk.block());
//   }
//
// Continues after damage at the end of the block if its header parses, but no
// later than at the next block that the load-on-open section names.
#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {

// Holds one block and, after damage, the offsets of known blocks. The reader
// must outlive it. Not thread-safe.
class BlockWalk {
 public:
  explicit BlockWalk(const Reader& reader) : reader_(reader) {}

  // Moves to the next block. False at the trailer.
  bool Next();

  uint64_t offset() const { return offset_; }
  // Returns the size of the block with header and checksums. A damaged block
  // ends at the next known block at the latest.
  uint64_t block_bytes() const { return end_ - offset_; }
  // Tells whether the header could be parsed, which is block().header then.
  bool has_header() const { return has_header_; }
  // Returns the status of header, checksums, and contents if they can be read.
  const rocksdb::Status& status() const { return status_; }
  // Returns the block. Its payload is empty after an error, if the file's codec
  // is not supported, and if the file is encrypted.
  const Block& block() const { return block_; }

 private:
  uint64_t NextKnownOffset();

  const Reader& reader_;
  uint64_t offset_ = 0;
  uint64_t end_ = 0;
  bool has_header_ = false;
  rocksdb::Status status_;
  Block block_;
  Buffer scratch_;
  std::vector<uint64_t> known_offsets_;  // sorted; empty until needed
};

}  // namespace rowbloom::hfile
