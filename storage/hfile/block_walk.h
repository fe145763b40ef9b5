// Every block of a file in order, from its first byte to its trailer, whether
// an index names it or not.
//
//   BlockWalk walk(reader);
//   while (walk.Next()) {
//     if (walk.status().ok()) Use(walk.block());
//   }
//
// Goes on behind damage: at the end of the block, if its header can be trusted
// so far, else at the next block that the load-on-open section names.
#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile/block.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {

// Holds one block, and after damage the offsets that are known. The reader must
// outlive it. Not thread-safe.
class BlockWalk {
 public:
  explicit BlockWalk(const Reader& reader) : reader_(reader) {}

  // Moves to the next block. False at the trailer.
  bool Next();

  uint64_t offset() const { return offset_; }
  // Header and checksums included; without a header, what there is up to the
  // next block that is known.
  uint64_t block_bytes() const { return end_ - offset_; }
  // Tells whether there is a header that makes sense, which is block().header.
  bool has_header() const { return has_header_; }
  // The status of header, checksums, and contents if they can be unpacked.
  const rocksdb::Status& status() const { return status_; }
  // The payload is that of the last block that was read without an error. There
  // is none when the file's codec is not supported, or the file is encrypted.
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
