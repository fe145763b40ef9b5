#include "rowbloom/level_allocation.h"

namespace rowbloom {

std::string Problem(const LevelShape& shape) {
  if (shape.levels < 1 || shape.levels > LevelShape::kMaxLevels) {
    return "levels " + std::to_string(shape.levels) + ": expected 1 to " +
           std::to_string(LevelShape::kMaxLevels);
  }
  if (!(shape.size_ratio >= 1 &&
        shape.size_ratio <= LevelShape::kMaxSizeRatio)) {
    return "size_ratio " + std::to_string(shape.size_ratio) +
           ": expected 1 to " +
           std::to_string(static_cast<int>(LevelShape::kMaxSizeRatio));
  }
  if (shape.level0_files < 1 ||
      shape.level0_files > LevelShape::kMaxLevel0Files) {
    return "level0_files " + std::to_string(shape.level0_files) +
           ": expected 1 to " + std::to_string(LevelShape::kMaxLevel0Files);
  }
  return "";
}

}  // namespace rowbloom
