#include "storage/filter_policy/front_filter/file_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/format/coding.h"

namespace rowbloom::front_filter {
namespace {

// Returns the first eight bytes as a number; missing ones are 0. Keys with
// different numbers have the order of the numbers.
uint64_t FirstBytes(std::string_view key) {
  std::array<char, sizeof(uint64_t)> bytes{};
  if (key.size() >= bytes.size()) return LoadBig<uint64_t>(key.data());
  std::ranges::copy(key, bytes.begin());
  return LoadBig<uint64_t>(bytes.data());
}

}  // namespace

FileRun::FileRun(std::vector<const ListedFile*> files)
    : files_(std::move(files)) {
  // Sorted keys all have the common beginning of the first and the last.
  const std::string& first = files_.front()->high;
  const std::string& last = files_.back()->high;
  const auto end = std::ranges::mismatch(first, last).in1;
  prefix_.assign(first.begin(), end);
  const auto number_of = [this](std::string_view key) {
    return key.starts_with(prefix_) ? FirstBytes(key.substr(prefix_.size()))
                                    : 0;
  };
  for (const ListedFile* file : files_) {
    rows_.push_back(file->rows.get());
    firsts_.push_back(number_of(file->low));
    lasts_.push_back(number_of(file->high));
  }
}

FileRun::Place FileRun::Find(std::string_view row) const {
  const int order = row.substr(0, prefix_.size()).compare(prefix_);
  if (order < 0) return {.file = 0};
  if (order > 0) return {.file = files_.size()};
  const std::string_view rest = row.substr(prefix_.size());
  const uint64_t number = FirstBytes(rest);
  auto at = static_cast<size_t>(std::ranges::lower_bound(lasts_, number) -
                                lasts_.begin());
  // Keys that begin alike have one number, and there may be many of them.
  if (at < files_.size() && lasts_[at] == number) {
    const auto end = std::ranges::upper_bound(lasts_, number) - lasts_.begin();
    const auto found = std::partition_point(
        files_.begin() + static_cast<ptrdiff_t>(at), files_.begin() + end,
        [row](const ListedFile* file) { return file->high < row; });
    at = static_cast<size_t>(found - files_.begin());
  }
  constexpr uint64_t kAll = ~uint64_t{0};
  return {.file = at,
          .number = number,
          .mask = rest.size() >= sizeof(kAll) ? kAll
                                              : ~(kAll >> (8 * rest.size()))};
}

bool FileRun::Compare(std::string_view row, size_t file) const {
  return MayLieBetween(files_[file]->low, files_[file]->high, row);
}

}  // namespace rowbloom::front_filter
