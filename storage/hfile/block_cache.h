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
  struct Key {
    uint64_t file_id;
    uint64_t offset;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return static_cast<size_t>(
          (key.file_id * 0x9e3779b97f4a7c15 ^ key.offset) * 0xbf58476d1ce4e5b9);
    }
  };
  struct Entry {
    Key key;
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
  std::unordered_map<Key, List::iterator, KeyHash> entries_;
};

}  // namespace rowbloom
