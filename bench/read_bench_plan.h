// The plan that all databases of read_bench share: which cell goes into which
// file, and the lookups.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bench/cells.h"
#include "bench/read_bench.h"

namespace rowbloom::bench {

struct Question {
  std::string key;
  size_t row_bytes = 0;        // the row's share of the key
  const Cell* cell = nullptr;  // the cell to find; nullptr: nothing

  std::string_view Row() const {
    return std::string_view(key).substr(0, row_bytes);
  }
};

// An operation of a kind of read makes KeysOf(read) lookups in a row. Kinds may
// make the same ones.
class ReadPlan {
 public:
  // InvalidArgument: too few rows for the files. `cells` must outlive this.
  rocksdb::Status Make(const Cells& cells, const ReadBenchOptions& options);

  const Cells& cells() const { return *cells_; }
  // The files in the order in which to write them, deepest level first.
  const std::vector<CellsOfFile>& files() const { return files_; }
  const std::vector<int>& levels() const { return levels_; }
  const std::vector<Question>& QuestionsOf(Read read) const;
  uint64_t OperationsOf(Read read) const {
    return QuestionsOf(read).size() / KeysOf(read);
  }
  // Files in whose range of keys this key lies, as indexes into files().
  std::vector<size_t> FilesAround(std::string_view key) const;

 private:
  void DealIntoLevel0(const std::vector<size_t>& rows,
                      const ReadBenchOptions& options);
  void DealIntoLevels(const std::vector<size_t>& rows);
  void AddFile(int level, std::vector<size_t> rows);
  void DrawQuestions(const ReadBenchOptions& options, uint64_t seed);
  void AddColumns(Draw* draw, bool present,
                  std::unordered_set<std::string>* absent_rows,
                  std::vector<Question>* to);

  const Cells* cells_ = nullptr;
  std::vector<CellsOfFile> files_;
  std::vector<int> levels_;
  std::vector<Question> present_;
  std::vector<Question> absent_rows_;
  std::vector<Question> absent_columns_;
  std::vector<Question> columns_present_;
  std::vector<Question> columns_absent_;
};

}  // namespace rowbloom::bench
