// A stand-in for the private header table/block_based/filter_policy_internal.h
// of three RocksDB versions, one for each layout that it has had. Only
// declarations that set the layout are here: virtual functions, their order and
// their types, as of
//
//   PUBLISHED_INTERFACE  RocksDB
//   700                  7.8.3
//   906                  9.10.0
//   1009                 10.9.1
//
// It takes the place of storage/filter_policy/rocksdb_filter_interface.h: a
// source file includes one of them, as a program and its RocksDB library do.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

#if PUBLISHED_INTERFACE != 700 && PUBLISHED_INTERFACE != 906 && \
    PUBLISHED_INTERFACE != 1009
#error "no such interface"
#endif

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void AddKey(const Slice&) = 0;
#if PUBLISHED_INTERFACE != 700
  virtual void AddKeyAndAlt(const Slice&, const Slice&) = 0;
#endif
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>*) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>*, Status*) = 0;
  virtual Status MaybePostVerify(const Slice&) = 0;
  virtual size_t ApproximateNumEntries(size_t) = 0;
#if PUBLISHED_INTERFACE == 1009
  virtual size_t CalculateSpace(size_t) = 0;
  virtual double EstimatedFpRate(size_t, size_t) = 0;
#endif
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual bool MayMatch(const Slice&) = 0;
  virtual void MayMatch(int, Slice**, bool*) = 0;
};

}  // namespace rocksdb
