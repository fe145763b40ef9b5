// options_bench: the cost of a filter policy where RocksDB reads and writes
// options, for new families and in SetOptions. See doc/benchmarks.md.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "bench/program_input.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace rowbloom::bench {
namespace {

// The limit of all claims, of the time with RocksDB's policy.
constexpr double kMostRatio = 1.1;

struct Choice {
  const char* name;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
};

std::vector<Choice> Choices() {
  const KeyLayout layout = KeyLayout::FixedRow(8);
  Choice rowbloom = {"rowbloom", nullptr, NewRowPrefixExtractor(layout)};
  OrThrow(NewFilterPolicy({.key_layout = layout}, &rowbloom.policy));
  Choice stock = {"stock Bloom", nullptr, nullptr};
  stock.policy.reset(rocksdb::NewBloomFilterPolicy(10));
  stock.extractor.reset(rocksdb::NewFixedPrefixTransform(8));
  return {stock, rowbloom};
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
class FamiliesDatabase {
 public:
  FamiliesDatabase(const Choice& choice, std::string path, uint64_t families)
      : options_(OptionsOf(choice)), path_(std::move(path)) {
    OrThrow(rocksdb::DB::Open(options_, path_, Into(&db_)));
    for (uint64_t i = 0; i < families; ++i) {
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      OrThrow(db_->CreateColumnFamily(options_, fmt::format("family{}", i),
                                      &handle));
      OrThrow(db_->DestroyColumnFamilyHandle(handle));
    }
  }
  ~FamiliesDatabase() {
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FamiliesDatabase(const FamiliesDatabase&) = delete;
  FamiliesDatabase& operator=(const FamiliesDatabase&) = delete;

  rocksdb::DB* db() { return db_.get(); }

 private:
  rocksdb::Options options_;
  std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
};

void Measure(uint64_t families, const std::string& folder, Bench* bench) {
  const std::vector<Choice> choices = Choices();
  std::vector<Contender> creating;
  std::vector<Contender> setting;
  std::vector<std::unique_ptr<FamiliesDatabase>> databases;
  for (const Choice& choice : choices) {
    creating.push_back(
        Repeat(choice.name, [&choice, families, &folder](uint64_t) {
          const FamiliesDatabase made(choice, folder + "/made", families);
          return rocksdb::Status::OK();
        }));
    databases.push_back(std::make_unique<FamiliesDatabase>(
        choice, fmt::format("{}/{}", folder, databases.size()), families));
    setting.push_back(
        Repeat(choice.name, [db = databases.back()->db()](uint64_t i) {
          return db->SetOptions({{"max_sequential_skip_in_iterations",
                                  std::to_string(8 + i % 8)}});
        }));
  }
  const std::string where = fmt::format("{} families", families);
  std::vector<Claim> claims = AtMost(kMostRatio);
  claims.push_back({kMostRatio, &Measurement::wall_ratio});
  OrThrow(bench->Compare({"new families", where, "database", claims}, creating,
                         {.turn = 1}));
  OrThrow(bench->Compare({"SetOptions", where, "call", claims}, setting,
                         {.operations = 16, .turn = 4}));
}

int Run(int argc, char** argv) {
  uint64_t families = 100;
  Bench bench;
  bench.seconds = 20;
  Program program(
      "What a filter policy costs where RocksDB reads and writes options.");
  program.app()
      ->add_option("--families", families, "of each database")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  program.AddBench(&bench);
  program.Parse(argc, argv);
  OrThrow(RegisterRowbloom());
  const DatabaseDir dir("", "options_bench");
  Measure(families, dir.path(), &bench);
  return program.Finish(bench, {{"families", families}});
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("options_bench", rowbloom::bench::Run,
                                     argc, argv);
}
