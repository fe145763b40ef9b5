// CellIterator gives the cells of one family, for programs that copy them
// elsewhere: each visible version and, with `deletes`, the deletes that the
// family keeps. HBase calls this a raw scan.
//
//   std::unique_ptr<CellIterator> it;
//   rocksdb::Status s = store->NewCellIterator({.family = "info"}, &it);
//   for (; s.ok() && it->Valid(); it->Next()) Use(it->cell());
//   if (s.ok()) s = it->status();
//
// All cells are as of one snapshot, and expiry is judged at one time. They come
// by row, by qualifier, and newest first; at one timestamp deletes come before
// the put, the widest delete first. Written in this order, with these
// timestamps, to an empty family of the same options, they make a family that
// gives the same answers; without the deletes, only until it is written to.
// Versions beyond max_versions are left out. So in the copy a later delete of a
// version shows no older one, as it may in this store after an AlterFamily to
// fewer versions (doc/store.md).
//
// Not thread-safe. Memory: the versions of one cell, up to three times. Must be
// destroyed before its store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/read_options.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

struct CellIteratorOptions {
  std::string family;
  // True: deletes that are kept are given, too. They are applied in any case.
  // Puts whose own TTL has run out are given with them, without their values
  // and with a TTL of 0, since they still count as versions. A `latest` family
  // (FamilyOptions) keeps none of them.
  bool deletes = false;
  // A snapshot of this store; nullptr: the present state.
  const Snapshot* snapshot = nullptr;
  // The first row, inclusive, and the end, exclusive; empty: no bound.
  std::string start_row = {};
  std::string stop_row = {};
};

// A put, or a delete of any type but kDeleteRow; kDeleteFamily and
// kDeleteFamilyVersion have an empty qualifier. Owns nothing.
struct CellView {
  std::string_view row;
  std::string_view qualifier;
  ChangeType type = ChangeType::kPut;
  uint64_t timestamp_ms = 0;
  std::string_view value;                         // a put's
  std::optional<uint64_t> ttl_ms = std::nullopt;  // a put's own
};

class CellIterator {
 public:
  virtual ~CellIterator() = default;
  CellIterator(const CellIterator&) = delete;
  CellIterator& operator=(const CellIterator&) = delete;

  virtual bool Valid() const = 0;
  // The cell here; its bytes stay until the iterator moves. REQUIRES Valid().
  virtual const CellView& cell() const = 0;
  // REQUIRES Valid().
  virtual void Next() = 0;
  // OK when the cells ended, or the error that cut them short. Errors are
  // Store::GetRow's.
  virtual const rocksdb::Status& status() const = 0;

 protected:
  CellIterator() = default;
};

}  // namespace rowbloom
