// stats_cost: the cost of NewFilterStatistics for a Get that filters answer,
// and for one that finds its cell. See bench/README.md.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "bench/random.h"
#include "bench/turns.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  uint64_t rows = 200'000;
  uint64_t columns = 5;
  int files = 8;
  int rounds = 300;
  uint64_t gets = 2'000;  // of one turn
  uint64_t seed = 1;
};

// The statistics that are counted.
struct Watch {
  const char* name;
  bool filter_statistics;
  bool rocksdb_statistics;
  size_t baseline;  // index of what it is compared with
};

constexpr std::array kWatches = {
    Watch{"FilterStats", false, false, 0},
    Watch{"FilterStats, NewFilterStatistics()", true, false, 0},
    Watch{"FilterStats, RocksDB's Statistics", false, true, 2},
    Watch{"all three", true, true, 2},
};

std::string Key(uint64_t row, uint64_t column) {
  return fmt::format("row{:09}:col{:03}", row, column);
}

rocksdb::Options Options(const Watch& watch) {
  rocksdb::BlockBasedTableOptions table;
  const KeyLayout layout = KeyLayout::Delimited(':');
  OrThrow(NewFilterPolicy({.key_layout = layout}, &table.filter_policy));
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 30);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = size_t{1} << 30;
  options.prefix_extractor = NewRowPrefixExtractor(layout);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  std::shared_ptr<rocksdb::Statistics> statistics;
  if (watch.rocksdb_statistics) statistics = rocksdb::CreateDBStatistics();
  options.statistics =
      watch.filter_statistics ? NewFilterStatistics(statistics) : statistics;
  return options;
}

// Even rows only; file f has every files-th of them, so that the ranges of all
// files overlap.
void Fill(const std::string& path, const Arguments& arguments) {
  rocksdb::DB* opened = nullptr;
  OrThrow(rocksdb::DB::Open(Options(kWatches[0]), path, &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (int file = 0; file < arguments.files; ++file) {
    for (uint64_t row = file; row < arguments.rows; row += arguments.files) {
      for (uint64_t column = 0; column < arguments.columns; ++column) {
        OrThrow(db->Put(write, Key(2 * row, column), "value"));
      }
    }
    OrThrow(db->Flush({}));
  }
}

enum class Asked { kAbsentRow, kAbsentColumn, kPresent };
constexpr std::array kAsked = {Asked::kAbsentRow, Asked::kAbsentColumn,
                               Asked::kPresent};
constexpr const char* Name(Asked asked) {
  switch (asked) {
    case Asked::kAbsentRow:
      return "absent row";
    case Asked::kAbsentColumn:
      return "absent column";
    case Asked::kPresent:
      return "present cell";
  }
  return "";
}

std::vector<std::string> Keys(Asked asked, const Arguments& arguments,
                              Random* random) {
  std::vector<std::string> keys(arguments.gets);
  for (std::string& key : keys) {
    const uint64_t row = 2 * random->Below(arguments.rows);
    const uint64_t column = random->Below(arguments.columns);
    key = asked == Asked::kAbsentRow      ? Key(row + 1, column)
          : asked == Asked::kAbsentColumn ? Key(row, column + 500)
                                          : Key(row, column);
  }
  return keys;
}

double NanosPerGet(rocksdb::DB* db, const std::vector<std::string>& keys,
                   bool present) {
  rocksdb::PinnableSlice value;
  uint64_t found = 0;
  const double start = CpuNanos();
  for (const std::string& key : keys) {
    found += db->Get({}, db->DefaultColumnFamily(), key, &value).ok() ? 1 : 0;
    value.Reset();
  }
  const double took = CpuNanos() - start;
  if (found != (present ? keys.size() : 0)) {
    throw std::runtime_error("a Get gave a wrong answer");
  }
  return took / static_cast<double>(keys.size());
}

ordered_json Measure(const Arguments& arguments) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      fmt::format("rowbloom_stats_cost_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto remove = [](const std::filesystem::path* path) {
    std::error_code ignored;
    std::filesystem::remove_all(*path, ignored);
  };
  const std::unique_ptr<const std::filesystem::path, decltype(remove)> cleanup(
      &folder, remove);
  const std::string path = folder / "db";
  Fill(path, arguments);

  std::vector<std::unique_ptr<rocksdb::DB>> dbs;
  for (const Watch& watch : kWatches) {
    rocksdb::DB* opened = nullptr;
    OrThrow(rocksdb::DB::OpenForReadOnly(Options(watch), path, &opened));
    dbs.emplace_back(opened);
  }

  fmt::print("{:<16}{:<38}{:>12}{:>10}\n", "get", "counted", "CPU ns/get",
             "ratio");
  ordered_json results = ordered_json::array();
  Random random(arguments.seed);
  for (const Asked asked : kAsked) {
    std::array<std::vector<double>, kWatches.size()> nanos;
    std::array<std::vector<double>, kWatches.size()> ratios;
    // The machine's speed drifts: a ratio is of turns side by side, and each
    // comes first as often as the others.
    for (int round = -1; round < arguments.rounds; ++round) {
      const std::vector<std::string> keys = Keys(asked, arguments, &random);
      std::array<double, kWatches.size()> turn;
      for (size_t i = 0; i < kWatches.size(); ++i) {
        const size_t next =
            (i + static_cast<size_t>(round + 1)) % kWatches.size();
        turn[next] =
            NanosPerGet(dbs[next].get(), keys, asked == Asked::kPresent);
      }
      if (round < 0) continue;  // fills the caches
      for (size_t i = 0; i < kWatches.size(); ++i) {
        nanos[i].push_back(turn[i]);
        ratios[i].push_back(turn[i] / turn[kWatches[i].baseline]);
      }
    }
    for (size_t i = 0; i < kWatches.size(); ++i) {
      const double median = Median(nanos[i]);
      const double ratio = Median(ratios[i]);
      fmt::print("{:<16}{:<38}{:>12.1f}{:>10.3f}\n", Name(asked),
                 kWatches[i].name, median, ratio);
      results.push_back({{"get", Name(asked)},
                         {"counted", kWatches[i].name},
                         {"cpu_nanos_per_get", median},
                         {"compared_with", kWatches[kWatches[i].baseline].name},
                         {"ratio", ratio}});
    }
  }
  return results;
}

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program(
      "What counting costs a Get, every file of the database asked.");
  CLI::App* const app = program.app();
  app->add_option("--rows", arguments.rows, "of the database")
      ->check(CLI::Range(1'000, 10'000'000))
      ->capture_default_str();
  app->add_option("--files", arguments.files, "each with a share of the rows")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option("--rounds", arguments.rounds, "of each kind of counting")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  ordered_json results = Measure(arguments);
  program.WriteResults({{"rows", arguments.rows},
                        {"columns", arguments.columns},
                        {"files", arguments.files},
                        {"rounds", arguments.rounds},
                        {"gets_a_round", arguments.gets},
                        {"seed", arguments.seed},
                        {"results", std::move(results)}});
  return kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("stats_cost", rowbloom::bench::Run, argc,
                                     argv);
}
