// Database owns a RocksDB database, with or without a front filter, and the
// handles of its open column families. It closes them in the right order.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/open_db.h"

namespace rowbloom {

// Every user of a column family shares its handle, so that a dropped family
// keeps its files until the last reader is done. All must be gone before the
// Database is.
using ColumnFamily = std::shared_ptr<rocksdb::ColumnFamilyHandle>;

// Movable, empty until opened. As thread-safe as rocksdb::DB, but only one
// thread at a time may open or destroy it, or find, create or drop column
// families.
class Database {
 public:
  enum class Access { kReadWrite, kReadOnly, kTransactions };

  Database() = default;
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;

  // Opens `path` with these column families, and with a front filter unless
  // `front_filter` is null. The object is left empty on failure; errors are
  // RocksDB's. REQUIRES an empty object.
  rocksdb::Status Open(
      rocksdb::DBOptions options, const std::string& path,
      std::vector<rocksdb::ColumnFamilyDescriptor> column_families,
      Access access, const FrontFilterOptions* front_filter = nullptr) {
    std::shared_ptr<FrontFilter> front;
    if (front_filter != nullptr) {
      rocksdb::Status s = FrontFilter::Create(*front_filter, &front);
      for (rocksdb::ColumnFamilyDescriptor& family : column_families) {
        if (s.ok()) s = front->Prepare(&options, &family.options);
      }
      if (!s.ok()) return s;
    }
    // Made before the handles that they will own.
    std::vector<std::unique_ptr<rocksdb::ColumnFamilyHandle>> owners(
        column_families.size());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::unique_ptr<rocksdb::DB> db;
    rocksdb::Status status;
    if (access == Access::kReadOnly) {
      // RocksDB (7.8.3 to 11.8.1) follows a null pointer in a database that
      // tracks its logs, unless it compares them, too.
      options.track_and_verify_wals_in_manifest = true;
      status = rocksdb::DB::OpenForReadOnly(options, path, column_families,
                                            &handles, Into(&db));
    } else if (access == Access::kReadWrite) {
      status = rocksdb::DB::Open(options, path, column_families, &handles,
                                 Into(&db));
    } else {
      // The store's row locks already order commits, so few of RocksDB's lock
      // buckets are enough; the default is a million.
      rocksdb::OptimisticTransactionDBOptions locks;
      locks.occ_lock_buckets = 1024;
      status = rocksdb::OptimisticTransactionDB::Open(
          options, locks, path, column_families, &handles, &transactions_);
      db.reset(transactions_);
    }
    if (!status.ok()) return status;
    db_ = std::move(db);
    for (size_t i = 0; i < handles.size(); ++i) owners[i].reset(handles[i]);
    for (auto& owner : owners) Own(std::move(owner));
    if (front == nullptr) return status;
    status = front->Attach(db_.get(), handles);
    if (status.ok()) {
      front_ = front.get();
      db_ = std::make_unique<FrontFilterDB>(std::move(db_), std::move(front));
    } else {
      column_families_.clear();
      db_.reset();
    }
    return status;
  }

  // Creates and opens column families; after a failure, those that were created
  // are open. One call makes RocksDB write and read its OPTIONS file, which
  // lists all column families, only once.
  rocksdb::Status CreateColumnFamilies(
      const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families) {
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const rocksdb::Status status =
        db_->CreateColumnFamilies(column_families, &handles);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      Own(std::unique_ptr<rocksdb::ColumnFamilyHandle>(handle));
    }
    return status;
  }

  // Drops a column family, if it is open, from the database and from the open
  // ones. RocksDB 8.8 and later has dropped it, too, if it returns that its
  // OPTIONS file cannot be written. A second call then succeeds.
  rocksdb::Status DropColumnFamily(const std::string& name) {
    const ColumnFamily dropped = Find(name);
    if (dropped == nullptr) return rocksdb::Status::OK();
    rocksdb::Status status = db_->DropColumnFamily(dropped.get());
    // Only a column family that is dropped already is an invalid argument.
    if (status.IsInvalidArgument()) status = rocksdb::Status::OK();
    if (status.ok()) column_families_.erase(name);
    return status;
  }

  // Waits until no flush runs: readers have the files of all flushes then.
  void WaitForFlushes() const {
    uint64_t running = 0;
    while (db_->GetIntProperty(rocksdb::DB::Properties::kNumRunningFlushes,
                               &running) &&
           running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Writes the batch to the disk.
  rocksdb::Status WriteSynced(rocksdb::WriteBatch* batch) const {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return db_->Write(synced, batch);
  }

  // Returns an iterator over one row, at its first key. The front filter is
  // probed once: an absent row takes a tenth of the time of a RocksDB iterator,
  // and later seeks in a row need no probe.
  std::unique_ptr<rocksdb::Iterator> SeekRow(
      rocksdb::ReadOptions options, rocksdb::ColumnFamilyHandle* family,
      std::string_view row_bytes) const {
    if (front_ != nullptr && !front_->MayHaveRow(family, row_bytes)) {
      return std::unique_ptr<rocksdb::Iterator>(rocksdb::NewEmptyIterator());
    }
    options.prefix_same_as_start = true;  // probes the ROW section of each file
    std::unique_ptr<rocksdb::Iterator> row(
        db_->GetRootDB()->NewIterator(options, family));
    row->Seek(row_bytes);
    return row;
  }
  // Begins a transaction; its checks start now. REQUIRES Access::kTransactions.
  std::unique_ptr<rocksdb::Transaction> BeginTransaction() const {
    rocksdb::OptimisticTransactionOptions options;
    options.set_snapshot = true;
    return std::unique_ptr<rocksdb::Transaction>(
        transactions_->BeginTransaction(rocksdb::WriteOptions(), options));
  }

  // nullptr: there is none.
  const FrontFilter* front_filter() const { return front_; }

  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::DB* get() const { return db_.get(); }

  // The open column family of that name; nullptr without one.
  ColumnFamily Find(const std::string& name) const {
    const auto found = column_families_.find(name);
    return found == column_families_.end() ? nullptr : found->second;
  }

 private:
  void Own(std::unique_ptr<rocksdb::ColumnFamilyHandle> handle) {
    column_families_[handle->GetName()] = std::move(handle);
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::OptimisticTransactionDB* transactions_ = nullptr;  // in db_, or null
  const FrontFilter* front_ = nullptr;                        // db_'s
  std::map<std::string, ColumnFamily> column_families_;
};

}  // namespace rowbloom
