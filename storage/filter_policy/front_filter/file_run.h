// The files of one level whose ranges follow one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  // The number of the SuperVersion that was current after the first listing
  // without the file; nullopt: the last listing has the file.
  std::optional<uint64_t> unlisted_at = std::nullopt;
};

// Immutable.
class FileRun {
 public:
  // `files` are sorted by range, at least one. They have to outlive this.
  explicit FileRun(std::vector<const ListedFile*> files);

  // Calls see(rows) for the files whose ranges may have keys of the row, in
  // order, until it returns true; returns whether it did.
  template <typename See>
  bool InFilesOf(std::string_view row, const See& see) const {
    for (Place at = Find(row); MayHave(row, at); ++at.file) {
      if (see(rows_[at.file])) return true;
    }
    return false;
  }

 private:
  // A file, and the row's number, which is compared with those of keys.
  struct Place {
    size_t file;
    uint64_t number = 0;
    uint64_t mask = 0;  // the bytes that the row has
  };
  // Returns the first file whose last key is not before the row. The mask is 0
  // if the row does not begin with prefix_.
  Place Find(std::string_view row) const;
  // REQUIRES that the file's last key is not before the row, unless the mask is
  // 0.
  bool MayHave(std::string_view row, const Place& at) const {
    if (at.file == files_.size()) return false;
    const uint64_t first = firsts_[at.file] & at.mask;
    return first < at.number || (first == at.number && Compare(row, at.file));
  }
  bool Compare(std::string_view row, size_t file) const;

  std::vector<const ListedFile*> files_;
  std::vector<const FileRows*> rows_;  // theirs
  // prefix_ is the common beginning of all last keys. firsts_ and lasts_ have
  // the next eight bytes of each key, as a number of the same order. The keys,
  // which lie elsewhere in memory, are compared only if numbers are equal. The
  // first file's first key may begin otherwise: its number is 0 then.
  std::string prefix_;
  std::vector<uint64_t> firsts_;
  std::vector<uint64_t> lasts_;
};

}  // namespace rowbloom::front_filter
