// IndexCursor gives the handles of a file's data blocks in the order of their
// keys.
//
//   IndexCursor index(file);
//   while (index.Next()) Use(index.handle());
//   if (!index.status().ok()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "tools/sst/block.h"
#include "tools/sst/block_reader.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {

// Walks an index of any form. Holds the index block and, if it has two levels,
// one partition. Each handle must lie behind the previous one and before the
// block that names it, so a walk of any bytes ends. The file must outlive the
// cursor. Not thread-safe.
class IndexCursor {
 public:
  explicit IndexCursor(const SstFile& file);

  // Makes the next Next() skip the blocks whose keys are all before `user_key`
  // (without a timestamp). Partitions of such blocks are not read. Does nothing
  // if the order of keys is not known.
  void SkipTo(std::string_view user_key);

  // Moves to the next data block. Returns false at the end and at damage.
  bool Next();

  // Makes Next() continue with the next partition after damage in one. Returns
  // false without damage, or if it is in the index block itself.
  bool SkipDamagedPartition();

  // The present entry. REQUIRES that the last Next() returned true.
  const BlockHandle& handle() const { return entry_.handle; }
  // A user key with its timestamp. No key of this block is after it, and no key
  // of the next block is before it.
  std::string_view user_key() const { return entry_.user_key; }
  // The first internal key of the block, for IndexForm::kFirstKey; else empty.
  std::string_view first_key() const { return entry_.first_key; }

  // The present partition of IndexForm::kTwoLevel, counted from 1; else 0.
  size_t partition() const { return partition_; }
  // The block that has the present entry.
  const BlockHandle& block() const { return leaf_.block; }

  // Corruption, NotSupported, IOError or MemoryLimit; or OK.
  const rocksdb::Status& status() const { return status_; }

 private:
  // A block of the index, and a cursor over its entries.
  struct Level {
    explicit Level(const SstFile& file) : reader(file) {}

    BlockReader reader;
    std::optional<EntryCursor> entries;
    BlockHandle block;
    uint64_t previous_end = 0;  // of the last block that an entry named
  };

  bool Open();
  bool OpenBlock(const BlockHandle& block, Level* level);
  bool NextEntry(Level* level);
  bool OpenNextPartition();
  bool Fail(rocksdb::Status status);
  bool ComesBefore(std::string_view stored_key) const;

  const SstFile& file_;
  rocksdb::Status status_;
  bool opened_ = false;
  std::optional<std::string> from_;

  Level top_;  // of a two-level index
  Level leaf_;
  size_t partition_ = 0;
  IndexEntry entry_;
};

}  // namespace rowbloom::sst
