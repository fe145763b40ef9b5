#include "bench/read_bench_plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bench/random.h"

namespace rowbloom::bench {
namespace {

// The rows, as shares, and the files of levels 1 to 5.
constexpr std::array<size_t, 5> kLevelShares = {1, 3, 9, 27, 81};
constexpr std::array<size_t, 5> kLevelFiles = {1, 1, 2, 4, 8};

constexpr size_t kColumns = KeysOf(Read::kColumnsPresent);
constexpr size_t kBatch = KeysOf(Read::kBatchPresent);

}  // namespace

rocksdb::Status ReadPlan::Make(const Cells& cells,
                               const ReadBenchOptions& options) {
  cells_ = &cells;
  Random random(Random::Mix(options.seed));
  std::vector<size_t> rows(cells.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (size_t i = rows.size(); i > 1; --i) {
    std::swap(rows[i - 1], rows[random.Below(i)]);
  }
  // Fewer would leave a file or a level empty.
  const size_t fewest = options.tree.level0 == 0 ? 200 : options.tree.level0;
  if (rows.size() < fewest) {
    return rocksdb::Status::InvalidArgument(std::to_string(rows.size()) +
                                            " rows do not fill the files of " +
                                            ToString(options.tree));
  }
  if (options.tree.level0 == 0) {
    DealIntoLevels(rows);
  } else {
    DealIntoLevel0(rows, options);
  }
  DrawQuestions(options, random.Next());
  return rocksdb::Status::OK();
}

void ReadPlan::AddFile(int level, std::vector<size_t> rows) {
  std::sort(rows.begin(), rows.end());
  CellsOfFile file;
  for (const size_t row : rows) {
    for (size_t i = cells_->RowBegin(row); i < cells_->RowEnd(row); ++i) {
      file.push_back(i);
    }
  }
  files_.push_back(std::move(file));
  levels_.push_back(level);
}

void ReadPlan::DealIntoLevel0(const std::vector<size_t>& rows,
                              const ReadBenchOptions& options) {
  const size_t files = options.tree.level0;
  files_.resize(files);
  levels_.resize(files);
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t begin = cells_->RowBegin(rows[i]);
    for (size_t cell = begin; cell < cells_->RowEnd(rows[i]); ++cell) {
      const size_t next = options.spread_rows ? cell - begin : 0;
      files_[(i + next) % files].push_back(cell);
    }
  }
  for (CellsOfFile& file : files_) std::sort(file.begin(), file.end());
}

// The rows of a level are any; each of its files has a range of them.
void ReadPlan::DealIntoLevels(const std::vector<size_t>& rows) {
  const size_t shares =
      std::accumulate(kLevelShares.begin(), kLevelShares.end(), size_t{0});
  size_t end = rows.size();
  for (size_t level = kLevelShares.size(); level > 0; --level) {
    size_t begin =
        level == 1 ? 0 : end - rows.size() * kLevelShares[level - 1] / shares;
    std::vector<size_t> of_level(rows.begin() + static_cast<ptrdiff_t>(begin),
                                 rows.begin() + static_cast<ptrdiff_t>(end));
    std::sort(of_level.begin(), of_level.end());
    const size_t files = kLevelFiles[level - 1];
    for (size_t file = 0; file < files; ++file) {
      const auto at = [&](size_t number) {
        return of_level.begin() +
               static_cast<ptrdiff_t>(of_level.size() * number / files);
      };
      AddFile(static_cast<int>(level), {at(file), at(file + 1)});
    }
    end = begin;
  }
}

void ReadPlan::DrawQuestions(const ReadBenchOptions& options, uint64_t seed) {
  Draw draw(*cells_, seed);
  // A multiple of what a batch and a row's columns take, if there are any.
  const bool single = std::all_of(options.reads.begin(), options.reads.end(),
                                  [](Read read) { return KeysOf(read) == 1; });
  const uint64_t unit = single ? 1 : kBatch * kColumns;
  const uint64_t count =
      std::max<uint64_t>(1,
                         options.questions / options.tree.SortedRuns() / unit) *
      unit;
  std::unordered_set<std::string> rows;
  std::unordered_set<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) {
    const Cell& cell = draw.AnyCell();
    present_.push_back({cell.key, cell.row_bytes, &cell});
    std::string key = draw.AbsentRow(&rows);
    const size_t row_bytes = key.size();
    key.append(draw.AnyCell().Qualifier());
    absent_rows_.push_back({std::move(key), row_bytes, nullptr});
    const Cell& of_row = cells_->all()[cells_->RowBegin(draw.AnyRow())];
    absent_columns_.push_back(
        {draw.AbsentColumnOf(of_row.Row(), &keys), of_row.row_bytes, nullptr});
  }
  rows.clear();
  for (uint64_t i = 0; i < count / kColumns; ++i) {
    AddColumns(&draw, /*present=*/true, &rows, &columns_present_);
    AddColumns(&draw, /*present=*/false, &rows, &columns_absent_);
  }
}

// The first columns of a row, or columns like them of a row that is absent; and
// absent ones, if these are too few.
void ReadPlan::AddColumns(Draw* draw, bool present,
                          std::unordered_set<std::string>* absent_rows,
                          std::vector<Question>* to) {
  std::unordered_set<std::string> used;
  const size_t like = draw->AnyRow();
  const size_t begin = cells_->RowBegin(like);
  const std::string row = present ? std::string(cells_->all()[begin].Row())
                                  : draw->AbsentRow(absent_rows);
  const size_t end = std::min(cells_->RowEnd(like), begin + kColumns);
  for (size_t i = begin; i < end; ++i) {
    const Cell& cell = cells_->all()[i];
    std::string key = row + std::string(cell.Qualifier());
    used.insert(key);
    to->push_back({std::move(key), row.size(), present ? &cell : nullptr});
  }
  for (size_t i = end - begin; i < kColumns; ++i) {
    to->push_back({draw->AbsentColumnOf(row, &used), row.size(), nullptr});
  }
}

const std::vector<Question>& ReadPlan::QuestionsOf(Read read) const {
  switch (read) {
    case Read::kGetPresent:
    case Read::kBatchPresent:
      return present_;
    case Read::kGetAbsentRow:
    case Read::kScanAbsentRow:
    case Read::kBatchAbsentRow:
      return absent_rows_;
    case Read::kGetAbsentColumn:
      return absent_columns_;
    case Read::kColumnsPresent:
      return columns_present_;
    case Read::kColumnsAbsentRow:
      return columns_absent_;
  }
  return present_;
}

std::vector<size_t> ReadPlan::FilesAround(std::string_view key) const {
  std::vector<size_t> around;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (key >= cells_->all()[files_[i].front()].key &&
        key <= cells_->all()[files_[i].back()].key) {
      around.push_back(i);
    }
  }
  return around;
}

}  // namespace rowbloom::bench
