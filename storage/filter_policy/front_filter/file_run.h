// The files of one level whose ranges follow one another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/filter_policy/front_filter/file_rows.h"

namespace rowbloom::front_filter {

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

// Immutable.
class FileRun {
 public:
  // `files` by range, at least one. They have to outlive it.
  explicit FileRun(std::vector<const ListedFile*> files);

  // The files from the first on whose last key is not before the row.
  std::span<const ListedFile* const> From(std::string_view row) const;

 private:
  std::vector<const ListedFile*> files_;
  // The common beginning of all last keys, and the eight bytes of each after it
  // as a number of the same order, which is searched in place of the keys.
  std::string prefix_;
  std::vector<uint64_t> lasts_;
};

}  // namespace rowbloom::front_filter
