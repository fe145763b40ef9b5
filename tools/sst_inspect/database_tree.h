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

// Sums over files. Of files that were not read only the bytes are added.
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
  // Adds the facts of a file that was counted as unread.
  void AddRead(const TableFacts& facts);

  // Add the sums as members. The second also adds the numbers of files.
  // kSumColumns has most of the members.
  void AddTo(Record* record) const;
  void AddWithFilesTo(Record* record) const;
};

// The columns of the sums, without the numbers of files and the filters.
inline constexpr std::string_view kSumColumns =
    "bytes entries deletions data_bytes filter_bytes";

// Returns the printable name of a policy or an extractor of TreeFamily; a text
// for an empty one.
std::string NameOrNone(const std::string& name);

struct TreeFile {
  std::string path;
  int level = 0;
  TreeSums sums;         // until AddRead only the bytes, from the MANIFEST
  std::string smallest;  // user keys, without timestamps
  std::string largest;
  bool missing = false;  // in no directory when the tree was read
};

struct TreeFamily {
  std::string name;
  std::string comparator;
  sst::KeyOrder key_order{};
  // The filter policy and the prefix extractor of new files; empty: none, or
  // unknown to this program. "unknown" if OPTIONS cannot be used.
  std::string filter_policy;
  std::string prefix_extractor;
  // By level; those of level 0 newest first, the others by their keys.
  std::vector<TreeFile> files;
};

struct DatabaseTree {
  std::string path;
  std::vector<TreeFamily> families;
  // An error: RocksDB cannot use OPTIONS, such as those of a later version with
  // a value that this one does not know.
  rocksdb::Status options;
  // The SSTs in its directories that the MANIFEST does not name: obsolete ones,
  // new ones of a process that has the database open, or those whose records
  // the MANIFEST has lost.
  uint64_t unlisted_files = 0;
  uint64_t unlisted_bytes = 0;
};

TreeSums SumOf(std::span<const TreeFile> files);
// Calls `use` for each level of a family that has files.
void ForEachLevel(
    const TreeFamily& family,
    const std::function<void(std::span<const TreeFile> files)>& use);

// Tells whether a path is the directory of a RocksDB database.
bool IsDatabase(const std::string& path);

// Reads CURRENT, the MANIFEST and OPTIONS through RocksDB, which opens neither
// SSTs nor logs and can write nothing. Another process may have the database
// open. Unknown options do not matter, nor do merge operators, compaction
// filters and policies. Looks for files in the directory of the database, then
// in `other_directories`: the database's db_paths and cf_paths, which OPTIONS
// does not have. Where OPTIONS cannot be used, tree->options says why, and the
// default order of keys and number of levels are assumed. Error: RocksDB's;
// InvalidArgument names an unknown comparator.
rocksdb::Status ReadTree(const std::string& path,
                         const std::vector<std::string>& other_directories,
                         DatabaseTree* tree);

}  // namespace rowbloom::sst_inspect
