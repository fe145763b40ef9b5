// The shape of the tree that filter bits are spread over: small runs at the top
// get lower false positive rates, so that reads of absent keys open the fewest
// files for the same bytes. doc/planning.md has the model.
#pragma once

#include <cstdint>
#include <string>

namespace rowbloom {

// A tree as leveled compaction keeps it.
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

// The first member of `shape` that is out of its range, as a sentence that
// names it, or "". Pure and thread-safe.
std::string Problem(const LevelShape& shape);

}  // namespace rowbloom
