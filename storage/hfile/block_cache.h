// Decompressed blocks, and the cache of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "rowbloom/hfile_reader.h"
#include "storage/format/buffer.h"
#include "storage/hfile/block.h"

namespace rowbloom::hfile {

// One block of a file. It is immutable once it is shared.
struct Block {
  BlockHeader header;
  uint64_t offset = 0;
  std::string_view payload;  // in `buffer`
  Buffer buffer;
};

}  // namespace rowbloom::hfile

namespace rowbloom {

// Thread-safe.
class HFileBlockCache {
 public:
  explicit HFileBlockCache(size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  // Returns a number that identifies the blocks of a file in this cache.
  uint64_t NewFileId();

  // Returns null if the block is absent.
  std::shared_ptr<const hfile::Block> Find(uint64_t file_id, uint64_t offset);
  void Insert(uint64_t file_id,
              const std::shared_ptr<const hfile::Block>& block);
  // Removes all blocks of a file, which is being closed.
  void Erase(uint64_t file_id);

  size_t used_bytes() const;

 private:
  struct Entry {
    uint64_t file_id;
    std::shared_ptr<const hfile::Block> block;
    size_t charge_bytes;
  };
  using List = std::list<Entry>;

  void Remove(List::iterator entry);

  const size_t capacity_bytes_;
  mutable std::mutex mutex_;
  uint64_t next_file_id_ = 0;
  size_t used_bytes_ = 0;
  List newest_first_;
  // The entries of each file, by offset: a file that is closed leaves without a
  // walk through those of all others.
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, List::iterator>>
      files_;
};

}  // namespace rowbloom
