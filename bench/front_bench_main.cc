// front_bench: gets and puts with the front filter and without, beside RocksDB
// with its own Bloom filter. See doc/benchmarks.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/built_filter.h"
#include "bench/filter_bench_keys.h"
#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/random.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/open_db.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::bench {
namespace {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

constexpr double kStockBitsPerKey = 10;
constexpr size_t kMultiGetKeys = 32;
// Keys of each kind that are drawn: more cache lines of filters than a
// processor caches, so that a turn meets no line that an earlier one left
// there.
constexpr uint64_t kKeys = uint64_t{1} << 20;
// The rate of ROW sections with which many files can be ruled out together.
constexpr double kLowRate = 0.001;

// The levels of a tree of levels. Each has a tenth of the rows of the next.
constexpr int kLevels = 5;

struct Arguments {
  uint64_t rows = 200'000;
  uint64_t columns = 10;
  std::vector<uint64_t> files = {1, 8, 32};
  bool levels = true;
  double cache_share = 0;
  uint64_t seed = 1;
};

// The way in which a database is opened.
struct Way {
  const char* name;
  std::optional<double> rate;  // rowbloom's filters; nullopt: RocksDB's Bloom
  bool in_front = false;
  bool cells = false;  // ROWCOL sections in front, too
  bool rows = false;   // RocksDB's Bloom of rows as prefixes, not of keys
};
constexpr Way kStock = {"stock Bloom", std::nullopt};
constexpr Way kStockRows = {
    .name = "stock Bloom, rows", .rate = std::nullopt, .rows = true};
constexpr Way kPolicy = {"rowbloom", 0.01};
constexpr Way kFront = {"front filter", 0.01, true};
constexpr Way kFrontLow = {"front filter, 0.001", kLowRate, true};
constexpr Way kFrontCells = {"front filter, ROWCOL", 0.01, true, true};

// The place of the rows of a database.
struct Shape {
  uint64_t files = 0;  // in level 0, over the same range; 0: five levels

  std::string name() const {
    if (files == 0) return fmt::format("{} levels", kLevels);
    return files == 1 ? "one file" : fmt::format("{} files", files);
  }
};

// The level of a row in a tree of levels.
int LevelOf(uint64_t row) {
  int level = kLevels;
  for (uint64_t mixed = Random::Mix(row); level > 1 && mixed % 10 == 0;
       mixed /= 10) {
    --level;
  }
  return level;
}

// Rows of even numbers are there, those of odd numbers lie between them.
std::string Key(uint64_t row, uint64_t column) {
  return fmt::format("user_{:010}:c{}", row, column);
}

class Database {
 public:
  Database(const Way& way, const std::string& path, double cache_share = 0)
      : name_(way.name),
        cache_share_(cache_share),
        // One shard if the cache gets small: a filter has to fit into its
        // shard.
        cache_(
            rocksdb::NewLRUCache(size_t{4} << 30, cache_share > 0 ? 0 : -1)) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache_;
    table.cache_index_and_filter_blocks = cache_share > 0;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBitsPerKey));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.disable_auto_compactions = true;
    options.write_buffer_size = size_t{2} << 30;
    options.level0_slowdown_writes_trigger = 1 << 20;
    options.level0_stop_writes_trigger = 1 << 20;
    if (way.rows) {
      table.whole_key_filtering = false;
      options.prefix_extractor.reset(
          rocksdb::NewFixedPrefixTransform(Key(0, 0).find(':') + 1));
    }
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (way.rate) {
      OrThrow(ConfigureRowFilters({.key_layout = KeyLayout::Delimited(':'),
                                   .false_positive_rate = *way.rate},
                                  &options));
    }
    if (way.in_front) {
      std::unique_ptr<FrontFilterDB> opened;
      FrontFilterOptions front;
      if (way.cells) front.cell_memory_limit_bytes = UINT64_MAX;
      if (cache_share > 0) front.charged_cache = cache_;
      OrThrow(OpenWithFrontFilter(front, options, path, &opened));
      opened->front_filter()->WaitUntilArmed();
      db_ = std::move(opened);
    } else {
      OrThrow(rocksdb::DB::Open(options, path, Into(&db_)));
    }
  }

  const char* name() const { return name_; }
  rocksdb::DB* db() const { return db_.get(); }

  // Writes the rows and reads all blocks, as many as the cache has room for.
  // The first of the databases that are compared sets *cache_bytes, the size of
  // the cache of each: larger filters get no larger cache.
  void Fill(const Arguments& arguments, const Shape& shape,
            size_t* cache_bytes) {
    if (shape.files == 0) {
      for (int level = kLevels; level > 0; --level) {
        WriteFile(arguments,
                  [level](uint64_t row) { return LevelOf(row) == level; });
        MoveTo(level);
      }
    }
    for (uint64_t file = 0; file < shape.files; ++file) {
      WriteFile(arguments,
                [&](uint64_t row) { return row % shape.files == file; });
    }
    if (cache_share_ > 0) {
      uint64_t bytes = 0;
      if (!db_->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize,
                               &bytes)) {
        OrThrow(Status::NotSupported("no size of files"));
      }
      if (*cache_bytes == 0) {
        *cache_bytes =
            static_cast<size_t>(static_cast<double>(bytes) * cache_share_);
      }
      cache_->SetCapacity(*cache_bytes);
    }
    rocksdb::ReadOptions all;
    all.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(all));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    OrThrow(it->status());
  }

 private:
  // Writes the rows that has(row) is true for into a file of level 0.
  template <typename Has>
  void WriteFile(const Arguments& arguments, const Has& has) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    for (uint64_t row = 0; row < arguments.rows; ++row) {
      if (!has(row)) continue;
      rocksdb::WriteBatch batch;
      for (uint64_t column = 0; column < arguments.columns; ++column) {
        OrThrow(batch.Put(Key(2 * row, column), "a value of some length"));
      }
      OrThrow(db_->Write(write, &batch));
    }
    OrThrow(db_->Flush({}));
  }
  // Moves the files of level 0 to another.
  void MoveTo(int level) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    for (const auto& file : files) {
      if (file.level == 0) names.push_back(file.name);
    }
    rocksdb::CompactionOptions options;
    options.compression = db_->GetOptions().compression;
    options.output_file_size_limit = kFileBytes;
    if (!names.empty()) OrThrow(db_->CompactFiles(options, names, level));
  }

  static constexpr uint64_t kFileBytes = 16 << 20;

  const char* name_;
  const double cache_share_;  // as Arguments has it
  const std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<rocksdb::DB> db_;
};

Status Wrong(const std::string& name, const std::string& key) {
  return Status::Corruption(name + " gave a wrong answer to " + key);
}

// Gets of these keys, all of them present or all absent.
Contender Gets(const std::string& name, rocksdb::DB* db,
               const std::vector<std::string>& keys, bool present) {
  return {name, [name, db, &keys, present](uint64_t begin, uint64_t end,
                                           uint64_t* work) {
            PinnableSlice value;
            for (uint64_t i = begin; i < end; ++i) {
              value.Reset();
              const Status s =
                  db->Get({}, db->DefaultColumnFamily(), keys[i], &value);
              if (present ? !s.ok() : !s.IsNotFound()) {
                return Wrong(name, keys[i]);
              }
            }
            *work = end - begin;
            return Status::OK();
          }};
}
Contender Gets(const Database& database, const std::vector<std::string>& keys,
               bool present) {
  return Gets(database.name(), database.db(), keys, present);
}

// A thread that outlives its tasks, one at a time, so that no turn starts it.
class Worker {
 public:
  ~Worker() {
    Start(nullptr);
    thread_.join();
  }
  void Start(std::function<void()> task) {
    task_ = std::move(task);
    started_.release();
  }
  void Wait() { done_.acquire(); }

 private:
  void Work() {
    for (started_.acquire(); task_; started_.acquire()) {
      task_();
      done_.release();
    }
  }

  std::function<void()> task_;
  std::binary_semaphore started_{0};
  std::binary_semaphore done_{0};
  std::thread thread_{[this] { Work(); }};
};

// The same operations, half of them by another thread at the same time.
Contender ByTwoThreads(const Contender& contender, Worker* worker) {
  return {contender.name + ", two threads",
          [run = contender.run, worker](uint64_t begin, uint64_t end,
                                        uint64_t* work) {
            const uint64_t middle = begin + (end - begin) / 2;
            uint64_t of_other = 0;
            Status other;
            worker->Start([&] { other = run(middle, end, &of_other); });
            const Status s = run(begin, middle, work);
            worker->Wait();
            *work += of_other;
            return s.ok() ? other : s;
          }};
}

// The processor time of all threads.
double NanosOfAllThreads() {
  return 1e9 / CLOCKS_PER_SEC * static_cast<double>(std::clock());
}

// MultiGets of kMultiGetKeys absent keys each; one operation is a batch.
Contender MultiGets(const Database& database,
                    const std::vector<std::string>& keys) {
  return {database.name(),
          [&database, &keys](uint64_t begin, uint64_t end, uint64_t* work) {
            std::array<Slice, kMultiGetKeys> some;
            std::array<PinnableSlice, kMultiGetKeys> values;
            std::array<Status, kMultiGetKeys> statuses;
            for (uint64_t batch = begin; batch < end; ++batch) {
              for (size_t i = 0; i < kMultiGetKeys; ++i) {
                some[i] = keys[batch * kMultiGetKeys + i];
                values[i].Reset();
              }
              database.db()->MultiGet({}, database.db()->DefaultColumnFamily(),
                                      kMultiGetKeys, some.data(), values.data(),
                                      statuses.data());
              for (size_t i = 0; i < kMultiGetKeys; ++i) {
                if (!statuses[i].IsNotFound()) {
                  return Wrong(database.name(), some[i].ToString());
                }
              }
            }
            *work = end - begin;
            return Status::OK();
          }};
}

// Looks rows up in batches in the front filter of a database. The unit is one
// row in one file.
Contender RowBatches(const Database& database,
                     const std::vector<std::string_view>& rows,
                     uint64_t files) {
  auto* const db = static_cast<FrontFilterDB*>(database.db());
  return {"front filter",
          [db, &rows, files](uint64_t begin, uint64_t end, uint64_t* work) {
            std::array<bool, kMultiGetKeys> may_have;
            uint64_t found = 0;
            for (uint64_t batch = begin; batch < end; ++batch) {
              db->front_filter()->MayHaveRows(
                  db->DefaultColumnFamily(),
                  std::span(rows).subspan(batch * kMultiGetKeys, kMultiGetKeys),
                  may_have);
              for (const bool may : may_have) found += may ? 1 : 0;
            }
            *work = (end - begin) * kMultiGetKeys * files;
            return found < *work / 2 ? Status::OK()
                                     : Status::Corruption("no filter");
          }};
}

// Filters of rows that are spread over so many files, each probed for 32 rows
// at once. Absent keys are made before.
class FilesOneByOne {
 public:
  FilesOneByOne(const Arguments& arguments, uint64_t files) {
    OrThrow(NewFilterPolicy({.bloom_type = BloomType::kRow,
                             .key_layout = KeyLayout::FixedRow(kKeyBytes)},
                            &policy_));
    const KeySpace keys(KeyShape::kRow, arguments.rows / files, arguments.seed);
    const KeyArray present = keys.Present();
    for (uint64_t file = 0; file < files; ++file) {
      filters_.push_back(BuildFilter(*policy_, KeyShape::kRow, present));
      readers_.push_back(OpenFilter(*policy_, filters_.back()));
    }
    absent_.Reserve(kKeys);
    for (uint64_t i = 0; i < kKeys; ++i) keys.AbsentRow(i, absent_.Append());
    for (uint64_t i = 0; i < kKeys; ++i) slices_.push_back(absent_[i]);
    for (Slice& slice : slices_) pointers_.push_back(&slice);
  }

  Contender Batches() {
    return {"filters one by one",
            [this](uint64_t begin, uint64_t end, uint64_t* work) {
              std::array<bool, kMultiGetKeys> may_match;
              uint64_t found = 0;
              for (uint64_t batch = begin; batch < end; ++batch) {
                for (const auto& reader : readers_) {
                  reader->MayMatch(static_cast<int>(kMultiGetKeys),
                                   &pointers_[batch * kMultiGetKeys],
                                   may_match.data());
                  for (const bool may : may_match) found += may ? 1 : 0;
                }
              }
              *work = (end - begin) * kMultiGetKeys * readers_.size();
              return found < *work / 2 ? Status::OK()
                                       : Status::Corruption("no filter");
            }};
  }

 private:
  KeyArray absent_;
  std::vector<Slice> slices_;     // of absent_
  std::vector<Slice*> pointers_;  // to slices_
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::vector<BuiltFilter> filters_;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers_;
};

// Puts of new rows.
Contender Puts(const Database& database, uint64_t seed, bool with_log) {
  rocksdb::WriteOptions write;
  write.disableWAL = !with_log;
  return Repeat(database.name(), [db = database.db(), seed, write](uint64_t i) {
    return db->Put(write, Key(Random::Mix(seed + i), 0), "some value");
  });
}

class FrontBench {
 public:
  FrontBench(const Arguments& arguments, std::string folder, Bench* bench)
      : arguments_(arguments),
        folder_(std::move(folder)),
        bench_(bench),
        turn_(std::clamp<uint64_t>(std::bit_floor(arguments.rows / 4), 512,
                                   uint64_t{1} << 18)) {
    Random random(arguments.seed);
    for (size_t i = 0; i < kKeys; ++i) {
      const uint64_t column = random.Below(arguments.columns);
      present_.push_back(Key(2 * random.Below(arguments.rows), column));
      absent_.push_back(Key(2 * random.Below(arguments.rows) + 1, column));
      absent_columns_.push_back(
          Key(2 * random.Below(arguments.rows), arguments.columns + column));
      also_present_.push_back(Key(2 * random.Below(arguments.rows), column));
    }
    for (const std::string_view key : absent_) {
      absent_rows_.push_back(key.substr(0, key.find(':') + 1));
    }
  }

  void MeasureReads(const Shape& shape) {
    const std::string where = shape.name();
    std::vector<std::unique_ptr<Database>> databases;
    size_t cache_bytes = 0;
    for (const Way& way :
         {kStock, kFrontLow, kFront, kFrontCells, kPolicy, kStockRows}) {
      bench_->Step(fmt::format("{}: writing, {}", where, way.name));
      databases.push_back(
          std::make_unique<Database>(way, NewPath(), arguments_.cache_share));
      databases.back()->Fill(arguments_, shape, &cache_bytes);
    }
    const Database& stock = *databases[0];
    const Database& front_low = *databases[1];
    const Database& front = *databases[2];
    const Database& policy = *databases[4];
    const auto contenders = [&databases](const auto& contender) {
      std::vector<Contender> all;
      for (const auto& database : databases)
        all.push_back(contender(*database));
      return all;
    };
    const bool many = shape.files >= 32;
    const auto gets = [this](const Database& database) {
      return Gets(database, absent_, false);
    };
    Compare("get, absent row", where, "get", AbsentLimit(shape), kKeys, turn_,
            contenders(gets));
    Compare("get, absent row, 0.01", where, "get",
            many ? std::optional(1.0 / 5) : std::nullopt, kKeys, turn_,
            {gets(stock), gets(front)});
    for (const Database* database : {&stock, &front_low}) {
      OrThrow(bench_->Compare(
          {"get, absent row, by two threads", where, "get"},
          {gets(*database), ByTwoThreads(gets(*database), &worker_)},
          {.operations = kKeys,
           .turn = turn_,
           .cpu_nanos = NanosOfAllThreads}));
    }
    Compare("multiget 32, absent rows", where, "batch",
            many ? std::optional(1.0 / 15) : std::nullopt,
            kKeys / kMultiGetKeys, turn_ / kMultiGetKeys,
            contenders([this](const Database& database) {
              return MultiGets(database, absent_);
            }));
    Compare("get, absent column", where, "get", std::nullopt, kKeys, turn_,
            contenders([this](const Database& database) {
              return Gets(database, absent_columns_, false);
            }));
    // The bypass learns from these that few rows are absent.
    uint64_t warmed = 0;
    OrThrow(Gets(front, present_, true).run(0, present_.size(), &warmed));
    // The same database below the front filter: others have their blocks at
    // other places in memory, which makes a difference of several percent. The
    // keys are others, since those of a turn are in the processor's caches.
    auto* const below = static_cast<FrontFilterDB*>(front.db())->GetBaseDB();
    Compare("get, present", where, "get", 1.05, kKeys, turn_,
            {Gets("without it", below, also_present_, true),
             Gets(front, present_, true), Gets(policy, present_, true),
             Gets(stock, present_, true)});
    if (shape.files > 0) {
      FilesOneByOne filters(arguments_, shape.files);
      Compare(
          "32 rows at once", where, "row and file",
          shape.files > 1 ? std::optional(1.0) : std::nullopt,
          kKeys / kMultiGetKeys, turn_ / kMultiGetKeys,
          {filters.Batches(), RowBatches(front, absent_rows_, shape.files)});
    }
  }

  void MeasurePuts() {
    for (const bool with_log : {true, false}) {
      const Database plain(kPolicy, NewPath());
      const Database front(kFront, NewPath());
      const Database again(kPolicy, NewPath());
      Contender control = Puts(again, arguments_.seed, with_log);
      control.name = kControl;
      Compare("put", with_log ? "log on" : "log off", "put",
              with_log ? 1.03 : 1.08, uint64_t{1} << 40, 512,
              {Puts(plain, arguments_.seed, with_log),
               Puts(front, arguments_.seed, with_log), control});
    }
  }

 private:
  // The longest time that is claimed for absent rows, as a share of stock's, by
  // the number of files in level 0.
  static std::optional<double> AbsentLimit(const Shape& shape) {
    if (shape.files >= 32) return 1.0 / 15;
    if (shape.files >= 8) return 1.0 / 10;
    return shape.files == 0 ? 1.0 / 8 : 1.0 / 4;
  }

  std::string NewPath() { return fmt::format("{}/{}", folder_, databases_++); }

  void Compare(const std::string& what, const std::string& where,
               const std::string& unit, std::optional<double> claimed,
               uint64_t operations, uint64_t turn,
               const std::vector<Contender>& contenders) {
    // Puts change databases, so that their control has its own.
    OrThrow(bench_->Compare(
        {what, where, unit, AtMost(claimed)}, contenders,
        {.operations = operations, .turn = turn, .control = unit != "put"}));
  }

  const Arguments& arguments_;
  const std::string folder_;
  Bench* const bench_;
  // Keys in a turn of a contender: so many that they meet each cache line of
  // its ROW section several times. The others leave little of it in the
  // processor's caches, and a short turn would time how these fill again.
  const uint64_t turn_;
  std::vector<std::string> present_;
  std::vector<std::string> also_present_;
  std::vector<std::string> absent_;            // keys of absent rows
  std::vector<std::string_view> absent_rows_;  // their rows
  std::vector<std::string> absent_columns_;
  int databases_ = 0;
  Worker worker_;
};

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program(
      "Gets and puts with the front filter and without, beside RocksDB with "
      "its own Bloom filter.");
  CLI::App* const app = program.app();
  app->add_option("--rows", arguments.rows, "in each database")
      ->capture_default_str()
      ->check(CLI::Range(1'000, 1'000'000'000));
  app->add_option("--columns", arguments.columns, "of each row")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  app->add_option("--files", arguments.files,
                  "in level 0, each over the range of all rows")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  app->add_flag("--levels,!--no-levels", arguments.levels,
                "a tree of five levels, too");
  app->add_option("--cache-share", arguments.cache_share,
                  "of the bytes of the first database's files, filters in the "
                  "cache, too; 0: the cache has room for all data blocks")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  Bench bench;
  bench.seconds = 2;
  program.AddBench(&bench);
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);

  const DatabaseDir dir("", "front_bench");
  FrontBench front(arguments, dir.path(), &bench);
  for (const uint64_t files : arguments.files) {
    front.MeasureReads({.files = files});
  }
  if (arguments.levels) front.MeasureReads({.files = 0});
  front.MeasurePuts();
  return program.Finish(bench, {{"rows", arguments.rows},
                                {"columns", arguments.columns},
                                {"cache_share", arguments.cache_share},
                                {"seed", arguments.seed}});
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("front_bench", rowbloom::bench::Run, argc,
                                     argv);
}
