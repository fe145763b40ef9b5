// DIFF is like FAST_DIFF, but stores a timestamp as a difference if that is
// shorter, and every value whole.
#pragma once

#include <string_view>

#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {

class DiffCells : public DeltaCells {
 public:
  DiffCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kDiff, form, max_cells_bytes) {}

 private:
  bool ReadHead() override;
  bool ReadKeyAndValue() override;
  bool ReadTimestamp(uint8_t flags);

  std::string_view family_;  // all cells'; points into the payload
};

class DiffBuilder : public DeltaBuilder {
 public:
  explicit DiffBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kDiff, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

}  // namespace rowbloom::hfile
