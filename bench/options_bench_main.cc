// options_bench: what a filter policy costs where RocksDB reads and writes
// options: families that are created, and SetOptions. See bench/README.md.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "bench/turns.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

// Times that of stock.
constexpr double kMostRatio = 1.1;

struct Arguments {
  uint64_t families = 100;
  double seconds = 20;  // of each of the two
  bool check = false;
};

struct Choice {
  const char* name;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
};

std::vector<Choice> Choices() {
  const KeyLayout layout = KeyLayout::FixedRow(8);
  Choice rowbloom = {"rowbloom", nullptr, NewRowPrefixExtractor(layout)};
  OrThrow(NewFilterPolicy({.key_layout = layout}, &rowbloom.policy));
  return {{"stock Bloom",
           std::shared_ptr<const rocksdb::FilterPolicy>(
               rocksdb::NewBloomFilterPolicy(10)),
           std::shared_ptr<const rocksdb::SliceTransform>(
               rocksdb::NewFixedPrefixTransform(8))},
          rowbloom};
}

rocksdb::Options OptionsOf(const Choice& choice) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = choice.policy;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = size_t{1} << 20;
  options.prefix_extractor = choice.extractor;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// A new database with families.
class Database {
 public:
  Database(const Choice& choice, std::string path, uint64_t families)
      : options_(OptionsOf(choice)), path_(std::move(path)) {
    rocksdb::DB* opened = nullptr;
    OrThrow(rocksdb::DB::Open(options_, path_, &opened));
    db_.reset(opened);
    for (uint64_t i = 0; i < families; ++i) {
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      OrThrow(db_->CreateColumnFamily(options_, fmt::format("family{}", i),
                                      &handle));
      OrThrow(db_->DestroyColumnFamilyHandle(handle));
    }
  }
  ~Database() {
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB* db() { return db_.get(); }

 private:
  rocksdb::Options options_;
  std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
};

// Prints what came out. False: more than kMostRatio.
bool Report(const char* operation, const std::vector<Timing>& timings,
            ordered_json* results) {
  bool as_claimed = true;
  for (const Timing& timing : timings) {
    fmt::print("{:<16}{:<14}{:>12.0f}{:>10.3f}{:>12.0f}{:>10.3f}\n", operation,
               timing.name, timing.wall_nanos / 1000, timing.wall_ratio,
               timing.cpu_nanos / 1000, timing.cpu_ratio);
    results->push_back({{"operation", operation},
                        {"policy", timing.name},
                        {"wall_us", timing.wall_nanos / 1000},
                        {"wall_ratio", timing.wall_ratio},
                        {"cpu_us", timing.cpu_nanos / 1000},
                        {"cpu_ratio", timing.cpu_ratio}});
    as_claimed = as_claimed && timing.wall_ratio <= kMostRatio &&
                 timing.cpu_ratio <= kMostRatio;
  }
  return as_claimed;
}

int Measure(const Arguments& arguments, const std::string& folder,
            ordered_json* results) {
  const std::vector<Choice> choices = Choices();
  std::vector<Contender> creating;
  std::vector<Contender> setting;
  std::vector<std::unique_ptr<Database>> databases;
  for (const Choice& choice : choices) {
    creating.push_back(
        {choice.name, [&choice, &arguments, &folder](
                          uint64_t begin, uint64_t end, uint64_t* work) {
           for (uint64_t i = begin; i < end; ++i) {
             const Database made(choice, folder + "/made", arguments.families);
             ++*work;
           }
           return rocksdb::Status::OK();
         }});
    databases.push_back(std::make_unique<Database>(
        choice, fmt::format("{}/{}", folder, databases.size()),
        arguments.families));
    setting.push_back(
        {choice.name, [db = databases.back()->db()](
                          uint64_t begin, uint64_t end, uint64_t* work) {
           rocksdb::Status status;
           for (uint64_t i = begin; i < end && status.ok(); ++i) {
             status = db->SetOptions({{"max_sequential_skip_in_iterations",
                                       std::to_string(8 + i % 8)}});
             ++*work;
           }
           return status;
         }});
  }
  fmt::print("{:<16}{:<14}{:>12}{:>10}{:>12}{:>10}\n", "", "policy", "wall us",
             "ratio", "CPU us", "ratio");
  std::vector<Timing> timings;
  OrThrow(
      TakeTurns(creating, {.turn = 1, .seconds = arguments.seconds}, &timings));
  const std::string families = fmt::format("{} families", arguments.families);
  bool as_claimed = Report(families.c_str(), timings, results);
  OrThrow(TakeTurns(setting,
                    {.operations = 16, .turn = 4, .seconds = arguments.seconds},
                    &timings));
  as_claimed = Report("SetOptions", timings, results) && as_claimed;
  return arguments.check && !as_claimed ? kNotAsClaimed : kOk;
}

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program(
      "What a filter policy costs where RocksDB reads and writes options.");
  CLI::App* const app = program.app();
  app->add_option("--families", arguments.families, "of each database")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app->add_option("--seconds", arguments.seconds, "of measuring, of each kind")
      ->check(CLI::Range(0.1, 3'600.0))
      ->capture_default_str();
  program.AddCheck(&arguments.check,
                   fmt::format("all ratios are at most {}", kMostRatio));
  program.Parse(argc, argv);
  OrThrow(RegisterRowbloom());

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      fmt::format("rowbloom_options_bench_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto remove = [](const std::filesystem::path* path) {
    std::error_code ignored;
    std::filesystem::remove_all(*path, ignored);
  };
  const std::unique_ptr<const std::filesystem::path, decltype(remove)> cleanup(
      &folder, remove);

  ordered_json results = ordered_json::array();
  const int exit_code = Measure(arguments, folder, &results);
  program.WriteResults({{"families", arguments.families},
                        {"seconds", arguments.seconds},
                        {"results", std::move(results)}});
  return exit_code;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("options_bench", rowbloom::bench::Run,
                                     argc, argv);
}
