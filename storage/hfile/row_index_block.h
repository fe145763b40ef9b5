// ROW_INDEX_V1 stores whole cells, and after them an index of the rows, so that
// a seek walks over the cells of one row only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/format/coding.h"
#include "storage/hfile/data_block.h"

namespace rowbloom::hfile {

class RowIndexCells : public BlockCells {
 public:
  explicit RowIndexCells(const CellForm& form) : form_(form) {}

  [[nodiscard]] bool Start(std::string_view payload) override;
  [[nodiscard]] bool Next() override;
  [[nodiscard]] bool SkipTo(const HFileKey& key) override;

 private:
  // Reads the index at the end of the payload.
  bool ReadIndex();
  uint32_t RowOffset(size_t row) const {
    return LoadBig<uint32_t>(row_offsets_ + sizeof(uint32_t) * row);
  }
  // Checks the offset of a row and moves to the row's first cell.
  bool MoveToRow(size_t row);
  // Fails after the last cell if the index has another row.
  bool CheckEnd();

  const CellForm form_;
  std::string_view cells_;
  const char* row_offsets_ = nullptr;  // in the payload
  size_t rows_ = 0;
  size_t next_row_ = 0;  // the first row after the current cell
};

class RowIndexBuilder : public BlockBuilder {
 public:
  explicit RowIndexBuilder(const CellForm& form);

  void Add(const HFileCellView& cell) override;
  std::string_view Finish() override;
  void Clear() override;

 private:
  const CellForm form_;
  std::string payload_;
  std::string row_offsets_;  // as Finish writes them
  std::string row_;          // the last one
};

}  // namespace rowbloom::hfile
