// The evaluation of a Filter during one read. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/filter.h"

namespace rowbloom {

struct Filter::Node {
  enum class Kind : uint8_t {
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

  Kind kind = Kind::kAnd;
  std::optional<Match> match = std::nullopt;
  TimeRange range = TimeRange::All();  // kTimestamp
  uint64_t rows = 0;                   // kPage
  std::vector<Filter> parts = {};

  // Filter::Make sets these.
  rocksdb::Status status = rocksdb::Status::OK();
  uint32_t depth = 1;
  uint64_t size = 1;  // of the tree: a part that occurs twice counts twice
  bool has_page = false;
  bool is_stateless = true;  // no FirstCell, Page or RowsWith in it
  bool needs_key = false;    // it reads the row or the qualifier
};

// The cell that a filter judges. Its row is the one that was begun.
struct FilteredCell {
  std::string_view family;
  std::string_view qualifier;
  uint64_t timestamp_ms = 0;
  std::string_view value;
};

// Call BeginRow for each row, and Keeps for its cells. If LooksFirst(), the
// first pass over the cells keeps none; StartKeeping begins the second.
class FilterRun {
 public:
  // The filter outlives it. REQUIRES filter.status().ok().
  explicit FilterRun(const Filter& filter) { MakeStep(filter, &root_); }
  FilterRun(const FilterRun&) = delete;
  FilterRun& operator=(const FilterRun&) = delete;

  bool LooksFirst() const { return !rows_with_.empty(); }

  // True: Drops may be called for any cell, and ignores its row and qualifier.
  bool NeedsNoKey() const { return !root_.node->needs_key; }
  bool Drops(const FilteredCell& cell) {
    return VerdictOf(&root_, cell) != Verdict::kKeep;
  }

  void BeginRow(std::string_view row);
  void StartKeeping() { BeginPass(/*looks=*/false); }
  bool Keeps(const FilteredCell& cell) {
    if (looks_) {
      Look(cell);
      return false;
    }
    const Verdict verdict = VerdictOf(&root_, cell);
    row_is_done_ = verdict == Verdict::kDropRow;
    return verdict == Verdict::kKeep;
  }
  // True: this pass needs no further cell of the row.
  bool RowIsDone() const { return row_is_done_; }
  // True: no cell of a later row can be kept.
  bool IsOver() const { return DropsAll(root_, false); }

 private:
  // Ordered, so that an Or has the least verdict of its parts. kDropRow: no
  // later cell of the row is kept, or is noted by a Page.
  enum class Verdict : uint8_t { kKeep, kDrop, kDropRow };

  // A filter with its state in this read.
  struct Step {
    const Filter::Node* node = nullptr;
    std::vector<Step> parts = {};
    uint64_t row = 0;   // the number of the last row that it noted
    uint64_t rows = 0;  // Page: rows that it noted
    bool fits = false;  // Row: the current row fits
  };

  void MakeStep(const Filter& filter, Step* step);
  void BeginPass(bool looks) {
    looks_ = looks;
    row_is_done_ = DropsAll(root_, true);
  }
  void Look(const FilteredCell& cell);
  Verdict VerdictOf(Step* step, const FilteredCell& cell);
  Verdict VerdictOfParts(Step* step, const FilteredCell& cell);
  // Tells whether a Page has yet to note the current row, if it sees a cell.
  bool MayNote(const Step& step) const;
  // Tells whether no cell of the current row (`of_this_row`), or else of any
  // later row, can be kept, without a look at one.
  bool DropsAll(const Step& step, bool of_this_row) const;

  Step root_;
  std::vector<Step*> of_rows_;    // Row
  std::vector<Step*> rows_with_;  // RowsWith
  uint64_t row_number_ = 0;
  bool looks_ = false;  // in the first pass of two
  bool row_is_done_ = false;
};

}  // namespace rowbloom
