// FilterModel evaluates a filter as plainly as possible: over all cells of a
// read at once, as sets. It shares nothing with the store's code but the types
// of its interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/filter.h"
#include "tests/support/random.h"

namespace rowbloom::test {

// A cell of a read, in the order of the read.
struct ReadCell {
  std::string row;
  Cell cell;
};

struct FilterModel {
  enum class Kind : uint8_t {
    kAll,
    kRow,
    kFamily,
    kQualifier,
    kValue,
    kTimestamp,
    kAnd,
    kOr,
    kNot,
    kFirstCell,
    kPage,
    kRowsWith,
  };
  enum class Test : uint8_t {
    kLess,
    kAtMost,
    kEqual,
    kAtLeast,
    kGreater,
    kPrefix,
    kSubstring,
    kRegex,
  };

  Kind kind = Kind::kAll;
  Test test = Test::kEqual;
  std::string bytes = {};
  TimeRange range = TimeRange::All();
  uint64_t rows = 0;
  std::vector<FilterModel> parts = {};

  // The store's filter of this meaning.
  Filter Build() const;

  // The numbers of the cells that it keeps of those that it sees. `all` are
  // those of the read.
  std::set<size_t> Keep(const std::vector<ReadCell>& all,
                        const std::set<size_t>& seen) const;

  bool Has(Kind wanted) const;
  std::string Text() const;
};

// A tree of up to `levels`. Timestamps are near `now_ms`.
FilterModel RandomFilter(int levels, uint64_t now_ms, Random* random);

}  // namespace rowbloom::test
