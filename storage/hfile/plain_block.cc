#include "storage/hfile/plain_block.h"

namespace rowbloom::hfile {

bool PlainCells::Start(std::string_view payload) {
  SetPayload(payload);
  if (payload.empty()) return Fail("at least one cell expected, found none");
  return Next();
}

bool PlainCells::Next() { return ReadPlainCell(form_); }

void PlainBuilder::Add(const HFileCellView& cell) {
  AppendCell(cell, form_, &payload_);
  cells_bytes_ = encoded_bytes_ = payload_.size();
}

void PlainBuilder::Clear() {
  payload_.clear();
  cells_bytes_ = encoded_bytes_ = 0;
}

}  // namespace rowbloom::hfile
