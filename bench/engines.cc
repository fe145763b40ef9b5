#include "bench/engines.h"

#include <array>
#include <vector>

#include "bench/store_bench_databases.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/open_db.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

class StoreEngine final : public Engine {
 public:
  static Status Create(const std::string& path, uint64_t cache_bytes,
                       std::unique_ptr<Engine>* engine) {
    auto created = std::make_unique<StoreEngine>();
    Status s = CreateStore({.block_cache_bytes = cache_bytes}, {}, path,
                           &created->store_);
    *engine = std::move(created);
    return s;
  }

  Status Write(std::span<const CellView> cells) override {
    batch_.Clear();
    for (const CellView& cell : cells) {
      batch_.Put(cell.row, kFamily, cell.qualifier, cell.value);
    }
    return store_->Write(batch_);
  }

  Status Get(std::string_view row, std::string_view qualifier,
             Answers* answers) override {
    const Status s = store_->Get(row, kFamily, qualifier, &value_);
    if (value_) answers->Add({row, qualifier, *value_});
    return s;
  }

  Status GetRow(std::string_view row, Answers* answers) override {
    const Status s = store_->GetRow(row, &cells_);
    for (const rowbloom::Cell& cell : cells_) {
      answers->Add({row, cell.qualifier, cell.value});
    }
    return s;
  }

  Status Scan(std::string_view start, uint64_t rows,
              Answers* answers) override {
    RowScanner scanner;
    const Status s = store_->Scan(
        {.start_row = std::string(start), .limit = rows}, &scanner);
    if (!s.ok()) return s;
    for (const Row& row : scanner) {
      for (const rowbloom::Cell& cell : row.cells) {
        answers->Add({row.row, cell.qualifier, cell.value});
      }
    }
    return scanner.status();
  }

  Status Flush() override { return store_->Flush(); }

 private:
  std::unique_ptr<Store> store_;
  WriteBatch batch_;
  std::optional<std::string> value_;
  std::vector<rowbloom::Cell> cells_;
};

// Keys are row and qualifier. RocksDB has its default options but for the size
// of the block cache and, if so wanted, its Bloom filter of rows and keys.
class RocksdbEngine final : public Engine {
 public:
  template <bool kBloom>
  static Status Create(const std::string& path, uint64_t cache_bytes,
                       std::unique_ptr<Engine>* engine) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    if (kBloom) {
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
      options.prefix_extractor.reset(
          rocksdb::NewFixedPrefixTransform(kEngineRowBytes));
    }
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    auto created = std::make_unique<RocksdbEngine>();
    Status s = rocksdb::DB::Open(options, path, Into(&created->db_));
    *engine = std::move(created);
    return s;
  }

  Status Write(std::span<const CellView> cells) override {
    batch_.Clear();
    for (const CellView& cell : cells) {
      Status s = batch_.Put(Key(cell.row, cell.qualifier), cell.value);
      if (!s.ok()) return s;
    }
    return db_->Write({}, &batch_);
  }

  Status Get(std::string_view row, std::string_view qualifier,
             Answers* answers) override {
    value_.Reset();
    const Status s =
        db_->Get({}, db_->DefaultColumnFamily(), Key(row, qualifier), &value_);
    if (s.ok()) answers->Add({row, qualifier, value_.ToStringView()});
    return s.IsNotFound() ? Status::OK() : s;
  }

  Status GetRow(std::string_view row, Answers* answers) override {
    rocksdb::ReadOptions read;
    // Asks the filter, if there is one with prefixes.
    read.prefix_same_as_start = true;
    const std::string end = std::string(row) + '\xff';
    const Slice upper = end;
    read.iterate_upper_bound = &upper;
    return Walk(read, row, 1, answers);
  }

  Status Scan(std::string_view start, uint64_t rows,
              Answers* answers) override {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    return Walk(read, start, rows, answers);
  }

  Status Flush() override { return db_->Flush({}); }

 private:
  Slice Key(std::string_view row, std::string_view qualifier) {
    key_.assign(row).append(qualifier);
    return key_;
  }

  Status Walk(const rocksdb::ReadOptions& read, std::string_view start,
              uint64_t rows, Answers* answers) {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    row_.clear();
    for (it->Seek(start); it->Valid(); it->Next()) {
      const std::string_view key = it->key().ToStringView();
      if (!key.starts_with(row_) || row_.empty()) {
        if (rows-- == 0) break;
        row_ = key.substr(0, kEngineRowBytes);
      }
      answers->Add(
          {row_, key.substr(kEngineRowBytes), it->value().ToStringView()});
    }
    return it->status();
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  std::string key_;
  std::string row_;
  rocksdb::PinnableSlice value_;
};

#ifndef ROWBLOOM_BENCH_LMDB
constexpr auto* kCreateLmdb = static_cast<decltype(&CreateLmdb)>(nullptr);
#else
constexpr auto* kCreateLmdb = &CreateLmdb;
#endif
#ifndef ROWBLOOM_BENCH_SQLITE
constexpr auto* kCreateSqlite = static_cast<decltype(&CreateSqlite)>(nullptr);
#else
constexpr auto* kCreateSqlite = &CreateSqlite;
#endif

constexpr std::array kKinds = {
    EngineKind{"store", &StoreEngine::Create},
    EngineKind{"RocksDB", &RocksdbEngine::Create<false>},
    EngineKind{"RocksDB, Bloom", &RocksdbEngine::Create<true>},
    EngineKind{"LMDB", kCreateLmdb},
    EngineKind{"SQLite", kCreateSqlite},
};

}  // namespace

std::span<const EngineKind> EngineKinds() { return kKinds; }

}  // namespace rowbloom::bench
