#include "tests/compat/swap_database.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rowbloom/printable.h"
#include "storage/store/database.h"
#include "tests/compat/failure.h"

namespace rowbloom::compat {
namespace {

using rocksdb::Slice;

constexpr int kQuestions = 100;

struct LoadedOptions {
  rocksdb::DBOptions db;
  rocksdb::ColumnFamilyOptions family;
  std::string not_strict;

  const rocksdb::BlockBasedTableOptions& table() const {
    return *family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  }
  void SetPolicy(const std::shared_ptr<const rocksdb::FilterPolicy>& policy) {
    rocksdb::BlockBasedTableOptions changed = table();
    changed.filter_policy = policy;
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
  }
};

std::shared_ptr<const rocksdb::FilterPolicy> PolicyOf(
    Writer writer, const FilterPolicyOptions& filter) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  switch (writer) {
    case Writer::kStockBloom:
      policy.reset(rocksdb::NewBloomFilterPolicy(10));
      break;
    case Writer::kStockRibbon:
      policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
      break;
    case Writer::kRowbloom:
      RequireOk(NewFilterPolicy(filter, &policy), "NewFilterPolicy");
      break;
  }
  return policy;
}

LoadedOptions NewDatabaseOptions(const SwapCase& swap_case,
                                 uint32_t format_version) {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = format_version;
  if (swap_case.partitioned) {
    table.partition_filters = true;
    table.index_type =
        rocksdb::BlockBasedTableOptions::IndexType::kTwoLevelIndexSearch;
    table.metadata_block_size = 128;
    table.block_size = 256;
  }
  LoadedOptions options;
  options.db.create_if_missing = true;
  options.family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.family.prefix_extractor =
      NewRowPrefixExtractor(*swap_case.filter.key_layout);
  options.family.table_properties_collector_factories = {
      NewFilterPropertiesFactory()};
  options.family.compression = rocksdb::kLZ4Compression;
  options.family.disable_auto_compactions = true;
  return options;
}

// Loads options as a program does that relies on its filters: strictly. Options
// of a newer RocksDB that are unknown here may be left out.
LoadedOptions LoadOptions(const std::string& path) {
  RequireOk(RegisterRowbloom(), "RegisterRowbloom");
  LoadedOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.ignore_unsupported_options = false;
  rocksdb::Status status =
      rocksdb::LoadLatestOptions(config, path, &options.db, &families);
  if (!status.ok()) {
    options.not_strict = status.ToString();
    config.ignore_unknown_options = true;
    status = rocksdb::LoadLatestOptions(config, path, &options.db, &families);
  }
  RequireOk(status, "loading its options");
  Require(families.size() == 1, "one column family in its options");
  options.family = families[0].options;
  return options;
}

void RequireNames(const SwapCase& swap_case, const LoadedOptions& options) {
  const auto& policy = options.table().filter_policy;
  const std::string expected =
      PolicyOf(Writer::kRowbloom, swap_case.filter)->Name();
  Require(policy != nullptr && policy->Name() == expected,
          "filters not used: OPTIONS name policy " +
              std::string(policy == nullptr ? "none" : policy->Name()) +
              ", expected " + expected);
  Require(options.family.prefix_extractor != nullptr,
          "filters not used: OPTIONS name no prefix extractor");
  Require(options.table().partition_filters == swap_case.partitioned,
          "partition_filters in its options");
}

void Open(const LoadedOptions& options, const std::string& path,
          Database* database) {
  RequireOk(
      database->Open(options.db, path,
                     {{rocksdb::kDefaultColumnFamilyName, options.family}},
                     Database::Access::kReadWrite),
      "opening it");
}

// One file.
void WriteFile(const SwapCase& swap_case, const std::string& path,
               int generation, Writer writer, LoadedOptions options) {
  options.SetPolicy(PolicyOf(writer, swap_case.filter));
  Database database;
  Open(options, path, &database);
  for (const Change& change : swap_case.Changes(generation, writer)) {
    RequireOk(change.value ? database->Put({}, change.key, *change.value)
                           : database->Delete({}, change.key),
              "writing a key");
  }
  RequireOk(database->Flush({}), "flush");
}

// The OPTIONS that stay are those of the last file, of rowbloom.
void WriteGeneration(const SwapCase& swap_case, const std::string& path,
                     int generation, const LoadedOptions& options) {
  for (const Writer writer : kWriters) {
    WriteFile(swap_case, path, generation, writer, options);
  }
}

// Every key that was ever written, and what is expected of it.
class KeyCheck {
 public:
  KeyCheck(const SwapCase& swap_case, int generations, rocksdb::DB* db)
      : db_(db), expected_(Expected(swap_case, generations)) {
    for (int generation = 1; generation <= generations; ++generation) {
      for (const Writer writer : kWriters) {
        for (int i = 0; i < kRowsPerFile; ++i) {
          rows_.push_back(swap_case.Row(generation, writer, i));
        }
        for (const Change& change : swap_case.Changes(generation, writer)) {
          keys_.push_back(change.key);
        }
      }
    }
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  uint64_t expected_keys() const { return expected_.size(); }

  void All() const {
    Get();
    MultiGet();
    ScanRows();
    ScanAll();
  }

 private:
  void Compare(const char* how, const std::string& key,
               const rocksdb::Status& status, const Slice& value) const {
    const auto found = expected_.find(key);
    const std::string what = std::string(how) + " of key " + ToPrintable(key);
    if (found == expected_.end()) {
      Require(status.IsNotFound(),
              what + ": expected none, got " + status.ToString());
      return;
    }
    Require(!status.IsNotFound(), "lost: " + what + " finds nothing");
    RequireOk(status, what);
    Require(value == found->second,
            "lost: " + what + " finds \"" + ToPrintable(value.ToStringView()) +
                "\", expected \"" + found->second + "\"");
  }

  void Get() const {
    std::string value;
    for (const std::string& key : keys_) {
      const rocksdb::Status status = db_->Get({}, key, &value);
      Compare("get", key, status, value);
    }
  }

  void MultiGet() const {
    constexpr size_t kBatch = 48;
    for (size_t start = 0; start < keys_.size(); start += kBatch) {
      const size_t count = std::min(kBatch, keys_.size() - start);
      const std::vector<Slice> keys(keys_.begin() + start,
                                    keys_.begin() + start + count);
      std::vector<rocksdb::PinnableSlice> values(count);
      std::vector<rocksdb::Status> statuses(count);
      db_->MultiGet({}, db_->DefaultColumnFamily(), count, keys.data(),
                    values.data(), statuses.data());
      for (size_t i = 0; i < count; ++i) {
        Compare("MultiGet", keys_[start + i], statuses[i], values[i]);
      }
    }
  }

  void ScanRows() const {
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    for (const std::string& row : rows_) {
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
      it->Seek(row);
      auto next = expected_.lower_bound(row);
      for (; next != expected_.end() && next->first.starts_with(row); ++next) {
        RequireNext("row scan", it.get(), *next);
      }
      RequireEnd("row scan", it.get());
    }
  }

  void ScanAll() const {
    rocksdb::ReadOptions scan;
    scan.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    it->SeekToFirst();
    for (const auto& next : expected_) RequireNext("full scan", it.get(), next);
    RequireEnd("full scan", it.get());
  }

  static void RequireNext(
      const char* how, rocksdb::Iterator* it,
      const std::pair<const std::string, std::string>& next) {
    RequireOk(it->status(), how);
    Require(
        it->Valid() && it->key() == next.first && it->value() == next.second,
        "lost: " + std::string(how) + " misses key " + ToPrintable(next.first) +
            " = \"" + next.second + "\"");
    it->Next();
  }
  static void RequireEnd(const char* how, rocksdb::Iterator* it) {
    RequireOk(it->status(), how);
    Require(!it->Valid(), std::string(how) + " goes on");
  }

  rocksdb::DB* db_;
  std::map<std::string, std::string> expected_;
  std::vector<std::string> keys_;
  std::vector<std::string> rows_;
};

// Reads that filters must answer: rowbloom's own by its counters, RocksDB's by
// what its ticker has beyond them.
class FilterCheck {
 public:
  FilterCheck(const SwapCase& swap_case, int generations, rocksdb::DB* db,
              const rocksdb::FilterPolicy& policy,
              const rocksdb::Statistics& statistics)
      : case_(swap_case),
        generations_(generations),
        db_(db),
        policy_(policy),
        statistics_(statistics) {}

  FilterStats Stats() const {
    FilterStats stats;
    RequireOk(GetFilterStats(policy_, &stats), "GetFilterStats");
    return stats;
  }

  // Returns what RocksDB's filters skipped.
  uint64_t AbsentRows() const {
    const FilterStats before = Stats();
    const uint64_t useful_before = UsefulFilters();
    std::string value;
    for (int i = 0; i < kQuestions; ++i) {
      Require(db_->Get({}, case_.AbsentRow(i) + "c2", &value).IsNotFound(),
              "an absent row is found");
    }
    const uint64_t skips = Stats().row.skipped - before.row.skipped;
    RequireSkips(skips, kQuestions, "gets of absent rows");
    const uint64_t useful = UsefulFilters() - useful_before;
    Require(useful >= skips, "RocksDB counts fewer skips than rowbloom");
    // There are two stock files at least.
    RequireSkips(useful - skips, 2 * kQuestions,
                 "gets of absent rows, in files of stock filters,");
    return useful - skips;
  }

  void AbsentRowsInBatches() const {
    const FilterStats before = Stats();
    std::vector<std::string> keys;
    for (int i = 0; i < kQuestions; ++i) {
      keys.push_back(case_.AbsentRow(i) + "c2");
    }
    std::sort(keys.begin(), keys.end());
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    db_->MultiGet({}, db_->DefaultColumnFamily(), keys.size(), slices.data(),
                  values.data(), statuses.data());
    for (const rocksdb::Status& status : statuses) {
      Require(status.IsNotFound(), "an absent row is found");
    }
    RequireSkips(Stats().row.skipped - before.row.skipped, kQuestions,
                 "MultiGet of absent rows");
  }

  // Gets absent columns in rows that the newest of rowbloom's files has.
  void AbsentColumns() const {
    const FilterStats before = Stats();
    std::string value;
    for (int i = 0; i < kRowsPerFile; ++i) {
      const std::string key =
          case_.Row(generations_, Writer::kRowbloom, i) + "c2absent";
      Require(db_->Get({}, key, &value).IsNotFound(),
              "an absent column is found");
    }
    const FilterStats after = Stats();
    const uint64_t checked = after.row_col.checked - before.row_col.checked;
    // A get in a present row may probe ROWCOL before ROW, so both count.
    Require(after.row.checked - before.row.checked + checked >= kRowsPerFile,
            "filters not used: gets of absent columns asked no section");
    if (case_.filter.bloom_type == BloomType::kRowCol) {
      RequireSkips(after.row_col.skipped - before.row_col.skipped, kRowsPerFile,
                   "gets of absent columns");
    } else {
      Require(checked == 0, "a filter of rows answers for columns");
    }
  }

  void ScansOfAbsentRows() const {
    const FilterStats before = Stats();
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    for (int i = 0; i < kQuestions; ++i) {
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
      it->Seek(case_.AbsentRow(i));
      Require(!it->Valid(), "a scan finds an absent row");
      RequireOk(it->status(), "scan of an absent row");
    }
    RequireSkips(Stats().row.skipped - before.row.skipped, kQuestions,
                 "scans of absent rows");
  }

  // Checks after all reads that no block was unusable.
  void NothingUnusable() const {
    const FilterStats stats = Stats();
    Require(stats.blocks_unusable == 0, "a filter block is unusable");
    Require(stats.row.unusable + stats.row_col.unusable == 0,
            "a filter section is unusable");
    Require(stats.blocks_opened > 0 && stats.builtin_blocks_opened > 1,
            "filters not used: a kind of filter block was never opened");
  }

 private:
  uint64_t UsefulFilters() const {
    return statistics_.getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  }

  const SwapCase& case_;
  int generations_;
  rocksdb::DB* db_;
  const rocksdb::FilterPolicy& policy_;
  const rocksdb::Statistics& statistics_;
};

// One file of each generation's is rowbloom's, and says so; but all before the
// last have become one.
void RequireProperties(rocksdb::DB* db, int generations) {
  rocksdb::TablePropertiesCollection files;
  RequireOk(db->GetPropertiesOfAllTables(&files), "properties of its files");
  int ours = 0;
  for (const auto& file : files) {
    ours += static_cast<int>(
        file.second->user_collected_properties.count(kFilterProperty));
  }
  const int expected = std::min(generations, 2);
  Require(ours == expected, std::to_string(ours) + " files have a property " +
                                kFilterProperty + ", expected " +
                                std::to_string(expected));
}

}  // namespace

void WriteDatabase(const SwapCase& swap_case, const std::string& path,
                   uint32_t format_version) {
  WriteGeneration(swap_case, path, 1,
                  NewDatabaseOptions(swap_case, format_version));
}

DatabaseReport CheckDatabase(const SwapCase& swap_case, const std::string& path,
                             int generations) {
  LoadedOptions options = LoadOptions(path);
  RequireNames(swap_case, options);
  options.db.statistics = rocksdb::CreateDBStatistics();
  const auto policy = options.table().filter_policy;
  Database database;
  Open(options, path, &database);
  Require(IsFilterActive(database.get()),
          "filters not used: the policy is not active");

  const KeyCheck keys(swap_case, generations, database.get());
  keys.All();
  const FilterCheck filters(swap_case, generations, database.get(), *policy,
                            *options.db.statistics);
  DatabaseReport report;
  report.keys = keys.expected_keys();
  report.stock_skips = filters.AbsentRows();
  filters.AbsentRowsInBatches();
  filters.AbsentColumns();
  filters.ScansOfAbsentRows();
  filters.NothingUnusable();
  RequireProperties(database.get(), generations);
  report.filter = filters.Stats();
  report.not_strict = options.not_strict;
  return report;
}

void ExtendDatabase(const SwapCase& swap_case, const std::string& path,
                    int generations) {
  const LoadedOptions options = LoadOptions(path);
  RequireNames(swap_case, options);
  {
    Database database;
    Open(options, path, &database);
    RequireOk(database->CompactRange({}, nullptr, nullptr), "compaction");
    FilterStats stats;
    RequireOk(GetFilterStats(*options.table().filter_policy, &stats),
              "GetFilterStats");
    Require(stats.blocks_built > 0, "compaction wrote no filter");
    KeyCheck(swap_case, generations, database.get()).All();
  }
  WriteGeneration(swap_case, path, generations + 1, options);
}

void LoseKey(const SwapCase& swap_case, const std::string& path) {
  const LoadedOptions options = LoadOptions(path);
  Database database;
  Open(options, path, &database);
  RequireOk(database->Delete({}, swap_case.Row(1, Writer::kRowbloom, 7) + "c3"),
            "deleting a key");
  RequireOk(database->Flush({}), "flush");
}

void LoseFilters(const std::string& path) {
  const LoadedOptions options = LoadOptions(path);
  {
    LoadedOptions without = options;
    without.SetPolicy(nullptr);
    Database database;
    Open(without, path, &database);
    RequireOk(database->CompactRange({}, nullptr, nullptr), "compaction");
  }
  // OPTIONS name the policy as before.
  Database database;
  Open(options, path, &database);
}

}  // namespace rowbloom::compat
