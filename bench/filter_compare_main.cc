// filter_compare: prints what RocksDB's own filter and rowbloom's do for the
// same bytes and the same operations. See bench/README.md.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/filter_compare.h"
#include "bench/program.h"
#include "bench/program_input.h"

namespace rowbloom::bench {
namespace {

struct Arguments {
  std::string input;
  std::string synthetic;
  std::string db_dir;
  uint64_t operations = 50'000;
  uint64_t files = 8;
  uint64_t seed = 1;
  bool spread_rows = false;
};

uint64_t BytesOf(const Comparison& comparison, Setting setting) {
  for (const SettingResult& result : comparison.settings) {
    if (result.setting == setting) return result.filter_bytes;
  }
  return 0;
}

void PrintTable(const Comparison& comparison, const Arguments& arguments) {
  fmt::print(
      "{} rows, {} cells in {} files{}; {} operations of each kind; seed "
      "{}\n\n",
      Grouped(comparison.rows), Grouped(comparison.cells), arguments.files,
      arguments.spread_rows ? ", each row spread over them" : "",
      Grouped(arguments.operations), arguments.seed);
  std::string kinds = fmt::format("{:36}", "");
  std::string heads = fmt::format("{:25}{:>11}", "filter", "bytes");
  for (const Kind kind : kAllKinds) {
    kinds += fmt::format("{:>23}", ToString(kind));
    heads += fmt::format("{:>9}{:>8}{:>6}", "skipped", "wrong", "us");
  }
  fmt::print("{}\n{}\n{}\n", kinds, heads, std::string(heads.size(), '-'));
  for (const SettingResult& setting : comparison.settings) {
    fmt::print("{:25}{:>11}", ToString(setting.setting),
               Grouped(setting.filter_bytes));
    for (const KindResult& kind : setting.kinds) {
      fmt::print("{:>8.2f}%{:>8}{:>6.1f}", kind.SkippedPercent(),
                 kind.wrong_opens, kind.median_us);
    }
    fmt::print("\n");
  }
  fmt::print(
      "\nskipped  files that the filter ruled out, of those that an operation "
      "had to consider\n"
      "wrong    files opened that did not hold the answer\n"
      "us       median time of one operation, everything in the block cache\n");
  const uint64_t stock = BytesOf(comparison, Setting::kStock);
  const uint64_t row_col = BytesOf(comparison, Setting::kRowCol);
  if (row_col > stock) {
    fmt::print(
        "\nThe files are too small for a fair comparison: ROWCOL needs {} "
        "bytes and RocksDB's filter {}.\n",
        Grouped(row_col), Grouped(stock));
  }
}

nlohmann::ordered_json ToJson(const Comparison& comparison,
                              const Arguments& arguments) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const SettingResult& setting : comparison.settings) {
    nlohmann::ordered_json kinds;
    for (const Kind kind : kAllKinds) {
      const KindResult& result = setting[kind];
      kinds[std::string(ToString(kind))] = {
          {"operations", result.operations},
          {"found", result.found},
          {"files_considered", result.files_considered},
          {"files_skipped", result.files_skipped},
          {"files_skipped_percent", result.SkippedPercent()},
          {"wrong_opens", result.wrong_opens},
          {"median_us", result.median_us},
          {"p99_us", result.p99_us}};
    }
    settings.push_back({{"filter", ToString(setting.setting)},
                        {"bits_per_key", setting.bits_per_key},
                        {"filter_bytes", setting.filter_bytes},
                        {"files", setting.files},
                        {"file_bytes", setting.file_bytes},
                        {"kinds", std::move(kinds)}});
  }
  return {{"input",
           {{"source",
             arguments.input.empty()
                 ? "synthetic " + arguments.synthetic
                 : std::filesystem::path(arguments.input).filename().string()},
            {"rows", comparison.rows},
            {"cells", comparison.cells},
            {"cells_replaced", comparison.replaced},
            {"rows_spread", arguments.spread_rows},
            {"seed", arguments.seed}}},
          {"settings", std::move(settings)}};
}

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program(
      "Compares filter settings of RocksDB on the same bytes: no filter, "
      "RocksDB's Bloom filter over prefix and whole key, rowbloom ROW, and "
      "rowbloom ROWCOL at the same filter bytes.");
  CLI::App* const app = program.app();
  app->add_option("--input", arguments.input,
                  "a Debian package index or TSV; - is standard input");
  app->add_option("--synthetic", arguments.synthetic,
                  "ROWSxCOLUMNS made up instead (default 200000x10)");
  app->add_option("--files", arguments.files, "flushes of each database")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  app->add_flag("--spread-rows", arguments.spread_rows,
                "deal the cells of each row over all files: the worst case");
  app->add_option("--operations", arguments.operations, "of each kind")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}));
  program.AddSeed(&arguments.seed);
  app->add_option("--db", arguments.db_dir,
                  "keep the databases here (default: a temporary directory)");
  program.Parse(argc, argv);
  if (!arguments.input.empty() && !arguments.synthetic.empty()) {
    throw WrongUsage("give --input or --synthetic");
  }
  std::vector<InputCell> cells;
  if (arguments.input.empty()) {
    if (arguments.synthetic.empty()) arguments.synthetic = "200000x10";
    uint64_t rows = 0;
    uint64_t columns = 0;
    if (!ParseShape(arguments.synthetic, &rows, &columns)) {
      throw WrongUsage(fmt::format("--synthetic {}: expected e.g. 200000x10",
                                   arguments.synthetic));
    }
    cells = SyntheticCells(rows, columns);
  } else {
    OrThrow(ReadCells(arguments.input, &cells));
  }

  DatabaseDir dir;
  OrThrow(dir.Make(arguments.db_dir, "filter_compare"));
  CompareOptions options;
  options.files = arguments.files;
  options.operations.fill(arguments.operations);
  options.seed = arguments.seed;
  options.spread_rows = arguments.spread_rows;
  options.db_dir = dir.path();
  options.on_step = PrintSteps();
  Comparison comparison;
  const rocksdb::Status status =
      CompareFilters(std::move(cells), options, &comparison);
  fmt::print(stderr, "\n");
  OrThrow(status);
  PrintTable(comparison, arguments);
  program.WriteResults(ToJson(comparison, arguments));
  return kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("filter_compare", rowbloom::bench::Run,
                                     argc, argv);
}
