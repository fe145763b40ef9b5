#include "storage/hfile/plain_block.h"

#include "lib/bytes/text.h"

namespace rowbloom::hfile {

bool PlainCells::Start(std::string_view payload) {
  SetPayload(payload);
  if (payload.empty()) return Fail("at least one cell expected, found none");
  return Next();
}

bool PlainCells::Next() {
  const std::string_view bytes = rest_.rest();
  offset_ = OffsetOfRest();
  size_t cell_bytes = 0;
  const char* problem = ParseCell(bytes, form_, &cell_, &cell_bytes);
  if (problem != nullptr) {
    return Fail(Concat(DescribeCell(bytes), ": ", problem));
  }
  rest_ = Cursor(bytes.substr(cell_bytes));
  return true;
}

void PlainBuilder::Add(const HFileCellView& cell) {
  AppendCell(cell, form_, &payload_);
  cells_bytes_ = encoded_bytes_ = payload_.size();
}

void PlainBuilder::Clear() {
  payload_.clear();
  cells_bytes_ = encoded_bytes_ = 0;
}

}  // namespace rowbloom::hfile
