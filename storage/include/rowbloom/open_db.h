// Opening a database with any version of RocksDB. The output of DB::Open,
// OpenForReadOnly and OpenAsSecondary is a DB** before RocksDB 10, both in 10,
// and a std::unique_ptr<DB>* from 11 on:
//
//   std::unique_ptr<rocksdb::DB> db;
//   rocksdb::Status s =
//       rocksdb::DB::Open(options, "users.db", rowbloom::Into(&db));
#pragma once

#include <memory>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/version.h"

namespace rowbloom {

// Stands for the output in a call of one of these functions. `db`, which has to
// outlive the call, owns the database when the statement of the call has ended,
// and is null if the call failed.
class Into {
 public:
  explicit Into(std::unique_ptr<rocksdb::DB>* db) : db_(db) {}
  // RocksDB leaves its output as it was if it refuses the options.
  ~Into() { *db_ = std::unique_ptr<rocksdb::DB>(std::exchange(opened_, {})); }
  Into(const Into&) = delete;
  Into& operator=(const Into&) = delete;

#if ROCKSDB_MAJOR >= 10
  using Output = std::unique_ptr<rocksdb::DB>;
#else
  using Output = rocksdb::DB*;
#endif
  operator Output*() { return &opened_; }

 private:
  std::unique_ptr<rocksdb::DB>* db_;
  Output opened_ = nullptr;
};

}  // namespace rowbloom
