// TreeSums: the bytes and entries of files of a database, and the filters that
// they have.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// Sums over files. Those that were not read add their bytes alone.
struct TreeSums {
  uint64_t files = 0;
  uint64_t unread_files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_bytes = 0;
  std::set<std::string> filters;  // "none", or the names of policies

  TreeSums& operator+=(const TreeSums& more);
  // Adds what a file that was counted as unread says of itself.
  void AddRead(const TableFacts& facts);

  // Add them as members, the second the numbers of files, too. kSumColumns
  // are most of them.
  void AddTo(Record* record) const;
  void AddWithFilesTo(Record* record) const;
};

// The columns of the sums, but for the numbers of files and the filters.
inline constexpr std::string_view kSumColumns =
    "bytes entries deletions data_bytes filter_bytes";

// The printable name of a policy or an extractor; "none" if it is empty.
std::string NameOrNone(const std::string& name);

}  // namespace rowbloom::sst_inspect
