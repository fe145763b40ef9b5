// FilePicture has the data for the drawing of a file of any format. Its size
// has a bound that depends on the budget alone: in a file with many blocks,
// neighbours are drawn as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/totals.h"

namespace rowbloom::sst_inspect {

// MergingList keeps a short list of adjacent things, such as the blocks of a
// file. If there are few, each is an item. If there are many, it joins
// neighbours, but to no more than an even share of all bytes, so that the list
// is as fine as its length allows.
//
// T has
//   uint64_t size_bytes() const
//   bool BelongsWith(const T& next) const   both may be shown as one
//   void Join(const T& next)
template <typename T>
class MergingList {
 public:
  // Holds up to twice `most` items. REQUIRES most > 0.
  explicit MergingList(size_t most) : most_(most) {}

  void Add(T item) {
    total_bytes_ += SizeOf(item);
    Append(std::move(item));
    while (items_.size() > 2 * most_) Coarsen();
  }

  const std::vector<T>& items() const { return items_; }

 private:
  // Sizes that a MANIFEST claims may be any numbers: sums of integers could
  // overflow, so that no share is large enough.
  static double SizeOf(const T& item) {
    return static_cast<double>(item.size_bytes());
  }

  void Append(T item) {
    if (!items_.empty()) {
      T& last = items_.back();
      if (SizeOf(last) + SizeOf(item) <= share_bytes_ &&
          (join_all_ || last.BelongsWith(item))) {
        last.Join(item);
        return;
      }
    }
    items_.push_back(std::move(item));
  }

  // Joins neighbours up to a larger share. Of two neighbours that belong
  // together, one is then larger than half a share. If the list is still too
  // long, joins neighbours that do not belong together, too.
  void Coarsen() {
    const size_t before = items_.size();
    share_bytes_ = std::max(2 * share_bytes_,
                            total_bytes_ / static_cast<double>(most_) + 1);
    std::vector<T> items = std::exchange(items_, {});
    for (T& item : items) Append(std::move(item));
    join_all_ = join_all_ || items_.size() > before - before / 8;
  }

  const size_t most_;
  std::vector<T> items_;
  double total_bytes_ = 0;
  double share_bytes_ = 0;  // the limit of joined items
  bool join_all_ = false;
};

// Neighbouring blocks that are drawn as one.
struct BlockRun : TypeTotals {
  BlockType type{};    // the type of most bytes
  bool mixed = false;  // there are other types
  uint64_t offset_bytes = 0;
  std::string compression;  // "several" if the blocks have several

  // MergingList calls these.
  uint64_t size_bytes() const { return stored_bytes; }
  bool BelongsWith(const BlockRun& next) const {
    return type == next.type && (damaged > 0) == (next.damaged > 0);
  }
  void Join(const BlockRun& next);
};

// A piece of a section's bits.
struct FillBucket {
  size_t first_part = 0;  // of the filter, counted from 1
  size_t last_part = 0;
  uint64_t offset_bytes = 0;  // in the section of the first part
  uint64_t bytes = 0;
  uint64_t bits_set = 0;

  uint64_t size_bytes() const { return bytes; }
  bool BelongsWith(const FillBucket&) const { return true; }
  void Join(const FillBucket& next);
};

struct SectionPicture {
  SectionId what;
  SectionTotals totals;
  std::vector<FillBucket> buckets;  // the bits of all parts, in order
  std::string note;                 // the meaning of its bits' density
};

struct FilePicture {
  std::string path;
  uint64_t size_bytes = 0;
  Facts facts;  // those that the file has about itself

  uint64_t blocks = 0;
  uint64_t damaged = 0;
  TotalsByType totals;
  std::vector<BlockRun> runs;  // all blocks, in order

  size_t filter_parts = 0;                // 0: the file has no filter
  std::string filter_part = "partition";  // the word for a part
  std::vector<SectionPicture> sections;
  std::vector<std::string> notes;     // about the filter, each a sentence
  std::vector<std::string> problems;  // the first ones
};

// The limits of the picture of a file.
struct PictureBudget {
  size_t runs = 2048;    // up to twice as many BlockRuns
  size_t buckets = 512;  // in each section, up to twice as many
  size_t problems = 200;

  // Returns the budget of each of `files` files that share a page.
  static PictureBudget Among(size_t files);
};

// Reads each block of the file, and holds one at a time. Corruption is part of
// the picture. Another error, of a part that cannot be read, is returned with a
// picture of the rest.
rocksdb::Status DrawFile(const TableFile& file, const PictureBudget& budget,
                         FilePicture* picture);

}  // namespace rowbloom::sst_inspect
