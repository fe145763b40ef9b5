// The keys of filter_bench: 24 bytes, random-looking, and absent ones that are
// known to be absent because the rule that makes them makes other bytes.
//
// Number x gives the row Mix(seed + x) and bytes derived from it; Mix is a
// bijection, so that different numbers give different rows. Rows that exist
// have even numbers, absent ones odd. Columns that exist have the numbers below
// kColumns, absent ones those from there on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/random.h"
#include "rocksdb/slice.h"

namespace rowbloom::bench {

enum class KeyShape : uint8_t {
  kRow,     // every key is one row of 24 bytes
  kRowCol,  // a row of 16 bytes and a column of 8; kColumns columns in each row
};

// "row", "row+column".
std::string_view ToString(KeyShape shape);

inline constexpr size_t kKeyBytes = 24;
inline constexpr size_t kColumns = 10;  // columns per row in kRowCol

// The size of the row in a key. The layout of a shape is fixed:RowBytes(shape).
inline constexpr size_t RowBytes(KeyShape shape) {
  return shape == KeyShape::kRow ? kKeyBytes : 16;
}

// Keys next to each other in memory, to be read in order.
class KeyArray {
 public:
  size_t size() const { return bytes_.size() / kKeyBytes; }
  const char* data() const { return bytes_.data(); }
  rocksdb::Slice operator[](size_t index) const {
    return {bytes_.data() + index * kKeyBytes, kKeyBytes};
  }
  // Room for one more key.
  char* Append() {
    bytes_.resize(bytes_.size() + kKeyBytes);
    return bytes_.data() + bytes_.size() - kKeyBytes;
  }
  void Append(const rocksdb::Slice& key) {
    key.ToString().copy(Append(), kKeyBytes);
  }
  void Reserve(size_t keys) { bytes_.reserve(keys * kKeyBytes); }
  void Clear() { bytes_.clear(); }

 private:
  std::vector<char> bytes_;
};

// `keys` keys that exist, and as many as wanted that do not. Thread-safe.
class KeySpace {
 public:
  // REQUIRES keys > 0, a multiple of kColumns with kRowCol.
  KeySpace(KeyShape shape, uint64_t keys, uint64_t seed);

  KeyShape shape() const { return shape_; }
  uint64_t keys() const { return keys_; }
  uint64_t rows() const {
    return shape_ == KeyShape::kRow ? keys_ : keys_ / kColumns;
  }

  // All keys that exist, in key order.
  KeyArray Present() const;

  // The `index`-th key of a row that does not exist. Different for each index.
  void AbsentRow(uint64_t index, char* key) const;

  // The `index`-th key of a column that its row does not have, while the row
  // exists. Different for each index below 10^7 times keys(). REQUIRES kRowCol.
  void AbsentColumn(uint64_t index, char* key) const;

 private:
  uint64_t RowBits(uint64_t number) const {
    return Random::Mix(seed_ + number);
  }
  void Write(uint64_t row_bits, uint64_t column, char* key) const;

  KeyShape shape_;
  uint64_t keys_;
  uint64_t seed_;
};

}  // namespace rowbloom::bench
