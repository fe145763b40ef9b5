// Table: records of one kind as text, a row each.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/record.h"

namespace rowbloom::cli {

class Table {
 public:
  // `columns` are members of the records, with a blank between two:
  // "key file_bytes", whose titles are the names, with blanks; or other titles,
  // "key=up_to_key file_bytes".
  explicit Table(std::string_view columns);

  void Add(const Record& record);

  // The columns to show, by their numbers: those that a record had a value for.
  std::vector<size_t> Shown() const;
  const std::string& TitleOf(size_t column) const {
    return columns_[column].title;
  }
  // A column of numbers alone is put to the right.
  bool IsRight(size_t column) const;
  const std::vector<std::vector<Record::Cell>>& rows() const { return rows_; }
  // The size of the text in the rows.
  size_t text_bytes() const { return text_bytes_; }

  // Prints the rows and forgets them, two spaces between columns and `indent`
  // before them. Titles are above the first rows, and above those that have
  // further columns. Each column is as wide as its widest cell so far, but for
  // very long ones.
  void Print(std::ostream& out, size_t indent);

 private:
  struct Column {
    std::string member;
    std::string title;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<Record::Cell>> rows_;
  std::vector<size_t> widths_;  // 0: not printed so far
  size_t text_bytes_ = 0;
};

}  // namespace rowbloom::cli
