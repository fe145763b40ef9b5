// The databases of store_bench: stores of one family, and RocksDB used
// directly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {

inline constexpr char kFamily[] = "f";
inline constexpr char kQualifier[] = "column0";  // of rows with one column

// The options of a tree of files: nothing is flushed, or compacted, but on
// request.
StoreOptions TreeOptions(uint64_t data_bytes);

// A store whose one family is kFamily. It must not exist.
rocksdb::Status CreateStore(const StoreOptions& store,
                            const FamilyOptions& family,
                            const std::string& path,
                            std::unique_ptr<Store>* created);

// A RocksDB database with the column families of a store, and the options that
// the store has them open with.
class PlainDatabase {
 public:
  PlainDatabase() = default;
  ~PlainDatabase();
  PlainDatabase(const PlainDatabase&) = delete;
  PlainDatabase& operator=(const PlainDatabase&) = delete;

  // Creates it at `path`, where there is nothing. The options are those of the
  // store at `store_path`, but for a block cache of its own and, if `filter` is
  // not null, the filter policy. `transactions`: of a database that has them.
  rocksdb::Status Create(const std::string& store_path, const std::string& path,
                         uint64_t cache_bytes,
                         std::shared_ptr<const rocksdb::FilterPolicy> filter,
                         bool transactions = false);

  // An optimistic transaction whose checks begin now. REQUIRES `transactions`.
  std::unique_ptr<rocksdb::Transaction> BeginTransaction() const;

  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* family() const { return family_; }

  rocksdb::Status Flush();
  rocksdb::Status Compact();

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::OptimisticTransactionDB* transactions_ = nullptr;  // db_, or null
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
};

}  // namespace rowbloom::bench
