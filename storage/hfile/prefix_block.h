// PREFIX leaves out the first bytes of a key if the previous key has the same.
#pragma once

#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {

class PrefixCells : public DeltaCells {
 public:
  PrefixCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kPrefix, form, max_cells_bytes) {}

 private:
  bool ReadKeyAndValue() override;
};

class PrefixBuilder : public DeltaBuilder {
 public:
  explicit PrefixBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kPrefix, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

}  // namespace rowbloom::hfile
