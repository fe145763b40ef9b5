// NONE stores whole cells, one after another.
#pragma once

#include "storage/hfile/data_block.h"

namespace rowbloom::hfile {

class PlainCells : public BlockCells {
 public:
  explicit PlainCells(const CellForm& form) : form_(form) {}

  [[nodiscard]] bool Start(std::string_view payload) override;
  [[nodiscard]] bool Next() override;

 private:
  const CellForm form_;
};

class PlainBuilder : public BlockBuilder {
 public:
  explicit PlainBuilder(const CellForm& form) : form_(form) {}

  void Add(const HFileCellView& cell) override;
  std::string_view Finish() override { return payload_; }
  void Clear() override;

 private:
  const CellForm form_;
  std::string payload_;
};

}  // namespace rowbloom::hfile
