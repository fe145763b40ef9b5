// Filters choose the cells that reads of rows give. They compose, and are
// evaluated while cells are read: cells that they drop are not copied.
//
//   ScanOptions scan;
//   scan.row.filter =
//       Filter::And({Filter::Qualifier(Match::Prefix("mail")),
//                    Filter::Not(Filter::Value(Match::Equal("")))});
//   RowScanner rows;
//   rocksdb::Status s = store->Scan(scan, &rows);
//
// A filter sees the cells that the read would give without it: the newest
// max_versions in the time range, in the order of the read. A row without cells
// after the filter is not given, and column_limit counts columns after it. The
// cells behind the last of these columns reach no filter but RowsWith.
// doc/store.md lists HBase's filters and their names here. Filters are
// immutable, cheap to copy, and safe to use from any thread. State, such as the
// rows of a page, belongs to one read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace rowbloom {

// A test of bytes, which are compared as unsigned numbers from the first on.
class Match {
 public:
  static Match Less(std::string bytes) {
    return {Kind::kLess, std::move(bytes)};
  }
  static Match AtMost(std::string bytes) {
    return {Kind::kAtMost, std::move(bytes)};
  }
  static Match Equal(std::string bytes) {
    return {Kind::kEqual, std::move(bytes)};
  }
  static Match AtLeast(std::string bytes) {
    return {Kind::kAtLeast, std::move(bytes)};
  }
  static Match Greater(std::string bytes) {
    return {Kind::kGreater, std::move(bytes)};
  }
  static Match Prefix(std::string bytes) {
    return {Kind::kPrefix, std::move(bytes)};
  }
  static Match Substring(std::string bytes) {
    return {Kind::kSubstring, std::move(bytes)};
  }
  // Finds a regular expression of RE2 anywhere in the bytes, each of which is a
  // character (Latin-1); `.` matches a line feed, too. Takes time linear in the
  // bytes, whatever the pattern. One that cannot be compiled, within 8 MiB, is
  // an error of the filter.
  static Match Regex(const std::string& pattern);

  bool Fits(std::string_view bytes) const;
  // InvalidArgument: not a regular expression.
  const rocksdb::Status& status() const { return status_; }

 private:
  enum class Kind : uint8_t {
    kLess,
    kAtMost,
    kEqual,
    kAtLeast,
    kGreater,
    kPrefix,
    kSubstring,
    kRegex,
  };
  Match(Kind kind, std::string bytes) : kind_(kind), bytes_(std::move(bytes)) {}

  Kind kind_;
  std::string bytes_;
  std::shared_ptr<const re2::RE2> regex_;
  rocksdb::Status status_;
};

class Filter {
 public:
  // Keeps every cell.
  Filter() = default;

  // These keep the cells whose row, family, qualifier, value or timestamp fits.
  static Filter Row(const Match& match);
  static Filter Family(const Match& match);
  static Filter Qualifier(const Match& match);
  static Filter Value(const Match& match);
  static Filter Timestamp(const TimeRange& range);

  // Keeps the cells that all filters keep. Each filter sees only the cells that
  // those before it keep, so that a Page or FirstCell counts no others.
  // RowsWith looks for its cell among all that the read chooses. An And without
  // filters keeps every cell.
  static Filter And(std::vector<Filter> filters);
  // Keeps the cells that any of the filters keeps. Each filter sees every cell.
  // An Or without filters keeps every cell.
  static Filter Or(std::vector<Filter> filters);
  // Keeps the cells that the filter drops.
  static Filter Not(const Filter& filter);

  // Keeps the first cell of each row that it sees.
  static Filter FirstCell();
  // Keeps the cells of the first `rows` rows of which it sees a cell. A scan
  // ends when no later row can be kept.
  static Filter Page(uint64_t rows);
  // Keeps all cells of the rows in which `filter` keeps a cell, such as rows
  // that meet a condition on a column. The read has to choose that column, too;
  // it may lie outside of the page of columns (column_limit). Rows that are
  // given are read twice. InvalidArgument: a Page, FirstCell or RowsWith
  // inside.
  static Filter RowsWith(const Filter& filter);

  // OK, or why no read takes this filter: InvalidArgument, an error of a Match
  // or of RowsWith, filters nested deeper than kMaxDepth, or more than kMaxSize
  // filters in all, where one that is used twice counts twice.
  rocksdb::Status status() const;
  static constexpr uint32_t kMaxDepth = 100;
  static constexpr uint64_t kMaxSize = uint64_t{1} << 16;

  struct Node;  // the store's own
  const Node* root() const { return root_.get(); }

 private:
  explicit Filter(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  static Filter Make(Node node);

  std::shared_ptr<const Node> root_;  // nullptr: keeps every cell
};

}  // namespace rowbloom
