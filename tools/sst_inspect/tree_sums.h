// SummedTree: the bytes and entries of the files of a database, by family and
// level, and where its filters are.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// Sums over files. Those that cannot be read add their bytes alone.
struct TreeSums {
  uint64_t files = 0;
  uint64_t unread_files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_bytes = 0;
  std::set<std::string> filters;  // "none", or the names of policies

  TreeSums& operator+=(const TreeSums& more) {
    files += more.files;
    unread_files += more.unread_files;
    bytes += more.bytes;
    entries += more.entries;
    deletions += more.deletions;
    data_bytes += more.data_bytes;
    filter_bytes += more.filter_bytes;
    filters.insert(more.filters.begin(), more.filters.end());
    return *this;
  }

  void AddTo(Record* record) const;
  std::string FiltersText() const;
  // The same, but for a table.
  std::string FiltersCell() const;
  // The number of files for a table, with that of files that were not read.
  std::string FilesCell() const;
};

// The sums of one file; `facts` is nullptr if it could not be read.
TreeSums SumsOf(const TreeFile& file, const TableFacts* facts);

// Each has those below it in the order of DatabaseTree, and views of that.
struct SummedFile {
  const TreeFile& file;
  TreeSums sums;
};
struct SummedLevel {
  int level = 0;
  TreeSums sums;
  std::vector<SummedFile> files;
};
struct SummedFamily {
  const TreeFamily& family;
  TreeSums sums;
  std::vector<SummedLevel> levels;
};
struct SummedTree {
  const DatabaseTree& tree;
  TreeSums sums;
  std::vector<SummedFamily> families;
};

// The printable name of a policy or an extractor; "none" if it is empty.
std::string NameOrNone(const std::string& name);

// Titles of a table: `first`, those of the sums, and `last`.
std::vector<std::string> TreeColumns(std::vector<std::string> first,
                                     const std::vector<std::string>& last);
// The cells of a row of such a table.
std::vector<std::string> TreeCells(std::vector<std::string> first,
                                   const TreeSums& sums,
                                   const std::vector<std::string>& last);

}  // namespace rowbloom::sst_inspect
