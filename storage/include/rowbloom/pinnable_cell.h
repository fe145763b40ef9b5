// PinnableCell: the version of a cell that Store::Get found, without a copy of
// its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rocksdb/slice.h"

namespace rowbloom {

// Keeps the value where RocksDB has it, in the block cache say, until another
// Get, Reset or the destructor, which must come before the store is destroyed.
// A block that is kept stays in memory. Not thread-safe. Movable; one that was
// moved from can be assigned, reset and destroyed.
class PinnableCell {
 public:
  // False: the cell is absent, and the rest is empty.
  explicit operator bool() const { return found_; }
  uint64_t timestamp_ms() const { return timestamp_ms_; }
  // Valid until this object is changed or moved.
  std::string_view value() const {
    return stored_.ToStringView().substr(offset_, bytes_);
  }

  void Reset() {
    stored_.Reset();
    offset_ = bytes_ = timestamp_ms_ = 0;
    found_ = false;
  }

 private:
  friend class Store;

  // The bytes that the store keeps for the cell, and the value's place there.
  rocksdb::PinnableSlice stored_;
  size_t offset_ = 0;
  size_t bytes_ = 0;
  uint64_t timestamp_ms_ = 0;
  bool found_ = false;
};

}  // namespace rowbloom
