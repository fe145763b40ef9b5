// The store behind rowbloom::Store, once it is open (open_store.h opens it).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/store.h"
#include "storage/store/clock.h"
#include "storage/store/database.h"

namespace rowbloom {

// A family of an open store.
struct Family {
  FamilyOptions options;
  rocksdb::ColumnFamilyHandle* handle = nullptr;  // owned by the Database
  std::shared_ptr<const rocksdb::FilterPolicy> filter_policy;
};

// What the store is made of.
struct OpenedStore {
  std::string path;
  bool read_only = false;
  KeyLayout key_layout = KeyLayout::Escaped();
  std::shared_ptr<rocksdb::Cache> block_cache;
  Database database;
  std::map<std::string, Family, std::less<>> families;
};

// InvalidArgument: no such family; the message lists those there are.
rocksdb::Status UnknownFamily(std::string_view name, const OpenedStore& opened);

class StoreImpl final : public Store {
 public:
  StoreImpl(OpenedStore opened, LeasedClock clock);

  rocksdb::Status Put(std::string_view row, std::string_view family,
                      std::string_view qualifier,
                      std::string_view value) override;
  rocksdb::Status Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier) override;
  rocksdb::Status DeleteRow(std::string_view row) override;
  rocksdb::Status Write(const WriteBatch& batch) override;
  rocksdb::Status Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string* value) override;
  rocksdb::Status GetCell(std::string_view row, std::string_view family,
                          std::string_view qualifier, Cell* cell) override;
  rocksdb::Status GetRow(std::string_view row,
                         std::vector<Cell>* cells) override;
  rocksdb::Status Flush() override;
  rocksdb::Status Stats(StoreStats* stats) override;
  std::map<std::string, FamilyOptions> Families() const override;

 private:
  // A WriteBatch::Change whose bytes the caller holds.
  struct Change {
    WriteBatch::ChangeType type;
    std::string_view row;
    std::string_view family;
    std::string_view qualifier;
    std::string_view value;
  };

  // Checks and writes the changes `change(0)` to `change(count - 1)` as one.
  template <typename ChangeAt>
  rocksdb::Status Apply(size_t count, ChangeAt change);
  rocksdb::Status Add(const Change& change, std::string_view row_bytes,
                      std::string_view head, rocksdb::WriteBatch* batch) const;

  // Each is InvalidArgument when the argument is out of its limits.
  rocksdb::Status EncodeRow(std::string_view row, std::string* row_bytes) const;
  rocksdb::Status FindFamily(std::string_view name,
                             const Family** family) const;

  rocksdb::Status ReadCell(std::string_view row, std::string_view family,
                           std::string_view qualifier,
                           rocksdb::PinnableSlice* stored,
                           uint64_t* timestamp_ms,
                           std::string_view* value) const;

  const OpenedStore opened_;
  std::mutex write_mutex_;
  LeasedClock clock_;  // guarded by write_mutex_
};

}  // namespace rowbloom
