// Into with the output of the RocksDB whose major version the build gives.
#include <gtest/gtest.h>

#include <memory>

#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/version.h"
#undef ROCKSDB_MAJOR
#define ROCKSDB_MAJOR OTHER_MAJOR
#include "rowbloom/open_db.h"

namespace rowbloom {
namespace {

rocksdb::DB* NewDb() {
  return new rocksdb::StackableDB(static_cast<rocksdb::DB*>(nullptr));
}

void Open(Into::Output* db) { *db = Into::Output(NewDb()); }
// RocksDB leaves its output as it was if it refuses the options.
void Refuse(Into::Output* /*db*/) {}

TEST(Into, OwnsWhatWasOpened) {
  std::unique_ptr<rocksdb::DB> db;
  Open(Into(&db));
  EXPECT_NE(db, nullptr);
}

TEST(Into, IsNullAfterAFailure) {
  std::unique_ptr<rocksdb::DB> db(NewDb());
  Refuse(Into(&db));
  EXPECT_EQ(db, nullptr);
}

}  // namespace
}  // namespace rowbloom
