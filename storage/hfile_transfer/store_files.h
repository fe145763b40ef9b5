// Finds the HFiles that an import reads: in directories, as HBase has them, and
// through references and links. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/store_file_name.h"

namespace rowbloom::hfile_transfer {

// A part of an HFile.
struct StoreFile {
  // The file, reference or link, for messages.
  std::string name;
  // Its region and family, '/', and its name there: those of references are
  // the same in the regions that one was split into.
  std::string in_store;
  // The HFile.
  std::string path;
  // The directory of the HBase, or snapshot, that it is in; empty: not known.
  std::string root;
  RowRange rows;
  bool is_upper = false;  // through a reference to TOP
  // The reason for which the file cannot be read, if it cannot.
  rocksdb::Status problem;
};

// The names, or kinds in words, that a search met and did not take, and how
// often it met each.
using PassedOver = std::map<std::string, uint64_t>;
inline constexpr char kFilesOfSplitRegions[] =
    "files of regions that were split or merged";
inline constexpr char kMobFiles[] = "files of MOB values";
inline constexpr char kOtherFiles[] =
    "files of regions with '-' in their names";

// Finds the files of `paths`, each a file or a directory, which is searched
// through; one that several paths lead to is found once. A name that starts
// with '_' is passed over unless it is a directory that `is_family` knows, and
// so is one in a searched region that has '-' and is no link's or reference's.
// References and links are followed to where HBase has their files: the table's
// other regions, the table that a link names, and the archive beside `data`; a
// StoreFile says where none is. Regions that were split or merged, because
// others refer to them or are newer and have their rows, are passed over: they
// are read through references alone. Where a table's directory was searched,
// the rest of its regions has no row twice and, if each region in it tells its
// rows, has all rows. Errors are those of a directory, or of a `.regioninfo` in
// it; InvalidArgument: an empty path, or a directory that holds the archive, or
// regions of several tables; NotSupported: a `.filelist`, or writes in
// `recovered.edits`.
rocksdb::Status FindStoreFiles(
    const std::vector<std::string>& paths,
    const std::function<bool(const std::string&)>& is_family,
    std::vector<StoreFile>* files, PassedOver* passed_over);

// The directories in which the regions of a table may be, below the root of an
// HBase or of an exported snapshot, in the order in which HBase looks.
std::vector<std::string> TableDirectories(const std::string& root,
                                          const std::string& name_space,
                                          const std::string& table);

// The path of a target's file in the first of the directories that has it.
// NotSupported, without a name before it: none has; the message has the cure.
// IOError: one cannot be searched.
rocksdb::Status FindTarget(const std::vector<std::string>& table_directories,
                           const StoreFileTarget& target,
                           const std::string& family, std::string* path);

}  // namespace rowbloom::hfile_transfer
