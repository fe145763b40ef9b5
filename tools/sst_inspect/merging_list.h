// MergingList: things side by side, such as the blocks of a file, in a list
// that stays short. While there are few, each is an item of its own; then
// neighbours are joined, none to more than an even share of all bytes, so that
// the list is as fine as its length allows.
//
// T has
//   uint64_t size_bytes() const
//   bool BelongsWith(const T& next) const   both may be told of as one
//   void Join(const T& next)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowbloom::sst_inspect {

template <typename T>
class MergingList {
 public:
  // Holds up to twice `most` items. REQUIRES most > 0.
  explicit MergingList(size_t most) : most_(most) {}

  void Add(T item) {
    total_bytes_ += item.size_bytes();
    Append(std::move(item));
    while (items_.size() > 2 * most_) Coarsen();
  }

  const std::vector<T>& items() const { return items_; }

 private:
  void Append(T item) {
    if (!items_.empty()) {
      T& last = items_.back();
      if (last.size_bytes() + item.size_bytes() <= share_bytes_ &&
          (join_all_ || last.BelongsWith(item))) {
        last.Join(item);
        return;
      }
    }
    items_.push_back(std::move(item));
  }

  // Joins neighbours up to a larger share. One of two neighbours that belong
  // together is then larger than half a share. If that is not enough,
  // neighbours that do not belong together are joined, too.
  void Coarsen() {
    const size_t before = items_.size();
    share_bytes_ = std::max(2 * share_bytes_, total_bytes_ / most_ + 1);
    std::vector<T> items = std::exchange(items_, {});
    for (T& item : items) Append(std::move(item));
    join_all_ = join_all_ || items_.size() > before - before / 8;
  }

  const size_t most_;
  std::vector<T> items_;
  uint64_t total_bytes_ = 0;
  uint64_t share_bytes_ = 0;  // nothing is joined to more than this
  bool join_all_ = false;
};

}  // namespace rowbloom::sst_inspect
