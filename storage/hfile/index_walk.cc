#include "storage/hfile/index_walk.h"

#include <memory>
#include <vector>

#include "storage/format/status_text.h"
#include "storage/hfile/block_index.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

class IndexWalk {
 public:
  IndexWalk(const Reader& reader,
            const std::function<void(const DataIndexEntry&)>& use)
      : reader_(reader),
        use_(use),
        levels_(reader.trailer().data_index_levels),
        next_offsets_(levels_, 0) {}

  // Visits the entries of an index block of this level. Level 0 is the root.
  template <typename Index>
  Status Visit(const Index& index, size_t level) {
    Status status;
    for (size_t entry = 0; status.ok() && entry < index.size(); ++entry) {
      const BlockLocation location = index.location(entry);
      if (location.offset < next_offsets_[level]) {
        return reader_.file().Located(
            level + 1 == levels_ ? "data block" : "index block",
            location.offset,
            Corruption("expected at offset ", next_offsets_[level],
                       " or behind"));
      }
      next_offsets_[level] = location.offset + location.block_bytes;
      if (level + 1 == levels_) {
        use_({leaves_, location, index.key(entry)});
      } else {
        status = Descend(location, level + 1);
      }
    }
    return status;
  }

 private:
  Status Descend(const BlockLocation& location, size_t level) {
    const bool is_leaf = level + 1 == levels_;
    std::shared_ptr<const Block> block;
    const Status status = reader_.CachedBlock(
        location,
        is_leaf ? BlockType::kLeafIndex : BlockType::kIntermediateIndex,
        &block);
    if (!status.ok()) return status;
    if (is_leaf) ++leaves_;
    return Visit(NonRootIndex(block->payload), level);
  }

  const Reader& reader_;
  const std::function<void(const DataIndexEntry&)>& use_;
  const size_t levels_;
  size_t leaves_ = 0;
  // By level: the least offset that the next entry may have.
  std::vector<uint64_t> next_offsets_;
};

}  // namespace

Status ForEachDataIndexEntry(
    const Reader& reader,
    const std::function<void(const DataIndexEntry& entry)>& use) {
  return IndexWalk(reader, use).Visit(reader.data_root(), 0);
}

}  // namespace rowbloom::hfile
