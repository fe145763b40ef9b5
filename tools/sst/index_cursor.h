// IndexCursor: where the data blocks of a file are, in the order of their keys.
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

// Walks an index of any form. Holds the index block and, of one with two
// levels, one partition. Handles go forward in the file and end before the
// block that names them: whatever the bytes, a walk ends. The file must outlive
// the cursor. Not thread-safe.
class IndexCursor {
 public:
  explicit IndexCursor(const SstFile& file);

  // From the next Next() on, passes over the blocks whose keys all come before
  // `user_key` (without a timestamp), and over partitions of such blocks
  // without reading them. Does nothing when the order of keys is not known.
  void SkipTo(std::string_view user_key);

  // Moves to the next data block. False at the end and at damage.
  bool Next();

  // After damage in one partition, goes on with the next one. False when there
  // is none, or the damage is in the index block itself.
  bool SkipDamagedPartition();

  // The present entry. REQUIRES that the last Next() returned true.
  const BlockHandle& handle() const { return entry_.handle; }
  // The key as stored: a user key or an internal key, see IndexLocation. No key
  // of this block comes after it, no key of the next before it.
  const std::string& key() const { return leaf_.entries->key(); }
  // key() without what an internal key adds; with a timestamp.
  std::string_view user_key() const { return entry_.user_key; }
  // The internal key that starts the block, of IndexForm::kFirstKey; else
  // empty.
  std::string_view first_key() const { return entry_.first_key; }

  // The present partition of IndexForm::kTwoLevel, counted from 1; else 0.
  size_t partition() const { return partition_; }
  // The block that has the present entry.
  const BlockHandle& block() const { return leaf_.block; }

  // Corruption, NotSupported, IOError or MemoryLimit; or OK.
  const rocksdb::Status& status() const { return status_; }

 private:
  // A block of the index, and the entries of it that were not read yet.
  struct Level {
    explicit Level(const SstFile& file) : reader(file) {}

    BlockReader reader;
    std::optional<EntryCursor> entries;
    BlockHandle block;
    uint64_t previous_end = 0;  // of the blocks that were named
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
