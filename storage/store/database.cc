#include "storage/store/database.h"

#include <utility>

#include "rocksdb/version.h"

namespace rowbloom {

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    // Fails only for handles of another database.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::Status Database::Open(
    const rocksdb::DBOptions& options, const std::string& path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families,
    Access access) {
#if ROCKSDB_MAJOR >= 10
  std::unique_ptr<rocksdb::DB> db;
#else
  rocksdb::DB* db = nullptr;
#endif
  const rocksdb::Status status =
      access == Access::kReadOnly
          ? rocksdb::DB::OpenForReadOnly(options, path, column_families,
                                         &handles_, &db)
          : rocksdb::DB::Open(options, path, column_families, &handles_, &db);
#if ROCKSDB_MAJOR >= 10
  if (status.ok()) db_ = std::move(db);
#else
  if (status.ok()) db_.reset(db);
#endif
  return status;
}

rocksdb::Status Database::CreateColumnFamily(
    const rocksdb::ColumnFamilyDescriptor& column_family) {
  handles_.reserve(handles_.size() + 1);
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status status = db_->CreateColumnFamily(
      column_family.options, column_family.name, &handle);
  // From RocksDB 9 on there may be a handle, to be destroyed, on failure, too.
  if (handle != nullptr) handles_.push_back(handle);
  return status;
}

rocksdb::ColumnFamilyHandle* Database::Find(const std::string& name) const {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  return nullptr;
}

}  // namespace rowbloom
