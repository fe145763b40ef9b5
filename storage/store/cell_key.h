// The RocksDB key of a cell, or the bytes of a row, for one read.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// A short key, as nearly all are, takes no memory from the heap: to get that
// takes as long as a filter's answer.
class CellKey {
 public:
  CellKey() = default;
  CellKey(const CellKey&) = delete;
  CellKey& operator=(const CellKey&) = delete;

  // InvalidArgument: as OpenedStore::EncodeRow.
  rocksdb::Status Set(const OpenedStore& opened, std::string_view row,
                      std::string_view qualifier) {
    // A longer row would not fit, and EncodeRow says what is wrong with it.
    const auto row_size = row.empty()
                              ? std::nullopt
                              : opened.key_layout().EncodeRowInto(row, short_);
    if (!row_size || qualifier.size() > short_.size() - *row_size) {
      return SetLong(opened, row, qualifier);
    }
    qualifier.copy(short_.data() + *row_size, qualifier.size());
    bytes_ = {short_.data(), *row_size + qualifier.size()};
    row_size_ = *row_size;
    return rocksdb::Status::OK();
  }

  std::string_view bytes() const { return bytes_; }
  std::string_view row_bytes() const { return bytes_.substr(0, row_size_); }

 private:
  static constexpr size_t kShortBytes = 256;
  static_assert(kShortBytes <= kMaxRowBytes);

  rocksdb::Status SetLong(const OpenedStore& opened, std::string_view row,
                          std::string_view qualifier) {
    constexpr size_t kTerminatorBytes = 2;
    // Escapes come on top.
    long_.reserve(row.size() + kTerminatorBytes + qualifier.size());
    rocksdb::Status s = opened.EncodeRow(row, &long_);
    if (!s.ok()) return s;
    row_size_ = long_.size();
    long_.append(qualifier);
    bytes_ = long_;
    return s;
  }

  std::array<char, kShortBytes> short_;  // not initialised
  std::string long_;
  std::string_view bytes_;  // into one of them
  size_t row_size_ = 0;
};

}  // namespace rowbloom
