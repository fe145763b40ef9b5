// HFileIterator as it is: a path of index blocks from the root down, and a data
// block.
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
  HFileSeekResult SeekTo(const HFileKey& key) override;
  void Next() override;
  bool Valid() const override { return valid_; }
  const HFileCellView& cell() const override { return cells_->cell(); }
  const rocksdb::Status& status() const override { return status_; }

  // After damage, that is status().IsCorruption(): goes on behind the block
  // that has it, to the next cell, the end of the file, or the next damage.
  // False, and nothing else, where that could lead round and round. The order
  // of cells is not checked across the gap.
  bool SkipDamage();

  // The data block here, and the key that the index has for it. REQUIRES
  // Valid().
  const Block& block() const { return *block_; }
  std::string_view index_key() const;

 private:
  // An index block between the root and the data.
  struct Level {
    std::shared_ptr<const Block> block;
    NonRootIndex index;
    size_t entry = 0;
  };

  // Makes a move, or fails for want of memory.
  template <typename Move>
  void Run(const Move& move);

  // Each of these returns false after an error, when status() says what.
  bool Start();
  // Loads levels from `level` on, and the data block; each at the entry for
  // `key`, or at its first entry.
  bool Descend(size_t level, const std::string* key);
  bool LoadLevel(size_t level, const std::string* key);
  bool LoadData();
  // Moves into the data block where the key belongs, and to the first cell at
  // or after the key, as kExact or kFirstOfBlock; or if there is none in it to
  // its last cell, as kBefore. `*steps` counts the cells from where SkipTo led.
  HFileSeekResult SeekInBlock(const HFileKey& key, size_t* steps);
  // Moves to the first cell of the next data block; false also at the end.
  bool NextBlock();
  // Moves to the first data block behind what is now at this level.
  bool Advance(size_t level);
  // Moves to the next cell of the block, which there is.
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
  // Data blocks follow each other in the file. A block that starts before this
  // offset is no next one: an index may not send a reader round and round.
  uint64_t next_data_offset_ = 0;
  // The place where an error was met: this level of the index, or the data
  // block.
  size_t failed_level_ = 0;
  bool can_skip_ = false;
  uint64_t skipped_index_offset_ = 0;
  std::shared_ptr<const Block> block_;
  std::shared_ptr<Block> own_block_;
  Buffer scratch_;
  std::string last_key_;                     // the previous data block's
  const std::unique_ptr<BlockCells> cells_;  // block_'s
};

}  // namespace rowbloom::hfile
