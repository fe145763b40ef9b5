// CacheCharge charges memory outside of a block cache to that cache, by entries
// without content.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom {

// The cache that the construction of filters is to be charged to
// (BlockBasedTableOptions::cache_usage_options); null for none.
std::shared_ptr<rocksdb::Cache> CacheToCharge(
    const rocksdb::BlockBasedTableOptions& options);

// The charge of one owner, which the destructor releases. Not thread-safe; the
// cache may be shared.
class CacheCharge {
 public:
  // RocksDB charges in the same steps: few entries are needed, and each fits
  // into one shard of a cache.
  static constexpr size_t kStepBytes = size_t{256} << 10;

  // Null: charges nothing.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache)
      : cache_(std::move(cache)) {}
  ~CacheCharge() { Set(0); }
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Charges `bytes` in whole steps, in place of the last charge. A full cache
  // with a strict limit may refuse a step; it stays uncharged until a call with
  // another number of steps tries again.
  void Set(size_t bytes) noexcept;

  // Tells whether there is a cache to charge.
  bool active() const { return cache_ != nullptr; }
  size_t charged_bytes() const { return handles_.size() * kStepBytes; }

 private:
  bool Insert();

  std::shared_ptr<rocksdb::Cache> cache_;
  std::vector<rocksdb::Cache::Handle*> handles_;
  size_t wanted_steps_ = 0;
};

}  // namespace rowbloom
