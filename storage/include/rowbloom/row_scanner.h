// RowScanner: the rows that Store::Scan found, as a range that streams.
//
//   RowScanner rows;
//   rocksdb::Status s = store->Scan({.row_prefix = "user_"}, &rows);
//   for (const Row& row : rows) { ... }
//   if (s.ok()) s = rows.status();
//
// A range is read once: begin() moves to the first row, and each step reads one
// row into memory. All rows are as of the call of Store::Scan. Movable; not
// thread-safe; must be destroyed before its store.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"

namespace rowbloom {

class RowScanner {
 public:
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    const Row& operator*() const { return scanner_->row_; }
    const Row* operator->() const { return &scanner_->row_; }
    Iterator& operator++() {
      scanner_->Advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) {
      return it.AtEnd();
    }

   private:
    friend class RowScanner;
    explicit Iterator(RowScanner* scanner) : scanner_(scanner) {}
    bool AtEnd() const {
      return scanner_ == nullptr || scanner_->source_ == nullptr;
    }
    RowScanner* scanner_ = nullptr;
  };

  RowScanner();  // no rows
  RowScanner(RowScanner&&) noexcept;
  RowScanner& operator=(RowScanner&&) noexcept;
  ~RowScanner();

  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  // OK when the rows ended, or the error that cut them short. Errors are
  // Store::GetRow's.
  const rocksdb::Status& status() const { return status_; }

  // A token for ScanOptions::token, by which a later scan continues after the
  // last row that was given, or that a filter dropped since then. It contains
  // that row's name; a scan checks a token, as callers may change it. Before
  // the first row it is the scan's own token; after an error the later scan
  // begins with the row that failed.
  std::string Token() const;

 private:
  friend class Store;
  class Source;  // gives one row after the other

  explicit RowScanner(std::unique_ptr<Source> source);
  void Advance();

  std::unique_ptr<Source> source_;  // null: at the end
  std::string token_;               // at the end
  Row row_;
  bool begun_ = false;
  rocksdb::Status status_;
};

}  // namespace rowbloom
