// Table prints records of one kind as text, a row for each.
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
  // `columns` names members of the records, separated by blanks: "key
  // file_bytes". A title is the name, with blanks for underscores, or the
  // text after '=': "key=up_to_key file_bytes".
  explicit Table(std::string_view columns);

  void Add(const Record& record);

  // Returns the indexes of the columns to show: those for which a record had a
  // value.
  std::vector<size_t> Shown() const;
  const std::string& TitleOf(size_t column) const {
    return columns_[column].title;
  }
  // Tells whether a column is aligned to the right: it has numbers alone.
  bool IsRight(size_t column) const;
  const std::vector<std::vector<Record::Cell>>& rows() const { return rows_; }
  // The size of the text in the rows.
  size_t text_bytes() const { return text_bytes_; }

  // Prints the rows and removes them. Two spaces separate columns, and `indent`
  // spaces start a line. Titles are printed above the first rows, and again
  // when a further column has values. A column is as wide as its widest cell so
  // far, up to a limit.
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
