// stats_cost: the cost of NewFilterStatistics for a Get that filters answer,
// and for one that finds its cell. See doc/benchmarks.md.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/random.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace rowbloom::bench {
namespace {

struct StatsCostArguments {
  uint64_t rows = 200'000;
  uint64_t columns = 5;
  int files = 8;
  uint64_t gets = 100'000;  // each kind's
  uint64_t seed = 1;
};

// The statistics that are counted.
struct Watch {
  const char* name;
  bool filter_statistics;
  bool rocksdb_statistics;
};

// Each second one is compared with the one before it.
constexpr std::array kWatches = {
    Watch{"FilterStats", false, false},
    Watch{"FilterStats, NewFilterStatistics()", true, false},
    Watch{"FilterStats, RocksDB's Statistics", false, true},
    Watch{"all three", true, true},
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
void Fill(const std::string& path, const StatsCostArguments& arguments) {
  std::unique_ptr<rocksdb::DB> db;
  OrThrow(rocksdb::DB::Open(Options(kWatches[0]), path, Into(&db)));
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

// The steps from a cell that is there to the one that a get is of.
struct GetKind {
  const char* name;
  uint64_t row;
  uint64_t column;
};
constexpr std::array kGetKinds = {GetKind{"get, absent row", 1, 0},
                                  GetKind{"get, absent column", 0, 500},
                                  GetKind{"get, present cell", 0, 0}};

std::vector<std::string> Keys(const GetKind& kind,
                              const StatsCostArguments& arguments,
                              Random* random) {
  std::vector<std::string> keys(arguments.gets);
  for (std::string& key : keys) {
    const uint64_t row = 2 * random->Below(arguments.rows) + kind.row;
    key = Key(row, random->Below(arguments.columns) + kind.column);
  }
  return keys;
}

Contender Gets(const Watch& watch, rocksdb::DB* db,
               const std::vector<std::string>& keys, bool present) {
  return Repeat(watch.name, [db, &keys, present](uint64_t i) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status s =
        db->Get({}, db->DefaultColumnFamily(), keys[i], &value);
    if (present ? s.ok() : s.IsNotFound()) return rocksdb::Status::OK();
    return rocksdb::Status::Corruption("wrong answer to " + keys[i],
                                       s.ToString());
  });
}

void Measure(const StatsCostArguments& arguments, const std::string& path,
             Bench* bench) {
  Fill(path, arguments);
  std::vector<std::unique_ptr<rocksdb::DB>> dbs;
  for (const Watch& watch : kWatches) {
    OrThrow(rocksdb::DB::OpenForReadOnly(Options(watch), path,
                                         Into(&dbs.emplace_back())));
  }
  Random random(arguments.seed);
  for (const GetKind& kind : kGetKinds) {
    const std::vector<std::string> keys = Keys(kind, arguments, &random);
    for (size_t i = 0; i < kWatches.size(); i += 2) {
      const bool present = kind.row + kind.column == 0;
      OrThrow(bench->Compare(
          {kind.name,
           i == 0 ? "without Statistics" : "with RocksDB's Statistics", "get"},
          {Gets(kWatches[i], dbs[i].get(), keys, present),
           Gets(kWatches[i + 1], dbs[i + 1].get(), keys, present)},
          {.operations = keys.size()}));
    }
  }
}

int Run(int argc, char** argv) {
  StatsCostArguments arguments;
  Bench bench;
  bench.seconds = 4;
  Program program(
      "What counting costs a Get, every file of the database asked.");
  CLI::App* const app = program.app();
  app->add_option("--rows", arguments.rows, "of the database")
      ->check(CLI::Range(1'000, 10'000'000))
      ->capture_default_str();
  app->add_option("--files", arguments.files, "each with a share of the rows")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  program.AddBench(&bench);
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  const DatabaseDir dir("", "stats_cost");
  Measure(arguments, dir.path() + "/db", &bench);
  return program.Finish(bench, {{"rows", arguments.rows},
                                {"columns", arguments.columns},
                                {"files", arguments.files},
                                {"seed", arguments.seed}});
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("stats_cost", rowbloom::bench::Run, argc,
                                     argv);
}
