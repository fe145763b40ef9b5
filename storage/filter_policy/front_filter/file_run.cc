#include "storage/filter_policy/front_filter/file_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/format/coding.h"

namespace rowbloom::front_filter {
namespace {

// The first eight bytes as a number; missing ones are 0. Keys of different
// numbers have their order.
uint64_t FirstBytes(std::string_view key) {
  std::array<char, sizeof(uint64_t)> bytes{};
  if (key.size() >= bytes.size()) return LoadBig<uint64_t>(key.data());
  std::ranges::copy(key, bytes.begin());
  return LoadBig<uint64_t>(bytes.data());
}

}  // namespace

FileRun::FileRun(std::vector<const ListedFile*> files)
    : files_(std::move(files)) {
  // Keys that are in order share what the first and the last of them share.
  const std::string& first = files_.front()->high;
  const std::string& last = files_.back()->high;
  const auto end = std::ranges::mismatch(first, last).in1;
  prefix_.assign(first.begin(), end);
  for (const ListedFile* file : files_) {
    lasts_.push_back(
        FirstBytes(std::string_view(file->high).substr(prefix_.size())));
  }
}

std::span<const ListedFile* const> FileRun::From(std::string_view row) const {
  const std::span<const ListedFile* const> files(files_);
  const int order = row.substr(0, prefix_.size()).compare(prefix_);
  if (order < 0) return files;
  if (order > 0) return {};
  const uint64_t number = FirstBytes(row.substr(prefix_.size()));
  auto at = static_cast<size_t>(std::ranges::lower_bound(lasts_, number) -
                                lasts_.begin());
  while (at < files.size() && lasts_[at] == number && files[at]->high < row) {
    ++at;
  }
  return files.subspan(at);
}

}  // namespace rowbloom::front_filter
