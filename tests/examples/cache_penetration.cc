// A cache-penetration attack: gets of users that do not exist reach the
// database, because no cache in front of it holds them. The program tells what
// such a get costs without a filter, with RocksDB's own Bloom filter, with
// rowbloom's filters and with the front filter. All blocks are in the block
// cache.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/open_db.h"

using rocksdb::Status;

namespace {

constexpr int kUsers = 20'000;
constexpr int kFiles = 8;
constexpr int kAttacks = 200'000;

enum class Defence { kNone, kStockBloom, kRowbloom, kFrontFilter };

constexpr std::array<const char*, 4> kNames = {"none", "stock Bloom",
                                               "rowbloom", "front filter"};

std::string Mail(int user) { return "user_" + std::to_string(user) + ":mail"; }

Status Open(Defence defence, std::unique_ptr<rocksdb::DB>* db,
            std::shared_ptr<rocksdb::Statistics>* statistics) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(64 << 20);
  table.optimize_filters_for_memory = false;  // the same bytes everywhere
  if (defence == Defence::kStockBloom) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.disable_auto_compactions = true;  // the files stay as they are
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.statistics = *statistics = rocksdb::CreateDBStatistics();
  Status s;
  if (defence >= Defence::kRowbloom) {
    s = rowbloom::ConfigureRowFilters(
        {.key_layout = rowbloom::KeyLayout::Delimited(':')}, &options);
    if (!s.ok()) return s;
  }
  const std::string path =
      "users_" + std::to_string(static_cast<int>(defence)) + ".db";
  if (defence == Defence::kFrontFilter) {
    std::unique_ptr<rowbloom::FrontFilterDB> opened;
    s = rowbloom::OpenWithFrontFilter({}, options, path, &opened);
    *db = std::move(opened);
  } else {
    s = rocksdb::DB::Open(options, path, rowbloom::Into(db));
  }
  return s;
}

// Users have even numbers. Each file has users of the whole range.
Status Write(rocksdb::DB* db) {
  Status s;
  for (int file = 0; s.ok() && file < kFiles; ++file) {
    for (int user = file; s.ok() && user < kUsers; user += kFiles) {
      s = db->Put({}, Mail(100'000 + 2 * user), "ada@example.org");
    }
    if (s.ok()) s = db->Flush({});
  }
  return s;
}

Status Get(rocksdb::DB* db, int user, bool expected) {
  std::string mail;
  const Status s = db->Get({}, Mail(100'000 + user), &mail);
  if (!s.ok() && !s.IsNotFound()) return s;
  if (s.ok() != expected) return Status::Aborted("a wrong answer");
  return Status::OK();
}

Status Attack(Defence defence) {
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::unique_ptr<rocksdb::DB> db;
  Status s = Open(defence, &db, &statistics);
  if (s.ok()) s = Write(db.get());
  // Every user is found; the blocks are in the cache then.
  for (int user = 0; s.ok() && user < kUsers; ++user) {
    s = Get(db.get(), 2 * user, true);
  }
  if (!s.ok()) return s;
  if (s = statistics->Reset(); !s.ok()) return s;
  const auto started = std::chrono::steady_clock::now();
  for (int64_t attack = 0; s.ok() && attack < kAttacks; ++attack) {
    s = Get(db.get(), 2 * static_cast<int>(attack * 7919 % kUsers) + 1, false);
  }
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - started;
  const auto a_get = [&](uint64_t count) {
    return static_cast<double>(count) / kAttacks;
  };
  std::printf(
      "%-14s %17.2f %14.1f%% %15.0f\n", kNames[static_cast<size_t>(defence)],
      a_get(statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
            statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS)),
      100 * a_get(statistics->getTickerCount(rocksdb::NUMBER_KEYS_READ)),
      kAttacks / seconds.count());
  return s;
}

}  // namespace

int main() {
  std::printf("%d users in %d files, %d gets of unknown users\n\n", kUsers,
              kFiles, kAttacks);
  std::printf("%-14s %17s %15s %15s\n", "filter", "data blocks a get",
              "reach RocksDB", "gets a second");
  Status s;
  for (const Defence defence : {Defence::kNone, Defence::kStockBloom,
                                Defence::kRowbloom, Defence::kFrontFilter}) {
    if (s.ok()) s = Attack(defence);
  }
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
