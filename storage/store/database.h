// Database: a RocksDB database and the handles of its open column families,
// closed together in the right order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"

namespace rowbloom {

// Owned by whoever uses the column family, so that one that is dropped keeps
// its files until the last reader is done. Must be gone before the Database is.
using ColumnFamily = std::shared_ptr<rocksdb::ColumnFamilyHandle>;

// Movable, empty until opened. As thread-safe as rocksdb::DB; opening, finding,
// creating and dropping column families and destroying are for one thread.
class Database {
 public:
  enum class Access { kReadWrite, kReadOnly };

  Database() = default;
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;

  // Opens `path` with these column families. The object is left empty on
  // failure; errors are RocksDB's. REQUIRES an empty object.
  rocksdb::Status Open(
      const rocksdb::DBOptions& options, const std::string& path,
      const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families,
      Access access) {
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
#if ROCKSDB_MAJOR >= 10
    std::unique_ptr<rocksdb::DB> db;
#else
    rocksdb::DB* db = nullptr;
#endif
    const rocksdb::Status status =
        access == Access::kReadOnly
            ? rocksdb::DB::OpenForReadOnly(options, path, column_families,
                                           &handles, &db)
            : rocksdb::DB::Open(options, path, column_families, &handles, &db);
    if (!status.ok()) return status;
#if ROCKSDB_MAJOR >= 10
    db_ = std::move(db);
#else
    db_.reset(db);
#endif
    for (rocksdb::ColumnFamilyHandle* handle : handles) Own(handle);
    return status;
  }

  // Adds a column family to the database and to the open ones.
  rocksdb::Status CreateColumnFamily(
      const rocksdb::ColumnFamilyDescriptor& column_family) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const rocksdb::Status status = db_->CreateColumnFamily(
        column_family.options, column_family.name, &handle);
    // From RocksDB 9 on there may be a handle, to be destroyed, on failure,
    // too.
    if (handle != nullptr) Own(handle);
    return status;
  }

  // Takes a column family, if it is open, out of the database and from the open
  // ones.
  rocksdb::Status DropColumnFamily(const std::string& name) {
    const ColumnFamily dropped = Find(name);
    if (dropped == nullptr) return rocksdb::Status::OK();
    const rocksdb::Status status = db_->DropColumnFamily(dropped.get());
    if (status.ok()) column_families_.erase(name);
    return status;
  }

  // Writes the batch to the disk.
  rocksdb::Status WriteSynced(rocksdb::WriteBatch* batch) const {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return db_->Write(synced, batch);
  }

  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::DB* get() const { return db_.get(); }

  // The open column family of that name; nullptr without one.
  ColumnFamily Find(const std::string& name) const {
    const auto found = column_families_.find(name);
    return found == column_families_.end() ? nullptr : found->second;
  }

 private:
  void Own(rocksdb::ColumnFamilyHandle* handle) {
    column_families_[handle->GetName()].reset(
        handle, [db = db_.get()](rocksdb::ColumnFamilyHandle* unused) {
          // Fails only for handles of another database.
          db->DestroyColumnFamilyHandle(unused).PermitUncheckedError();
        });
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, ColumnFamily> column_families_;
};

}  // namespace rowbloom
