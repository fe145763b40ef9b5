// The target walks over the cells of a data block's payload, in every encoding.
// The first byte of an input chooses encoding and form, the rest is the
// payload.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/tag_dictionary.h"
#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {
namespace {

using hfile::BlockCells;
using hfile::CellForm;

constexpr uint64_t kMaxCellsBytes = 1 << 20;

struct Form {
  explicit Form(uint8_t choice) {
    constexpr HFileEncoding kEncodings[] = {
        HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1};
    encoding = kEncodings[(choice & 7) % std::size(kEncodings)];
    cells.tags = (choice & 8) != 0;
    cells.mvcc = (choice & 16) != 0;
    cells.tags_compressed = (choice & 32) != 0;
  }

  HFileEncoding encoding;
  CellForm cells;
};

// Reads all cells that can be read, and says whether that is all.
bool ReadCells(BlockCells* block, std::string_view payload,
               std::vector<HFileCell>* cells) {
  bool moved = block->Start(payload);
  uint64_t key_bytes = 0;
  while (moved) {
    cells->emplace_back(block->cell());
    const HFileCell& cell = cells->back();
    key_bytes += cell.row.size() + cell.family.size() + cell.qualifier.size();
    Check(key_bytes <= std::max<uint64_t>(kMaxCellsBytes, payload.size()),
          "cells are no larger than the limit");
    Check(block->offset() < payload.size(), "a cell starts in the payload");
    if (!block->HasNext()) return true;
    moved = block->Next();
  }
  Check(block->status().IsCorruption() || block->status().IsMemoryLimit(),
        "bytes that cannot be read are corrupt or too large");
  Check(block->status().getState() != nullptr, "an error says what is wrong");
  return false;
}

bool AreSorted(const std::vector<HFileCell>& cells) {
  return std::is_sorted(
      cells.begin(), cells.end(), [](const HFileCell& a, const HFileCell& b) {
        return CompareHFileKeys(a.View().key(), b.View().key()) < 0;
      });
}

// A seek for each of a few cells leads to the first with its key.
void CheckSkips(BlockCells* block, std::string_view payload,
                const std::vector<HFileCell>& cells) {
  const size_t step = std::max<size_t>(1, cells.size() / 8);
  for (size_t i = 0; i < cells.size(); i += step) {
    const HFileKey key = cells[i].View().key();
    const auto first =
        std::find_if(cells.begin(), cells.end(), [&key](const HFileCell& cell) {
          return CompareHFileKeys(cell.View().key(), key) == 0;
        });
    bool moved = block->Start(payload);
    if (CompareHFileKeys(block->cell().key(), key) < 0) {
      moved = moved && block->SkipTo(key);
    }
    while (moved && CompareHFileKeys(block->cell().key(), key) < 0) {
      moved = block->HasNext() && block->Next();
    }
    Check(moved && HFileCell(block->cell()) == *first,
          "a seek leads to the first cell of a key");
  }
}

// Cells that were read are written, and read the same.
void CheckBuilder(const Form& form, const std::vector<HFileCell>& cells) {
  for (const HFileCell& cell : cells) {
    // No writer takes these.
    if (cell.family != cells[0].family ||
        (form.cells.tags_compressed && !hfile::AreTags(cell.tags))) {
      return;
    }
  }
  const auto builder = hfile::NewBlockBuilder(form.encoding, form.cells);
  for (const HFileCell& cell : cells) builder->Add(cell.View());
  const std::string payload(builder->Finish());
  const auto block =
      hfile::NewBlockCells(form.encoding, form.cells, 4 * kMaxCellsBytes);
  std::vector<HFileCell> again;
  Check(ReadCells(block.get(), payload, &again) && again == cells,
        "what was read can be written");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rowbloom;
  if (size == 0) return 0;
  const fuzz::Form form(data[0]);
  const std::string_view payload(reinterpret_cast<const char*>(data) + 1,
                                 size - 1);
  const auto block =
      hfile::NewBlockCells(form.encoding, form.cells, fuzz::kMaxCellsBytes);
  std::vector<HFileCell> cells;
  if (!fuzz::ReadCells(block.get(), payload, &cells)) return 0;
  // The second walk meets what the first has left behind.
  std::vector<HFileCell> again;
  fuzz::Check(fuzz::ReadCells(block.get(), payload, &again) && again == cells,
              "a block reads the same twice");
  if (fuzz::AreSorted(cells)) fuzz::CheckSkips(block.get(), payload, cells);
  fuzz::CheckBuilder(form, cells);
  return 0;
}
