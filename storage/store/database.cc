#include "storage/store/database.h"

#include <algorithm>
#include <utility>

#include "rocksdb/version.h"

namespace rowbloom {

using rocksdb::Status;

Status Database::Open(
    const rocksdb::DBOptions& options, const std::string& path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families,
    Access access) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
#if ROCKSDB_MAJOR >= 10
  std::unique_ptr<rocksdb::DB> db;
#else
  rocksdb::DB* db = nullptr;
#endif
  const Status status =
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

Status Database::CreateColumnFamily(
    const rocksdb::ColumnFamilyDescriptor& column_family) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const Status status = db_->CreateColumnFamily(column_family.options,
                                                column_family.name, &handle);
  // From RocksDB 9 on there may be a handle, to be destroyed, on failure, too.
  if (handle != nullptr) Own(handle);
  return status;
}

Status Database::DropColumnFamily(const std::string& name) {
  const ColumnFamily dropped = Find(name);
  if (dropped == nullptr) return Status::OK();
  const Status status = db_->DropColumnFamily(dropped.get());
  if (status.ok()) std::erase(column_families_, dropped);
  return status;
}

ColumnFamily Database::Find(const std::string& name) const {
  for (const ColumnFamily& column_family : column_families_) {
    if (column_family->GetName() == name) return column_family;
  }
  return nullptr;
}

void Database::Own(rocksdb::ColumnFamilyHandle* handle) {
  column_families_.emplace_back(
      handle, [db = db_.get()](rocksdb::ColumnFamilyHandle* unused) {
        // Fails only for handles of another database.
        db->DestroyColumnFamilyHandle(unused).PermitUncheckedError();
      });
}

}  // namespace rowbloom
