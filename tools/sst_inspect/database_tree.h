// DatabaseTree: the files of a RocksDB database by family and level, as its
// MANIFEST names them, and sums over them.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "tools/sst/internal_key.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

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

struct TreeFile {
  std::string path;
  int level = 0;
  TreeSums sums;         // unread, with its bytes as the MANIFEST says
  std::string smallest;  // user keys
  std::string largest;
  bool missing = false;  // it was in no directory when the tree was read
};

struct TreeFamily {
  std::string name;
  std::string comparator;
  sst::KeyOrder key_order{};
  // The filter policy and the prefix extractor of new files; empty: none, or
  // they are not known here.
  std::string filter_policy;
  std::string prefix_extractor;
  // By level; those of level 0 newest first, the others by their keys.
  std::vector<TreeFile> files;
};

struct DatabaseTree {
  std::string path;
  std::vector<TreeFamily> families;
};

TreeSums SumOf(std::span<const TreeFile> files);
// Calls `use` for each level of a family that has files.
void ForEachLevel(
    const TreeFamily& family,
    const std::function<void(std::span<const TreeFile> files)>& use);

// Tells whether a path is the directory of a RocksDB database.
bool IsDatabase(const std::string& path);

// Reads CURRENT, the MANIFEST and OPTIONS through RocksDB, which opens neither
// SSTs nor logs and can write nothing; another process may have the database
// open. Options that are not known here, and merge operators, compaction
// filters and policies, have no part in it. Files are looked for in the
// directory of the database, then in `other_directories`: the database's
// db_paths and cf_paths, which OPTIONS does not name. Error: RocksDB's;
// InvalidArgument names a comparator that is not known here.
rocksdb::Status ReadTree(const std::string& path,
                         const std::vector<std::string>& other_directories,
                         DatabaseTree* tree);

}  // namespace rowbloom::sst_inspect
