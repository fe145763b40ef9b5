#include "bench/store_bench_databases.h"

#include <algorithm>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace rowbloom::bench {

using rocksdb::Status;

StoreOptions TreeOptions(uint64_t data_bytes) {
  StoreOptions options;
  // Several databases' worth: blocks take more than the bytes in them.
  options.block_cache_bytes = 4 * data_bytes + (uint64_t{64} << 20);
  options.write_buffer_bytes =
      std::min(4 * data_bytes + (uint64_t{64} << 20), uint64_t{64} << 30);
  options.auto_compaction = false;
  return options;
}

Status CreateStore(const StoreOptions& store, const FamilyOptions& family,
                   const std::string& path, std::unique_ptr<Store>* created) {
  return Store::Open(store, path, {{kFamily, family}}, created);
}

PlainDatabase::~PlainDatabase() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

Status PlainDatabase::Create(
    const std::string& store_path, const std::string& path,
    uint64_t cache_bytes, std::shared_ptr<const rocksdb::FilterPolicy> filter,
    bool transactions) {
  // The options must name a filter policy that exists.
  Status s = RegisterRowbloom();
  if (!s.ok()) return s;
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(cache_bytes);
  s = rocksdb::LoadLatestOptions(config, store_path, &options, &families,
                                 &cache);
  if (!s.ok()) return s;
  for (rocksdb::ColumnFamilyDescriptor& family : families) {
    if (family.name != kFamily || filter == nullptr) continue;
    auto* const table = family.options.table_factory
                            ->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) {
      return Status::NotSupported(store_path + " has no block-based tables");
    }
    table->filter_policy = std::move(filter);
  }
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.create_missing_column_families = true;
  if (transactions) {
    s = rocksdb::OptimisticTransactionDB::Open(options, path, families,
                                               &handles_, &transactions_);
    db_.reset(transactions_);
  } else {
    s = rocksdb::DB::Open(options, path, families, &handles_, Into(&db_));
  }
  if (!s.ok()) return s;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == kFamily) family_ = handle;
  }
  return family_ == nullptr
             ? Status::NotFound(store_path + " has no family " + kFamily)
             : s;
}

std::unique_ptr<rocksdb::Transaction> PlainDatabase::BeginTransaction() const {
  rocksdb::OptimisticTransactionOptions options;
  options.set_snapshot = true;
  return std::unique_ptr<rocksdb::Transaction>(
      transactions_->BeginTransaction({}, options));
}

Status PlainDatabase::Flush() { return db_->Flush({}, handles_); }

Status PlainDatabase::Compact() {
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForceOptimized;
  return db_->CompactRange(compact, family_, nullptr, nullptr);
}

}  // namespace rowbloom::bench
