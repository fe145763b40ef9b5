// Implements HFileIterator: holds a path of index blocks from the root down,
// and a data block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_reader.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/block_index.h"
#include "storage/hfile/data_block.h"

namespace rowbloom::hfile {

class Reader;

class Iterator : public HFileIterator {
 public:
  Iterator(const Reader& reader, const HFileReadOptions& options);

  void SeekToFirst() override;
  void Seek(const HFileKey& key) override;
  void Next() override;
  bool Valid() const override { return valid_; }
  const HFileCellView& cell() const override { return cells_->cell(); }
  const rocksdb::Status& status() const override { return status_; }

  // Continues after damage, that is, after status().IsCorruption(): skips the
  // damaged block and moves to the next cell, the end of the file, or the next
  // damage. Returns false and does nothing if that could cause a cycle. The
  // order of cells is not checked across the gap.
  bool SkipDamage();

  // Return the current data block and its key in the index. REQUIRES Valid().
  const Block& block() const { return *block_; }
  std::string_view index_key() const;

 private:
  // An index block between the root and the data.
  struct Level {
    std::shared_ptr<const Block> block;
    NonRootIndex index;
    size_t entry = 0;
  };

  // Makes a move, or fails if there is no memory for it.
  template <typename Move>
  void Run(const Move& move);

  // Each of these returns false after an error, which status() returns.
  bool Start();
  // Loads the levels from `level` on and the data block. Each level is at the
  // entry for `key`, or at its first entry if `key` is null.
  bool Descend(size_t level, const std::string* key);
  bool LoadLevel(size_t level, const std::string* key);
  bool LoadData();
  // Moves to the first cell of the next data block; false also at the end.
  bool NextBlock();
  // Moves to the first data block after the current block of this level.
  bool Advance(size_t level);
  // Moves to the next cell of the block. REQUIRES that there is one.
  bool Step();
  bool CheckOrder(const HFileKey& before);
  bool Fail(const rocksdb::Status& status);
  bool FailAtCell(const rocksdb::Status& problem);
  bool FailAtCell(const std::string& problem);

  BlockLocation Child(size_t level) const;
  std::string_view ChildKey(size_t level) const;

  const Reader& reader_;
  const bool fill_cache_;
  const bool ordered_;
  rocksdb::Status status_;
  bool valid_ = false;

  size_t root_entry_ = 0;
  std::vector<Level> levels_;
  // Data blocks ascend in the file. A next block must not start before this
  // offset, so that an index cannot send a reader into a cycle.
  uint64_t next_data_offset_ = 0;
  // The place of the error: this level of the index, or the data block.
  size_t failed_level_ = 0;
  bool can_skip_ = false;
  uint64_t skipped_index_offset_ = 0;
  std::shared_ptr<const Block> block_;
  std::shared_ptr<Block> own_block_;
  Buffer scratch_;
  std::string last_key_;  // the previous data block's
  std::string seek_key_;
  const std::unique_ptr<BlockCells> cells_;  // block_'s
};

}  // namespace rowbloom::hfile
