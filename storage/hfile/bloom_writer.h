// Builds a compound Bloom filter: chunks between the data blocks, its
// description at the end. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/hfile_format.h"
#include "storage/hfile/block_index.h"
#include "storage/hfile/block_writer.h"
#include "storage/hfile/bloom_chunk.h"
#include "storage/hfile/file_form.h"

namespace rowbloom::hfile {

class BloomWriter {
 public:
  // `type` is the filter's type, which may differ from that of the options.
  BloomWriter(const FileForm& options, BloomType type, BlockWriter* blocks);

  // Adds a key, unless it equals the last one. REQUIRES that keys ascend in the
  // order of the chunk index, as those of ascending cells do.
  void Add(std::string_view key);

  // Writes the full chunks, and with `closing` the last one. Adds their
  // uncompressed size, headers included, to `*uncompressed_bytes`.
  rocksdb::Status WriteChunks(bool closing, uint64_t* uncompressed_bytes);

  bool empty() const { return key_count_ == 0; }
  const std::string& last_key() const { return last_key_; }

  // Returns the filter's description. REQUIRES WriteChunks(true).
  std::string Describe() const;

 private:
  struct ReadyChunk {
    std::string first_key;
    std::string bits;
  };

  void Retire();

  const HFileHash hash_;
  const KeyForm key_form_;
  const ChunkSizing sizing_;
  BlockWriter* const blocks_;
  std::optional<BloomChunk> chunk_;
  std::string first_key_;  // the chunk's
  std::string last_key_;
  std::vector<ReadyChunk> ready_;
  std::string index_;
  uint32_t chunk_count_ = 0;
  uint64_t key_count_ = 0;
  uint64_t bytes_ = 0;
  uint64_t max_keys_ = 0;
};

}  // namespace rowbloom::hfile
