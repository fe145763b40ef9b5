// TableStats: the counts of one pass over a file's cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "tools/sst_inspect/model.h"

namespace rowbloom::sst_inspect {

// Counts values by powers of two.
class Histogram {
 public:
  void Add(uint64_t value);

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t max() const { return max_; }
  double mean() const;

  // Bucket 0 is the value 0, bucket i from 2^(i-1) to 2^i - 1.
  static constexpr size_t kBuckets = 65;
  uint64_t bucket(size_t i) const { return buckets_[i]; }
  static uint64_t LowOf(size_t i) {
    return i == 0 ? 0 : uint64_t{1} << (i - 1);
  }
  static uint64_t HighOf(size_t i) { return i == 0 ? 0 : 2 * LowOf(i) - 1; }

 private:
  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

// The size of a row.
struct RowSize {
  std::string row;     // in the form of keys
  uint64_t cells = 0;  // entries, with each version
  uint64_t bytes = 0;  // their keys and values
};

struct TableStats {
  uint64_t entries = 0;               // with each version of a key
  uint64_t keys = 0;                  // distinct, without timestamps
  std::map<uint8_t, uint64_t> types;  // as stored
  uint64_t range_deletions = 0;
  Histogram key_bytes;    // of the user key of each entry
  Histogram value_bytes;  // of each entry
  Histogram versions;     // of each key

  // The figures below need a known key layout.
  bool has_rows = false;
  uint64_t rows = 0;
  uint64_t columns = 0;         // distinct keys with a qualifier
  uint64_t outside_layout = 0;  // distinct keys that the layout does not split
  Histogram cells_per_row;      // distinct keys of each row
  Histogram row_bytes;
  std::vector<RowSize> biggest;  // by bytes, the biggest first
};

// Receives each row, in the form of keys.
using OnRow = std::function<void(std::string_view row)>;

// Reads the whole file. Holds one block and the biggest rows. On error *stats
// has the counts up to there.
rocksdb::Status GatherStats(const TableFile& file, const KeyFormat& format,
                            size_t biggest_rows, TableStats* stats,
                            const OnRow& on_row = {});

}  // namespace rowbloom::sst_inspect
