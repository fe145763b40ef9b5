// Database: a RocksDB database and the handles of its open column families,
// closed together in the right order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Movable, empty until opened. As thread-safe as rocksdb::DB; opening, creating
// column families and destroying are for one thread.
class Database {
 public:
  enum class Access { kReadWrite, kReadOnly };

  Database() = default;
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;
  ~Database();

  // Opens `path` with these column families. The object is left empty on
  // failure; errors are RocksDB's. REQUIRES an empty object.
  rocksdb::Status Open(
      const rocksdb::DBOptions& options, const std::string& path,
      const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families,
      Access access);

  // Adds a column family to the database and to the open ones.
  rocksdb::Status CreateColumnFamily(
      const rocksdb::ColumnFamilyDescriptor& column_family);

  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::DB* get() const { return db_.get(); }

  // In the order of Open, then of CreateColumnFamily.
  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const {
    return handles_;
  }
  // The open column family of that name; nullptr without one.
  rocksdb::ColumnFamilyHandle* Find(const std::string& name) const;

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace rowbloom
