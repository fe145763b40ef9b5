// The two interfaces that RocksDB forward-declares in its public headers and
// defines in private ones. A custom filter has to declare them again, virtual
// function for virtual function. Their layout is set by RocksDB's version:
//
//   RocksDB      FilterBitsBuilder                        RocksDB commit
//   7.0  - 9.5   six functions after the destructor       -
//   9.6  - 10.8  adds AddKeyAndAlt after AddKey           f63428bc (#12931)
//   10.9 - 11.9  appends CalculateSpace, EstimatedFpRate  b897c378 (#14111)
//
// FilterBitsReader has not changed since 7.0. Minor versions changed the layout
// both times, so versions that were not compared are refused. To support a
// newer RocksDB, compare its table/block_based/filter_policy_internal.h with
// this file. If a virtual function was added, removed or moved, add a layout
// here and in tests/storage/filter_policy/published_interface.h. The front
// filter wraps memtables: compare include/rocksdb/memtablerep.h with
// front_filter/memtable_factory.cc, too. Then raise ROWBLOOM_ACCEPT_ROCKSDB.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"

// The last version that was compared, as major * 100 + minor. Define it for the
// compiler once you have compared a newer one.
#ifndef ROWBLOOM_ACCEPT_ROCKSDB
#define ROWBLOOM_ACCEPT_ROCKSDB 1109
#endif

// The first version that has the layout of `version`, both as above; 0 if
// `version` is not supported.
#define ROWBLOOM_FILTER_INTERFACE_OF(version)    \
  ((version) < 701                        ? 0    \
   : (version) < 906                      ? 700  \
   : (version) < 1009                     ? 906  \
   : (version) <= ROWBLOOM_ACCEPT_ROCKSDB ? 1009 \
                                          : 0)

// The layout to compile for. Tests set it to compile the code for each layout.
#ifndef ROWBLOOM_FILTER_INTERFACE
#define ROWBLOOM_FILTER_INTERFACE \
  ROWBLOOM_FILTER_INTERFACE_OF(ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR)
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 701
#error \
    "rowbloom needs RocksDB 7.1: older ones lack FilterPolicy::CompatibilityName"
#elif ROWBLOOM_FILTER_INTERFACE == 0
#error \
    "unknown RocksDB: compare its table/block_based/filter_policy_internal.h with rocksdb_filter_interface.h, and its memtablerep.h with front_filter/memtable_factory.cc; if the virtual functions are the same, compile with -DROWBLOOM_ACCEPT_ROCKSDB=<major * 100 + minor>"
#endif
#endif

namespace rocksdb {

// Collects keys and makes a filter of them, or one for each partition. RocksDB
// is not exception-safe: nothing may throw.
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void AddKey(const Slice& key) = 0;
#if ROWBLOOM_FILTER_INTERFACE >= 906
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
#endif
  // Zero if and only if nothing was added.
  virtual size_t EstimateEntriesAdded() = 0;
  // Returns the filter, whose bytes *buf owns unless they are static.
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf, Status* status) = 0;
  virtual Status MaybePostVerify(const Slice& filter_content) = 0;
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
#if ROWBLOOM_FILTER_INTERFACE >= 1009
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
#endif
};

// Answers lookups in one filter block. Shared between threads.
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual bool MayMatch(const Slice& entry) = 0;
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) {
    for (int i = 0; i < num_keys; ++i) may_match[i] = MayMatch(*keys[i]);
  }
};

}  // namespace rocksdb
