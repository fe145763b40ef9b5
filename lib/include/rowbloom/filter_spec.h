// FilterSpec describes a filter. The policy builds it, Advise recommends it,
// and Predict says what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// A tree as leveled compaction keeps it, over whose levels filter bits are
// spread: doc/planning.md has the model.
struct LevelShape {
  static constexpr uint32_t kMaxLevels = 63;
  static constexpr double kMaxSizeRatio = 1000;
  static constexpr uint32_t kMaxLevel0Files = 1000;

  // Levels below level 0 that hold data, 1 to kMaxLevels. Four, at a ratio of
  // 10, are those of a few hundred gigabytes.
  uint32_t levels = 4;

  // The size of a level over that of the one above it, 1 to kMaxSizeRatio:
  // RocksDB's max_bytes_for_level_multiplier.
  double size_ratio = 10;

  // Files of level 0, together as large as the first level below, 1 to
  // kMaxLevel0Files: RocksDB's level0_file_num_compaction_trigger.
  uint32_t level0_files = 4;

  // Tells whether the levels that hold data are the last ones that the tree has
  // (RocksDB's level_compaction_dynamic_level_bytes, on by default from 8.4),
  // or the first ones.
  bool dynamic_level_bytes = true;

  bool operator==(const LevelShape&) const = default;
};

struct FilterSpec {
  // kRowCol serves gets and row scans. kRow costs a tenth of the bytes at ten
  // columns a row and serves row scans as well, but cannot tell columns apart.
  // kNone builds no filter; the filters that files have are still read.
  BloomType bloom_type = BloomType::kRowCol;

  // The split of a key into row and qualifier. A policy needs one, with kNone
  // too: there is no default, as a layout that does not fit the keys gives
  // filters that skip nothing. The policy stores it in every filter block: a
  // file is probed with the layout that it was built with.
  std::optional<KeyLayout> key_layout;

  FilterKind kind = FilterKind::kBloom;

  // For kRibbon: files that are made for a level before this one get kBloom, at
  // the same rates, which is faster to build. Flushes count as level -1, and
  // INT_MAX means every file. The number means the same as in
  // rocksdb::NewRibbonFilterPolicy, whose default is 0. Levels are known under
  // leveled and universal compaction. With other styles, and in files of
  // SstFileWriter, all numbers but INT_MAX mean kRibbon. Numbers below -1 are
  // refused with kRibbon.
  int bloom_before_level = -1;

  // Target of each section, inside (0, 1). 0.01 costs 9.9 bits for each row and
  // each cell; see BitsPerKey in bloom_math.h. With level_allocation or
  // row_spread it is the rate that costs as many bits if it is the same
  // everywhere.
  double false_positive_rate = 0.01;

  // Bytes of the row that kRowPrefixFixedLength indexes, 1 to
  // KeyLayout::kMaxRowBytes. With other types it must be 0.
  uint32_t row_prefix_length = 0;

  // The tree whose levels share the bits: the top levels get more, the bottom
  // fewer, so that reads of absent keys open the fewest files
  // (doc/planning.md). nullopt: one rate at every level. Other styles than
  // leveled compaction, and files of SstFileWriter, have one rate always.
  std::optional<LevelShape> level_allocation;

  // For kRowCol: the share of the files that a read considers that has cells of
  // its row, above 0, up to 1. It moves bits from the ROWCOL section to the ROW
  // section (doc/planning.md). 0.125 where every row is in one of eight
  // files; a share that is too large loses less than one that is too small.
  // nullopt: each row and each cell has the same bits.
  std::optional<double> row_spread;

  bool operator==(const FilterSpec&) const = default;
};

// The first member that is out of its range, as a sentence that names it, or
// "". A key_layout that is unset is in its range. Pure and thread-safe.
std::string Problem(const FilterSpec& spec);
std::string Problem(const LevelShape& shape);

}  // namespace rowbloom
