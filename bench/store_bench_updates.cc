#include "bench/store_bench_updates.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/random.h"
#include "bench/store_bench_databases.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {
namespace {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

constexpr uint64_t kCounters = 8192;
constexpr size_t kAtOnce = 64;
constexpr uint64_t kLargeValues = 1024;
constexpr size_t kLargeValueBytes = size_t{16} << 10;
constexpr uint32_t kMinBlobBytes = 4096;
constexpr uint64_t kTurnOfLargePuts = 128;
constexpr uint64_t kRoundsOfLargePuts = 64;

// The limits of claims, of RocksDB's time.
constexpr double kUpdateTime = 1.25;
constexpr double kLargeValueTime = 1.15;

// Cells of rows of their own, under both of their names.
struct Names {
  std::vector<std::string> rows;
  std::vector<std::string> keys;

  Status Make(uint64_t count, uint64_t seed) {
    Random random(seed);
    for (uint64_t i = 0; i < count; ++i) {
      rows.push_back("user" + std::to_string(random.Next()));
      const auto key = KeyLayout::Escaped().EncodeRow(rows.back());
      if (!key) return Status::InvalidArgument(key.error());
      keys.push_back(*key + kQualifier);
    }
    return Status::OK();
  }
};

Status NextOf(std::string_view value, std::string* next) {
  int64_t counter = 0;
  if (!DecodeCounter(value, &counter)) {
    return Status::Corruption("a counter has " + std::to_string(value.size()) +
                              " bytes");
  }
  *next = EncodeCounter(counter + 1);
  return Status::OK();
}

// Counters in RocksDB. One who reads before a write keeps others out by a
// mutex, or has a transaction.
class PlainCounters {
 public:
  PlainCounters(const Names& names, PlainDatabase* database)
      : names_(names), database_(*database) {}

  Status Fill() {
    Status s;
    for (const std::string& key : names_.keys) {
      if (s.ok()) s = Put(key, EncodeCounter(0));
    }
    if (s.ok()) s = database_.Flush();
    return s.ok() ? database_.Compact() : s;
  }

  Status Increment(uint64_t i) {
    const std::lock_guard lock(mutex_);
    PinnableSlice value;
    std::string next;
    Status s = database_->Get({}, database_.family(), names_.keys[i], &value);
    if (s.ok()) s = NextOf(value.ToStringView(), &next);
    return s.ok() ? Put(names_.keys[i], next) : s;
  }

  Status IncrementMany(uint64_t first) {
    const std::lock_guard lock(mutex_);
    std::array<Slice, kAtOnce> keys;
    std::array<PinnableSlice, kAtOnce> values;
    std::array<Status, kAtOnce> statuses;
    for (size_t n = 0; n < kAtOnce; ++n) keys[n] = names_.keys[first + n];
    database_->MultiGet({}, database_.family(), kAtOnce, keys.data(),
                        values.data(), statuses.data());
    rocksdb::WriteBatch batch;
    std::string next;
    Status s;
    for (size_t n = 0; s.ok() && n < kAtOnce; ++n) {
      s = statuses[n];
      if (s.ok()) s = NextOf(values[n].ToStringView(), &next);
      if (s.ok()) s = batch.Put(database_.family(), keys[n], next);
    }
    return s.ok() ? database_->Write({}, &batch) : s;
  }

  Status CheckAndPut(uint64_t i, std::string_view expected,
                     std::string_view next, bool* applied) {
    const std::lock_guard lock(mutex_);
    PinnableSlice value;
    const Status s =
        database_->Get({}, database_.family(), names_.keys[i], &value);
    *applied = s.ok() && value.ToStringView() == expected;
    return *applied ? Put(names_.keys[i], next) : s;
  }

  Status IncrementInTransaction(uint64_t i) {
    const auto transaction = database_.BeginTransaction();
    std::string value;
    std::string next;
    Status s = transaction->GetForUpdate({}, database_.family(), names_.keys[i],
                                         &value);
    if (s.ok()) s = NextOf(value, &next);
    if (s.ok()) s = transaction->Put(database_.family(), names_.keys[i], next);
    return s.ok() ? transaction->Commit() : s;
  }

 private:
  Status Put(const Slice& key, const Slice& value) {
    return database_->Put({}, database_.family(), key, value);
  }

  const Names& names_;
  PlainDatabase& database_;
  std::mutex mutex_;
};

class StoreCounters {
 public:
  StoreCounters(const Names& names, Store* store)
      : names_(names), store_(*store) {}

  Status Fill() {
    Status s;
    for (const std::string& row : names_.rows) {
      if (s.ok()) s = store_.Put(row, kFamily, kQualifier, EncodeCounter(0));
    }
    return s.ok() ? store_.Compact() : s;
  }

  Status Increment(uint64_t i) {
    return store_.Increment(names_.rows[i], kFamily, kQualifier, 1,
                            /*sum=*/nullptr);
  }

  Status IncrementMany(uint64_t first) {
    batch_.Clear();
    for (size_t n = 0; n < kAtOnce; ++n) {
      batch_.Increment(names_.rows[first + n], kFamily, kQualifier, 1);
    }
    return store_.Write(batch_);
  }

  Status CheckAndPut(uint64_t i, std::string_view expected,
                     std::string_view next, bool* applied) {
    return store_.CheckAndPut(names_.rows[i], kFamily, kQualifier, expected,
                              next, applied);
  }

  Status IncrementInTransaction(uint64_t i) {
    std::unique_ptr<Transaction> transaction;
    std::optional<std::string> value;
    std::string next;
    Status s = store_.Begin(&transaction);
    if (s.ok())
      s = transaction->Get(names_.rows[i], kFamily, kQualifier, &value);
    if (s.ok()) s = NextOf(value.value_or(""), &next);
    if (!s.ok()) return s;
    transaction->Put(names_.rows[i], kFamily, kQualifier, next);
    return transaction->Commit();
  }

 private:
  const Names& names_;
  Store& store_;
  WriteBatch batch_;
};

// A store and two databases with its options, of which one is the control.
struct Databases {
  std::unique_ptr<Store> store;
  PlainDatabase plain;
  PlainDatabase again;

  Status Create(const StoreOptions& options, const FamilyOptions& family,
                const std::string& path) {
    Status s = CreateStore(options, family, path, &store);
    for (const auto& [database, suffix] :
         {std::pair(&plain, "_rocksdb"), std::pair(&again, "_again")}) {
      if (!s.ok()) return s;
      s = database->Create(path, path + suffix, options.block_cache_bytes,
                           nullptr, options.transactions);
    }
    return s;
  }
};

// An operation changes `cells` of the counters. each(counters) makes what does
// the operation i.
template <typename Each>
Status MeasureCounters(const Names& names, const StoreBenchOptions& options,
                       const char* what, uint64_t cells, bool transactions,
                       std::optional<double> claimed, Each each, Bench* bench) {
  if (!bench->Wants(what)) return Status::OK();
  Databases databases;
  Status s =
      databases.Create({.transactions = transactions}, {}, options.Path(what));
  if (!s.ok()) return s;
  PlainCounters plain(names, &databases.plain);
  PlainCounters again(names, &databases.again);
  StoreCounters of_store(names, databases.store.get());
  s = plain.Fill();
  if (s.ok()) s = again.Fill();
  if (s.ok()) s = of_store.Fill();
  if (!s.ok()) return s;
  return bench->Compare(
      {what, "one file and memory", "operation", AtMost(claimed)},
      {Repeat("RocksDB", each(&plain)),
       Repeat("store, latest", each(&of_store)),
       Repeat(kControl, each(&again))},
      {.operations = names.rows.size() / cells,
       .turn = 512 / cells,
       .control = false});
}

// Values that no codec makes smaller, out of line in RocksDB's blob files.
Status MeasureLargeValues(const StoreBenchOptions& options, Bench* bench) {
  constexpr char kLargePut[] = "put of a value of 16 KiB";
  constexpr char kLargeGet[] = "get of a value of 16 KiB";
  if (!bench->Wants(kLargePut) && !bench->Wants(kLargeGet)) return Status::OK();
  Names names;
  Databases databases;
  Status s = names.Make(kLargeValues, options.seed);
  if (s.ok()) {
    s = databases.Create(TreeOptions(kLargeValues * kLargeValueBytes),
                         {.min_blob_bytes = kMinBlobBytes},
                         options.Path("large_values"));
  }
  if (!s.ok()) return s;
  Random random(options.seed + 1);
  std::string value(kLargeValueBytes, '\0');
  for (char& byte : value) byte = static_cast<char>(random.Next());
  const auto store_put = [&](uint64_t i) {
    return databases.store->Put(names.rows[i], kFamily, kQualifier, value);
  };
  const auto plain_put = [&names, &value](PlainDatabase* database) {
    return [&names, &value, database](uint64_t i) {
      return (*database)->Put({}, database->family(), names.keys[i], value);
    };
  };
  for (uint64_t i = 0; s.ok() && i < kLargeValues; ++i) {
    s = store_put(i);
    if (s.ok()) s = plain_put(&databases.plain)(i);
    if (s.ok()) s = plain_put(&databases.again)(i);
  }
  if (s.ok()) s = databases.store->Flush();
  if (s.ok()) s = databases.plain.Flush();
  if (s.ok()) s = databases.again.Flush();
  StoreStats stats;
  if (s.ok()) s = databases.store->Stats(&stats);
  if (s.ok() && stats.families[kFamily].blob_files == 0) {
    s = Status::Corruption("no value is in a blob file");
  }
  if (!s.ok()) return s;
  const auto check = [&value](const Status& read, std::string_view found) {
    return read.ok() && found != value ? Status::Corruption("another value")
                                       : read;
  };
  s = bench->Compare({kLargeGet, "blob files", "get", AtMost(kLargeValueTime)},
                     {Repeat("RocksDB",
                             [&](uint64_t i) {
                               PinnableSlice found;
                               PlainDatabase& plain = databases.plain;
                               const Status read = plain->Get(
                                   {}, plain.family(), names.keys[i], &found);
                               return check(read, found.ToStringView());
                             }),
                      Repeat("store, latest",
                             [&](uint64_t i) {
                               PinnableCell found;
                               const Status read = databases.store->Get(
                                   names.rows[i], kFamily, kQualifier, &found);
                               return check(read, found.value());
                             })},
                     {.operations = kLargeValues, .turn = 64});
  if (!s.ok()) return s;
  return bench->Compare(
      {kLargePut, "blob files", "put", AtMost(kLargeValueTime)},
      {Repeat("RocksDB", plain_put(&databases.plain)),
       Repeat("store, latest", store_put),
       Repeat(kControl, plain_put(&databases.again))},
      {.operations = kLargeValues,
       .turn = kTurnOfLargePuts,
       .min_rounds = kRoundsOfLargePuts,
       .seconds = 0,
       .control = false});
}

}  // namespace

Status MeasureUpdates(const StoreBenchOptions& options, Bench* bench) {
  Names names;
  Status s = names.Make(kCounters, options.seed);
  const auto measure = [&](const char* what, uint64_t cells, bool transactions,
                           auto each) {
    if (!s.ok()) return;
    // A batch of increments reads its cells one by one.
    const auto claimed =
        cells == 1 ? std::optional<double>(kUpdateTime) : std::nullopt;
    s = MeasureCounters(names, options, what, cells, transactions, claimed,
                        each, bench);
  };
  measure("check and put", 1, false, [](auto* counters) {
    // A value has the number of the checks of its cell so far.
    return [counters, checks = std::vector<int64_t>(kCounters)](
               uint64_t i) mutable -> Status {
      const std::string expected = EncodeCounter(checks[i]);
      const std::string next = EncodeCounter(++checks[i]);
      bool applied = false;
      const Status checked = counters->CheckAndPut(i, expected, next, &applied);
      return checked.ok() && !applied
                 ? Status::Corruption("a counter has another value")
                 : checked;
    };
  });
  measure("increment", 1, false, [](auto* counters) {
    return [counters](uint64_t i) { return counters->Increment(i); };
  });
  measure("increments, 64 in a batch", kAtOnce, false, [](auto* counters) {
    return
        [counters](uint64_t i) { return counters->IncrementMany(i * kAtOnce); };
  });
  measure("transaction of a get and a put", 1, true, [](auto* counters) {
    return
        [counters](uint64_t i) { return counters->IncrementInTransaction(i); };
  });
  return s.ok() ? MeasureLargeValues(options, bench) : s;
}

}  // namespace rowbloom::bench
