#include "tools/cli/table.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "tools/cli/text.h"

namespace rowbloom::cli {

Table::Table(std::string_view columns) {
  std::istringstream words{std::string(columns)};
  for (std::string column; words >> column;) {
    const size_t sign = column.find('=');  // npos + 1 is 0
    columns_.push_back(
        {column.substr(0, sign), WithBlanks(column.substr(sign + 1))});
  }
  widths_.resize(columns_.size());
}

void Table::Add(const Record& record) {
  std::vector<Record::Cell>& row = rows_.emplace_back();
  for (const Column& column : columns_) {
    row.push_back(record.CellOf(column.member));
    text_bytes_ += row.back().text.size();
  }
}

std::vector<size_t> Table::Shown() const {
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool is_new = std::ranges::any_of(
        rows_, [i](const auto& row) { return !row[i].is_null; });
    if (is_new || widths_[i] > 0) shown.push_back(i);
  }
  return shown;
}

bool Table::IsRight(size_t column) const {
  return std::ranges::none_of(rows_, [column](const auto& row) {
    return !row[column].is_null && !row[column].is_number;
  });
}

void Table::Print(std::ostream& out, size_t indent) {
  if (rows_.empty()) return;
  // Limits the width, so that one cell does not make all lines long.
  constexpr size_t kMostWidth = 100;
  const std::vector<size_t> shown = Shown();
  bool has_new = false;
  std::vector<bool> is_right(columns_.size());
  for (const size_t i : shown) {
    is_right[i] = IsRight(i);
    has_new = has_new || widths_[i] == 0;
    widths_[i] = std::max(widths_[i], TitleOf(i).size());
    for (const auto& row : rows_) {
      widths_[i] =
          std::max(widths_[i], std::min(row[i].text.size(), kMostWidth));
    }
  }
  // Takes the rows first, so that a row whose printing throws is not retried.
  const auto rows = std::exchange(rows_, {});
  text_bytes_ = 0;
  const auto print_line = [&](const auto& text_of) {
    size_t blanks = indent;  // before the next text
    for (const size_t i : shown) {
      const std::string& text = text_of(i);
      const size_t missing = widths_[i] - std::min(text.size(), widths_[i]);
      if (is_right[i]) blanks += missing;
      if (!text.empty()) {
        out << std::string(std::exchange(blanks, 0), ' ') << text;
      }
      blanks += (is_right[i] ? 0 : missing) + 2;
    }
    out << "\n";
  };
  if (has_new) print_line([&](size_t i) -> auto& { return TitleOf(i); });
  for (const auto& row : rows) {
    print_line([&](size_t i) -> auto& { return row[i].text; });
  }
}

}  // namespace rowbloom::cli
