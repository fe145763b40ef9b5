// front_bench: gets and puts with the front filter and without, beside RocksDB
// with its own Bloom filter. See bench/README.md.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/comparison_report.h"
#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/random.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

constexpr double kStockBitsPerKey = 10;
constexpr size_t kMultiGetKeys = 32;
// The rate of ROW sections with which many files can be ruled out together.
constexpr double kLowRate = 0.001;

struct Arguments {
  uint64_t rows = 200'000;
  uint64_t columns = 10;
  std::vector<uint64_t> files = {1, 8, 32};
  double seconds = 2;
  uint64_t seed = 1;
  bool check = false;
};

// The way in which a database is opened.
struct Way {
  const char* name;
  std::optional<double> rate;  // of rowbloom's filters; none: RocksDB's Bloom
  bool in_front = false;
};
constexpr Way kStock = {"stock Bloom", std::nullopt};
constexpr Way kPolicy = {"rowbloom", 0.01};
constexpr Way kFront = {"front filter", 0.01, true};
constexpr Way kFrontLow = {"front filter, 0.001", kLowRate, true};

// Rows of even numbers are there, those of odd numbers lie between them.
std::string Key(uint64_t row, uint64_t column) {
  return fmt::format("user_{:010}:c{}", row, column);
}

class Database {
 public:
  Database(const Way& way, const std::string& path) : name_(way.name) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(size_t{4} << 30);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBitsPerKey));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.disable_auto_compactions = true;
    options.write_buffer_size = size_t{2} << 30;
    options.level0_slowdown_writes_trigger = 1 << 20;
    options.level0_stop_writes_trigger = 1 << 20;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (way.rate) {
      OrThrow(ConfigureRowFilters({.key_layout = KeyLayout::Delimited(':'),
                                   .false_positive_rate = *way.rate},
                                  &options));
    }
    if (way.in_front) {
      std::unique_ptr<FrontFilterDB> opened;
      OrThrow(OpenWithFrontFilter({}, options, path, &opened));
      db_ = std::move(opened);
    } else {
      rocksdb::DB* opened = nullptr;
      OrThrow(rocksdb::DB::Open(options, path, &opened));
      db_.reset(opened);
    }
  }

  const char* name() const { return name_; }
  rocksdb::DB* db() const { return db_.get(); }

  // Writes the rows into files whose ranges are the same, and reads all blocks.
  void Fill(const Arguments& arguments, uint64_t files) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    for (uint64_t file = 0; file < files; ++file) {
      for (uint64_t row = file; row < arguments.rows; row += files) {
        rocksdb::WriteBatch batch;
        for (uint64_t column = 0; column < arguments.columns; ++column) {
          OrThrow(batch.Put(Key(2 * row, column), "a value of some length"));
        }
        OrThrow(db_->Write(write, &batch));
      }
      OrThrow(db_->Flush({}));
    }
    rocksdb::ReadOptions all;
    all.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(all));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    OrThrow(it->status());
  }

 private:
  const char* name_;
  std::unique_ptr<rocksdb::DB> db_;
};

Status Wrong(const Database& database, const std::string& key) {
  return Status::Corruption(std::string(database.name()) +
                            " gave a wrong answer to " + key);
}

// Gets of these keys, all of them present or all absent.
Contender Gets(const Database& database, const std::vector<std::string>& keys,
               bool present) {
  return {database.name(), [&database, &keys, present](
                               uint64_t begin, uint64_t end, uint64_t* work) {
            PinnableSlice value;
            for (uint64_t i = begin; i < end; ++i) {
              value.Reset();
              const Status s = database.db()->Get(
                  {}, database.db()->DefaultColumnFamily(), keys[i], &value);
              if (present ? !s.ok() : !s.IsNotFound()) {
                return Wrong(database, keys[i]);
              }
            }
            *work = end - begin;
            return Status::OK();
          }};
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
                  return Wrong(database, some[i].ToString());
                }
              }
            }
            *work = end - begin;
            return Status::OK();
          }};
}

// Puts of new rows.
Contender Puts(const Database& database, uint64_t seed, bool with_log) {
  return {database.name(), [&database, seed, with_log](
                               uint64_t begin, uint64_t end, uint64_t* work) {
            rocksdb::WriteOptions write;
            write.disableWAL = !with_log;
            for (uint64_t i = begin; i < end; ++i) {
              const Status s = database.db()->Put(
                  write, Key(Random::Mix(seed + i), 0), "some value");
              if (!s.ok()) return s;
            }
            *work = end - begin;
            return Status::OK();
          }};
}

class FrontBench {
 public:
  FrontBench(const Arguments& arguments, std::string folder)
      : arguments_(arguments), folder_(std::move(folder)), step_(PrintSteps()) {
    constexpr size_t kQuestions = 100'000 / kMultiGetKeys * kMultiGetKeys;
    Random random(arguments.seed);
    for (size_t i = 0; i < kQuestions; ++i) {
      const uint64_t column = random.Below(arguments.columns);
      present_.push_back(Key(2 * random.Below(arguments.rows), column));
      absent_.push_back(Key(2 * random.Below(arguments.rows) + 1, column));
    }
  }

  void MeasureReads(uint64_t files) {
    const std::string where =
        files == 1 ? "one file" : fmt::format("{} files", files);
    std::vector<std::unique_ptr<Database>> databases;
    for (const Way& way : {kStock, kFrontLow, kFront, kPolicy}) {
      step_(fmt::format("{}: writing, {}", where, way.name));
      databases.push_back(std::make_unique<Database>(way, NewPath()));
      databases.back()->Fill(arguments_, files);
    }
    const auto contenders = [&databases](const auto& contender) {
      std::vector<Contender> all;
      for (const auto& database : databases)
        all.push_back(contender(*database));
      return all;
    };
    Compare("get, absent row", where, "get", AbsentLimit(files), absent_.size(),
            512, contenders([this](const Database& database) {
              return Gets(database, absent_, false);
            }));
    Compare("multiget 32, absent rows", where, "batch",
            files >= 32 ? std::optional(1.0 / 15) : std::nullopt,
            absent_.size() / kMultiGetKeys, 32,
            contenders([this](const Database& database) {
              return MultiGets(database, absent_);
            }));
    Compare("get, present", where, "get", 1.05, present_.size(), 512,
            {Gets(*databases[3], present_, true),
             Gets(*databases[2], present_, true),
             Gets(*databases[0], present_, true)});
  }

  void MeasurePuts() {
    for (const bool with_log : {true, false}) {
      const Database plain(kPolicy, NewPath());
      const Database front(kFront, NewPath());
      Compare("put", with_log ? "log on" : "log off", "put",
              with_log ? 1.03 : 1.08, uint64_t{1} << 40, 512,
              {Puts(plain, arguments_.seed, with_log),
               Puts(front, arguments_.seed, with_log)});
    }
  }

  const std::vector<Comparison>& comparisons() const { return comparisons_; }

 private:
  // The longest time that is claimed for absent rows, as a share of stock's, by
  // the number of files in level 0.
  static std::optional<double> AbsentLimit(uint64_t files) {
    if (files >= 32) return 1.0 / 15;
    if (files >= 8) return 1.0 / 10;
    return 1.0 / 4;
  }

  std::string NewPath() { return fmt::format("{}/{}", folder_, databases_++); }

  void Compare(const std::string& what, const std::string& where,
               const std::string& unit, std::optional<double> claimed,
               uint64_t operations, uint64_t turn,
               const std::vector<Contender>& contenders) {
    step_(where + ": " + what);
    Comparison comparison{
        .what = what, .where = where, .unit = unit, .claimed_ratio = claimed};
    OrThrow(TakeTurns(
        contenders,
        {.operations = operations, .turn = turn, .seconds = arguments_.seconds},
        &comparison.timings));
    comparisons_.push_back(std::move(comparison));
  }

  const Arguments& arguments_;
  const std::string folder_;
  const std::function<void(std::string_view)> step_;
  std::vector<std::string> present_;
  std::vector<std::string> absent_;
  std::vector<Comparison> comparisons_;
  int databases_ = 0;
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
  app->add_option("--seconds", arguments.seconds,
                  "of timing for each comparison")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  program.AddCheck(&arguments.check, "the times are as claimed");
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);

  DatabaseDir dir;
  OrThrow(dir.Make("", "front_bench"));
  FrontBench bench(arguments, dir.path());
  for (const uint64_t files : arguments.files) bench.MeasureReads(files);
  bench.MeasurePuts();
  const std::vector<Comparison>& comparisons = bench.comparisons();
  fmt::print("{} rows of {} columns\n\n{}\n{}", arguments.rows,
             arguments.columns, ToTable(comparisons), ToVerdict(comparisons));
  ordered_json json = {{"rows", arguments.rows},
                       {"columns", arguments.columns},
                       {"seed", arguments.seed},
                       {"seconds", arguments.seconds}};
  json.update(ToJson(comparisons));
  program.WriteResults(json);
  return arguments.check && !MissedClaims(comparisons).empty() ? kNotAsClaimed
                                                               : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("front_bench", rowbloom::bench::Run, argc,
                                     argv);
}
