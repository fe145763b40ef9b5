// The cells that benchmarks of databases write, and names like theirs that do
// not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bench/random.h"
#include "rocksdb/status.h"
#include "rowbloom/key_layout.h"

namespace rowbloom::bench {

struct InputCell {
  std::string row;
  std::string qualifier;
  std::string value;
};

// Rows "user" and 16 hexadecimal digits that look random, columns "column0" and
// so on, values of about 20 bytes. Each row has `columns` of them or, with
// `fewest` below that, any number from `fewest` up, by the row's number.
std::vector<InputCell> SyntheticCells(uint64_t rows, uint64_t columns,
                                      uint64_t fewest);
inline std::vector<InputCell> SyntheticCells(uint64_t rows, uint64_t columns) {
  return SyntheticCells(rows, columns, columns);
}

// A cell under its RocksDB key.
struct Cell {
  std::string key;
  size_t row_bytes = 0;  // the row's share of the key
  std::string value;

  std::string_view Row() const {
    return std::string_view(key).substr(0, row_bytes);
  }
  std::string_view Qualifier() const {
    return std::string_view(key).substr(row_bytes);
  }
};

// Indexes into Cells::all(), in the order of the keys: one file's cells.
using CellsOfFile = std::vector<size_t>;

// All cells by key, each once.
class Cells {
 public:
  // Keeps the last one of equal cells; *replaced says how many did not stay.
  // InvalidArgument: an empty row, or one that is too long.
  rocksdb::Status Fill(std::vector<InputCell> input, uint64_t* replaced);

  const KeyLayout& layout() const { return layout_; }
  const std::vector<Cell>& all() const { return cells_; }
  size_t rows() const { return row_starts_.size() - 1; }
  uint64_t bytes() const { return bytes_; }  // keys and values
  // [begin, end) of a row's cells.
  size_t RowBegin(size_t row) const { return row_starts_[row]; }
  size_t RowEnd(size_t row) const { return row_starts_[row + 1]; }

  bool HasRow(std::string_view row_bytes) const;
  bool HasKey(std::string_view key) const;

 private:
  std::vector<Cell>::const_iterator LowerBound(std::string_view key) const;

  KeyLayout layout_ = KeyLayout::Escaped();
  std::vector<Cell> cells_;
  std::vector<size_t> row_starts_;
  uint64_t bytes_ = 0;
};

// Draws cells and rows, and names that do not exist and look like those that
// do. Names that go into the same `used` are all different: a filter's answer
// to one name is always the same, so that a second lookup would say nothing
// new.
class Draw {
 public:
  // `cells` must outlive this, and have some.
  Draw(const Cells& cells, uint64_t seed) : cells_(cells), random_(seed) {}

  const Cell& AnyCell() {
    return cells_.all()[random_.Below(cells_.all().size())];
  }
  size_t AnyRow() { return random_.Below(cells_.rows()); }

  // The row bytes of a row that does not exist.
  std::string AbsentRow(std::unordered_set<std::string>* used);
  // The key of a cell that an existing row does not have.
  std::string AbsentColumn(std::unordered_set<std::string>* used);
  // The key of a cell that the row of these bytes does not have. The row itself
  // may be absent.
  std::string AbsentColumnOf(std::string_view row_bytes,
                             std::unordered_set<std::string>* used);

 private:
  std::string RowName(size_t row) const;
  char ByteLike(std::string_view like);
  void Change(std::string* name, std::string_view other, bool longer);

  const Cells& cells_;
  Random random_;
};

}  // namespace rowbloom::bench
