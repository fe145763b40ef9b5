// hfile_bench: HFiles beside RocksDB's SSTs. See bench/README.md.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/comparison_report.h"
#include "bench/hfile_bench.h"
#include "bench/program.h"
#include "bench/program_input.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string input;
  std::string made_up = "50000x12";
  std::string only;
  double seconds = 4;
  uint64_t seed = 1;
  bool check = false;
};

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program("HFiles beside RocksDB's SSTs.");
  CLI::App* const app = program.app();
  app->add_option(
      "--input", arguments.input,
      "a Debian package index or TSV instead of made up cells; - is "
      "standard input");
  app->add_option("--synthetic", arguments.made_up,
                  "ROWSxCOLUMNS of made up cells")
      ->capture_default_str()
      ->check(CheckShape);
  app->add_option("--only", arguments.only,
                  "operations whose name has this in it, such as scan");
  app->add_option("--seconds", arguments.seconds,
                  "of timing for each operation and codec")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  program.AddCheck(&arguments.check, "the times are as claimed");
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);

  std::vector<InputCell> input;
  OrThrow(ReadOrMakeCells(arguments.input, arguments.made_up, &input));
  Cells cells;
  uint64_t replaced = 0;
  OrThrow(cells.Fill(std::move(input), &replaced));
  DatabaseDir dir;
  OrThrow(dir.Make("", "hfile_bench"));
  HFileBenchOptions options;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed;
  options.only = arguments.only;
  options.dir = dir.path();
  options.on_step = PrintSteps();
  std::vector<Comparison> comparisons;
  ordered_json files = ordered_json::array();
  fmt::print("{} rows, {} cells\n", Grouped(cells.rows()),
             Grouped(cells.all().size()));
  for (const HFileBenchCodec codec :
       {HFileBenchCodec::kLz4, HFileBenchCodec::kNone}) {
    options.codec = codec;
    HFileBenchResult result;
    OrThrow(BenchHFile(cells, options, &result));
    const char* name = codec == HFileBenchCodec::kLz4 ? "LZ4" : "NONE";
    fmt::print("{}: HFile {} bytes, SST {} bytes\n", name,
               Grouped(result.hfile_bytes), Grouped(result.sst_bytes));
    files.push_back({{"codec", name},
                     {"hfile_bytes", result.hfile_bytes},
                     {"sst_bytes", result.sst_bytes}});
    for (Comparison& comparison : result.comparisons) {
      comparisons.push_back(std::move(comparison));
    }
  }
  fmt::print("\n{}\n{}", ToTable(comparisons), ToVerdict(comparisons));
  ordered_json json = {{"input", InputName(arguments.input, arguments.made_up)},
                       {"seed", arguments.seed},
                       {"seconds", arguments.seconds},
                       {"rows", cells.rows()},
                       {"cells", cells.all().size()},
                       {"files", std::move(files)}};
  json.update(ToJson(comparisons));
  program.WriteResults(json);
  return arguments.check && !MissedClaims(comparisons).empty() ? kNotAsClaimed
                                                               : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("hfile_bench", rowbloom::bench::Run, argc,
                                     argv);
}
