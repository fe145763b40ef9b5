// FAST_DIFF stores the parts of row, qualifier, timestamp, type and value that
// a cell does not share with the previous cell. Many tables use it by default.
#pragma once

#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {

class FastDiffCells : public DeltaCells {
 public:
  FastDiffCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kFastDiff, form, max_cells_bytes) {}

 private:
  bool ReadKeyAndValue() override;
  bool ReadTimestamp(size_t common_bytes);
};

class FastDiffBuilder : public DeltaBuilder {
 public:
  explicit FastDiffBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kFastDiff, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

}  // namespace rowbloom::hfile
