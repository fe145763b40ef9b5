#include "storage/hfile/row_index_block.h"

#include "lib/bytes/text.h"
#include "storage/format/coding.h"

namespace rowbloom::hfile {

bool RowIndexCells::Start(std::string_view payload) {
  SetPayload(payload);
  return ReadEncodingId(HFileEncoding::kRowIndexV1) && ReadIndex() &&
         MoveToRow(0) && CheckEnd();
}

bool RowIndexCells::ReadIndex() {
  // The number of rows before their offsets, and the length of the cells after.
  constexpr size_t kFixedBytes = 2 * sizeof(uint32_t);
  const std::string_view bytes = rest_;
  offset_ = payload_.size();
  if (bytes.size() < kFixedBytes) return Fail("row index is cut off");
  const uint64_t cells_bytes =
      LoadBig<uint32_t>(bytes.data() + bytes.size() - sizeof(uint32_t));
  if (cells_bytes > bytes.size() - kFixedBytes) {
    return Fail(Concat("cells of ", cells_bytes, " bytes, expected at most ",
                       bytes.size() - kFixedBytes));
  }
  rows_ = LoadBig<uint32_t>(bytes.data() + cells_bytes);
  row_offsets_ = bytes.data() + cells_bytes + sizeof(uint32_t);
  const uint64_t expected_rows =
      (bytes.size() - kFixedBytes - cells_bytes) / sizeof(uint32_t);
  offset_ = kEncodingIdBytes + cells_bytes;
  if (rows_ != expected_rows ||
      cells_bytes + kFixedBytes + rows_ * sizeof(uint32_t) != bytes.size()) {
    return Fail(Concat("index of ", rows_, " rows in ",
                       bytes.size() - cells_bytes, " bytes, expected ",
                       kFixedBytes, " and ", sizeof(uint32_t), " a row"));
  }
  cells_ = bytes.substr(0, cells_bytes);
  if (rows_ == 0) return Fail("at least one row expected, found none");
  return true;
}

bool RowIndexCells::MoveToRow(size_t row) {
  const uint32_t at = RowOffset(row);
  if (at >= cells_.size() || (row == 0 && at != 0)) {
    return Fail(Concat("row ", row, " of ", rows_, " starts at ", at,
                       ", expected ", row == 0 ? "0 in " : "less than ",
                       cells_.size()));
  }
  next_row_ = row + 1;
  rest_ = cells_.substr(at);
  return ReadPlainCell(form_);
}

bool RowIndexCells::Next() {
  const std::string_view row = cell_.row;
  const size_t at = cells_.size() - rest_.size();
  if (!ReadPlainCell(form_)) return false;
  // A seek trusts the index; a walk over all cells verifies it.
  const bool is_in_index = next_row_ < rows_ && RowOffset(next_row_) == at;
  if (is_in_index != (cell_.row != row)) {
    return Fail(Concat("row ", next_row_, " of ", rows_,
                       is_in_index ? " starts here, inside of a row"
                                   : " starts here, the index has none"));
  }
  if (is_in_index) ++next_row_;
  return CheckEnd();
}

bool RowIndexCells::CheckEnd() {
  if (HasNext() || next_row_ == rows_) return true;
  return Fail(Concat("cells of ", next_row_, " rows, expected ", rows_));
}

bool RowIndexCells::SkipTo(const HFileKey& key) {
  // Finds the key's row, or the last one before it.
  size_t row = 0;
  size_t end = rows_;
  while (end - row > 1) {
    const size_t middle = row + (end - row) / 2;
    if (!MoveToRow(middle)) return false;
    if (cell_.row > key.row) {
      end = middle;
    } else {
      row = middle;
    }
  }
  return MoveToRow(row);
}

RowIndexBuilder::RowIndexBuilder(const CellForm& form) : form_(form) {
  Clear();
}

void RowIndexBuilder::Add(const HFileCellView& cell) {
  if (empty() || cell.row != row_) {
    PutBig<uint32_t>(&row_offsets_, static_cast<uint32_t>(cells_bytes_));
    row_ = cell.row;
  }
  AppendCell(cell, form_, &payload_);
  cells_bytes_ = payload_.size() - kEncodingIdBytes;
  encoded_bytes_ = cells_bytes_ + row_offsets_.size();
}

std::string_view RowIndexBuilder::Finish() {
  PutBig<uint32_t>(
      &payload_, static_cast<uint32_t>(row_offsets_.size() / sizeof(uint32_t)));
  payload_ += row_offsets_;
  PutBig<uint32_t>(&payload_, static_cast<uint32_t>(cells_bytes_));
  return payload_;
}

void RowIndexBuilder::Clear() {
  payload_.clear();
  PutBig<uint16_t>(&payload_,
                   static_cast<uint16_t>(HFileEncoding::kRowIndexV1));
  row_offsets_.clear();
  cells_bytes_ = encoded_bytes_ = 0;
}

}  // namespace rowbloom::hfile
