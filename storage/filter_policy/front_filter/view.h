// The rows of a column family as of one time, and the lookup in them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/kernels/kernel.h"
#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/filter_policy/front_filter/file_rows.h"
#include "storage/filter_policy/front_filter/memtable_rows.h"

namespace rowbloom::front_filter {

// A row to look up.
struct Row {
  std::string_view bytes;
  uint64_t hash;
};

// A file of a listing.
struct ListedFile {
  uint64_t number = 0;
  int level = 0;
  // Its first and last key in bytewise order, if the keys have that order or
  // the reverse of it.
  std::string low;
  std::string high;
  std::shared_ptr<const FileRows> rows;  // null: may have each row in its range
};

// The files of one listing. Immutable.
class FileSet {
 public:
  // `files` by level. With an unknown order, their ranges mean nothing.
  FileSet(RowOrder order, std::vector<ListedFile> files);

  size_t known() const { return known_; }
  size_t unknown() const { return files_.size() - known_; }
  bool Has(uint64_t number) const;

  // Tells whether a file may have the row.
  bool MayHave(const Row& row, const Kernel& kernel) const;
  // The same for up to Kernel::kMaxMany rows: of `wanted`, those that no file
  // has.
  uint32_t Absent(std::span<const Row> rows, uint32_t wanted,
                  const Kernel& kernel) const;

 private:
  // Files of one level in the order of their ranges.
  using Run = std::vector<const ListedFile*>;

  // Calls see(rows) for the files of ranges_ and runs_ that may have the row by
  // their ranges, until it returns true; returns whether it did.
  template <typename See>
  bool InFilesOfRow(const Row& row, const See& see) const;

  const RowOrder order_;
  const std::vector<ListedFile> files_;
  size_t known_ = 0;
  std::vector<const FileRows*> everywhere_;  // probed for each row
  std::vector<const ListedFile*> ranges_;    // unknown files
  std::vector<Run> runs_;  // of files that overlap at their ends at most
  std::vector<uint64_t> numbers_;  // sorted
};

// Files and memtables. Immutable but for the bits of memtables.
struct View {
  std::shared_ptr<const FileSet> files;
  std::vector<std::shared_ptr<const MemtableRows>> memtables;
  // Files that are about to be ingested.
  std::vector<std::shared_ptr<const FileRows>> announced;
  bool announced_unknown = false;  // of some, the rows are not known
  const Kernel* kernel = nullptr;

  // Tells whether the row may exist.
  bool MayHave(const Row& row) const;
  // The same for up to Kernel::kMaxMany rows: bit i is set if rows[i] does not
  // exist.
  uint32_t Absent(std::span<const Row> rows) const;
};

}  // namespace rowbloom::front_filter
