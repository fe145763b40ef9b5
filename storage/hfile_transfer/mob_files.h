// The values of MOB families, which HBase keeps in files of their own: a store
// file has a reference in place of each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_reader.h"

namespace rowbloom::hfile_transfer {

// The contents of a reference cell.
struct MobReference {
  uint64_t value_bytes = 0;
  std::string_view file;  // a name
  std::string name_space;
  std::string table;  // of the file
};

// Reads a cell with the tag of a reference; `table` is the contents of its tag
// 6. InvalidArgument: a cell that is none, or names that lead elsewhere.
// Messages name the file. Thread-safe.
rocksdb::Status ParseMobReference(const HFileCellView& cell,
                                  std::string_view table,
                                  MobReference* reference);

// The MOB files of an import, some of which it keeps open. Not thread-safe.
class MobFiles {
 public:
  explicit MobFiles(const HFileReaderOptions& options) : options_(options) {}

  // Reads the value of a reference cell. `root` is the directory that has
  // HBase's `mobdir` and `archive`; empty: not known. Errors are HFileReader's,
  // and NotSupported: the file is not there, the message says what to do;
  // Corruption: the file lacks the cell, or its value is of another size.
  rocksdb::Status Read(const std::string& root, const HFileCellView& cell,
                       const MobReference& reference, std::string* value);

 private:
  // Each takes memory for its load-on-open section.
  static constexpr size_t kMaxOpen = 64;

  rocksdb::Status Open(const std::string& root, std::string_view family,
                       const MobReference& reference, HFileReader** reader);

  const HFileReaderOptions options_;
  // By root, table, family and file.
  std::map<std::string, std::unique_ptr<HFileReader>> open_;
  std::set<std::string> missing_;
  std::string region_;  // the directory of the last file
};

}  // namespace rowbloom::hfile_transfer
