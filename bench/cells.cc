#include "bench/cells.h"

#include <algorithm>
#include <utility>

namespace rowbloom::bench {
namespace {

// After so many names that exist or were used, names become longer.
static constexpr int kTries = 8;

}  // namespace

using rocksdb::Status;

std::vector<InputCell> SyntheticCells(uint64_t rows, uint64_t columns,
                                      uint64_t fewest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::vector<InputCell> cells;
  cells.reserve(rows * columns);
  for (uint64_t row = 0; row < rows; ++row) {
    // Mix is a bijection: no two rows get the same name.
    uint64_t bits = Random::Mix(row + 1);
    std::string name = "user";
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) {
      name.push_back(kDigits[bits & 15]);
    }
    const uint64_t own = columns - row % (columns - fewest + 1);
    for (uint64_t column = 0; column < own; ++column) {
      cells.push_back(
          {name, "column" + std::to_string(column),
           "value " + std::to_string(row) + "/" + std::to_string(column)});
    }
  }
  return cells;
}

Status Cells::Fill(std::vector<InputCell> input, uint64_t* replaced) {
  cells_.reserve(input.size());
  for (InputCell& cell : input) {
    if (cell.row.empty()) {
      return Status::InvalidArgument("a cell of the input has an empty row");
    }
    auto row = layout_.EncodeRow(cell.row);
    if (!row) return Status::InvalidArgument(row.error());
    const size_t row_bytes = row->size();
    cells_.push_back(
        {std::move(*row) + cell.qualifier, row_bytes, std::move(cell.value)});
    cell = {};
  }
  std::stable_sort(cells_.begin(), cells_.end(),
                   [](const Cell& a, const Cell& b) { return a.key < b.key; });
  // The last of equal ones stays, as in a store.
  size_t kept = 0;
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (i + 1 < cells_.size() && cells_[i].key == cells_[i + 1].key) continue;
    if (kept != i) cells_[kept] = std::move(cells_[i]);
    ++kept;
  }
  *replaced = cells_.size() - kept;
  cells_.resize(kept);
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (i == 0 || cells_[i].Row() != cells_[i - 1].Row()) {
      row_starts_.push_back(i);
    }
    bytes_ += cells_[i].key.size() + cells_[i].value.size();
  }
  row_starts_.push_back(cells_.size());
  return Status::OK();
}

bool Cells::HasRow(std::string_view row_bytes) const {
  const auto at = LowerBound(row_bytes);
  return at != cells_.end() && at->Row() == row_bytes;
}

bool Cells::HasKey(std::string_view key) const {
  const auto at = LowerBound(key);
  return at != cells_.end() && at->key == key;
}

std::vector<Cell>::const_iterator Cells::LowerBound(
    std::string_view key) const {
  return std::lower_bound(
      cells_.begin(), cells_.end(), key,
      [](const Cell& cell, std::string_view k) { return cell.key < k; });
}

std::string Draw::RowName(size_t row) const {
  return cells_.layout()
      .DecodeRow(cells_.all()[cells_.RowBegin(row)].Row())
      .value_or("");
}

// A byte out of `like`, or 'x' if that is empty.
char Draw::ByteLike(std::string_view like) {
  return like.empty() ? 'x' : like[random_.Below(like.size())];
}

// `name` with one byte of another name put in place of one of its own, or at
// its end.
void Draw::Change(std::string* name, std::string_view other, bool longer) {
  const char byte = ByteLike(other);
  if (longer || name->empty()) {
    name->push_back(byte);
  } else {
    (*name)[random_.Below(name->size())] = byte;
  }
}

std::string Draw::AbsentRow(std::unordered_set<std::string>* used) {
  std::string name = RowName(AnyRow());
  for (int tries = 1;; ++tries) {
    Change(&name, RowName(AnyRow()), tries > kTries);
    // Cannot fail: every row that was written has been encoded the same way.
    const auto row_bytes = cells_.layout().EncodeRow(name);
    if (row_bytes && !cells_.HasRow(*row_bytes) &&
        used->insert(*row_bytes).second) {
      return *row_bytes;
    }
  }
}

std::string Draw::AbsentColumn(std::unordered_set<std::string>* used) {
  return AbsentColumnOf(cells_.all()[cells_.RowBegin(AnyRow())].Row(), used);
}

std::string Draw::AbsentColumnOf(std::string_view row_bytes,
                                 std::unordered_set<std::string>* used) {
  std::string qualifier;
  for (int tries = 1;; ++tries) {
    if (tries <= kTries) {
      qualifier = AnyCell().Qualifier();  // some other row has this one
    } else {
      Change(&qualifier, AnyCell().Qualifier(), tries > 2 * kTries);
    }
    std::string key = std::string(row_bytes) + qualifier;
    if (!cells_.HasKey(key) && used->insert(key).second) return key;
  }
}

}  // namespace rowbloom::bench
