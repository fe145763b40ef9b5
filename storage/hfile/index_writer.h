// Builds the index of the data blocks, level by level, in HBase's way: leaf
// blocks are written between the data, intermediate ones at the end, the root
// last. FORMAT.md has the rules. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile/block_reader.h"
#include "storage/hfile/block_writer.h"
#include "storage/hfile/file_form.h"

namespace rowbloom::hfile {

// Appends an entry in the root form.
void AppendRootEntry(const BlockLocation& location, std::string_view key,
                     std::string* out);
// Returns the number of bytes that such an entry takes.
size_t RootEntryBytes(std::string_view key);

class IndexWriter {
 public:
  IndexWriter(const FileForm& options, BlockWriter* blocks)
      : max_block_bytes_(options.index_block_bytes),
        min_entries_(options.index_block_min_entries),
        blocks_(blocks) {}

  // Adds the data block that was just written.
  void Add(const BlockLocation& location, std::string key);

  // Writes a leaf block if there are enough entries for one; with `closing`, at
  // the end of the data, also the remaining entries. Sets `*payload_bytes` to 0
  // if no block was written.
  rocksdb::Status WriteLeaf(bool closing, size_t* payload_bytes);

  // Writes all levels above the leaves. Sets `*root` to the place of the root.
  // REQUIRES WriteLeaf(true).
  rocksdb::Status WriteRoot(BlockLocation* root);

  uint32_t levels() const { return levels_; }
  size_t root_entries() const { return root_.entries.size(); }
  // Returns the size of all index blocks, uncompressed, without headers.
  uint64_t payload_bytes() const { return payload_bytes_; }

 private:
  struct Entry {
    BlockLocation location;
    std::string key;
    uint64_t data_blocks = 1;  // below it
  };
  struct Chunk {
    std::vector<Entry> entries;
    size_t root_bytes = 0;      // in the root form
    size_t non_root_bytes = 0;  // the entries alone, in the non-root form

    void Add(Entry entry);
  };

  size_t NonRootBytes(const Chunk& chunk) const;
  // Writes the chunk in the non-root form, adds it to `parent`, empties it.
  rocksdb::Status WriteChunk(BlockType type, Chunk* chunk, Chunk* parent,
                             size_t* payload_bytes);
  rocksdb::Status AddLevel();
  std::string MidKey() const;

  const size_t max_block_bytes_;
  const size_t min_entries_;
  BlockWriter* const blocks_;
  Chunk leaf_;
  Chunk root_;
  uint32_t levels_ = 1;
  uint64_t payload_bytes_ = 0;
};

}  // namespace rowbloom::hfile
