// Opening a database with any version of RocksDB. The output of DB::Open,
// OpenForReadOnly and OpenAsSecondary is a DB** before RocksDB 10, both in 10,
// and a std::unique_ptr<DB>* from 11 on:
//
//   std::unique_ptr<rocksdb::DB> db;
//   rocksdb::Status s =
//       rocksdb::DB::Open(options, "users.db", rowbloom::Into(&db));
#pragma once

#include <memory>

#include "rocksdb/db.h"
#include "rocksdb/version.h"

namespace rowbloom {

// Stands for the output in a call of one of these functions. `db`, which has to
// outlive the call, owns the database when the statement of the call has ended,
// and is null if the call failed.
class Into {
 public:
  explicit Into(std::unique_ptr<rocksdb::DB>* db) : db_(db) {}
  Into(const Into&) = delete;
  Into& operator=(const Into&) = delete;

#if ROCKSDB_MAJOR >= 10
  operator std::unique_ptr<rocksdb::DB>*() { return db_; }
#else
  ~Into() { db_->reset(opened_); }
  operator rocksdb::DB**() { return &opened_; }
#endif

 private:
  std::unique_ptr<rocksdb::DB>* db_;
#if ROCKSDB_MAJOR < 10
  rocksdb::DB* opened_ = nullptr;
#endif
};

}  // namespace rowbloom
