// hfile_bench: HFiles beside RocksDB's SSTs. See bench/README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/comparison_report.h"
#include "bench/environment.h"
#include "bench/hfile_bench.h"
#include "bench/program_input.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kClaimMissed = 3;

struct Arguments {
  std::string input;
  std::string made_up = "50000x12";
  std::string json_file;
  std::string only;
  double seconds = 4;
  uint64_t seed = 1;
  bool check = false;
};

int Fail(const std::string& message) {
  fmt::print(stderr, "hfile_bench: {}\n", message);
  return kFailed;
}

int Run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("HFiles beside RocksDB's SSTs.");
  app.add_option("--input", arguments.input,
                 "a Debian package index or TSV instead of made up cells; - is "
                 "standard input");
  app.add_option("--synthetic", arguments.made_up,
                 "ROWSxCOLUMNS of made up cells")
      ->capture_default_str()
      ->check(CheckShape);
  app.add_option("--only", arguments.only,
                 "operations whose name has this in it, such as scan");
  app.add_option("--seconds", arguments.seconds,
                 "of timing for each operation and codec")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app.add_flag("--check", arguments.check,
               "exit with 3 if a time is not as claimed");
  app.add_option("--seed", arguments.seed, "of everything that is drawn")
      ->capture_default_str();
  app.add_option("--json", arguments.json_file,
                 "write the numbers, machine and build to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  if (!kOptimised) {
    return Fail("built without optimisation: its times would mean nothing");
  }
  std::vector<InputCell> input;
  if (const std::string problem =
          ReadOrMakeCells(arguments.input, arguments.made_up, &input);
      !problem.empty()) {
    return Fail(problem);
  }
  Cells cells;
  uint64_t replaced = 0;
  rocksdb::Status status = cells.Fill(std::move(input), &replaced);
  if (!status.ok()) return Fail(status.ToString());
  DatabaseDir dir;
  if (const std::string problem = dir.Make("", "hfile_bench");
      !problem.empty()) {
    return Fail(problem);
  }
  const auto start = std::chrono::steady_clock::now();
  HFileBenchOptions options;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed;
  options.only = arguments.only;
  options.dir = dir.path();
  options.on_step = [&start](std::string_view text) {
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    fmt::print(stderr, "[{:5.1f} s] {}\n", seconds.count(), text);
  };
  std::vector<Comparison> comparisons;
  ordered_json files = ordered_json::array();
  fmt::print("{} rows, {} cells\n", Grouped(cells.rows()),
             Grouped(cells.all().size()));
  for (const HFileBenchCodec codec :
       {HFileBenchCodec::kLz4, HFileBenchCodec::kNone}) {
    options.codec = codec;
    HFileBenchResult result;
    status = BenchHFile(cells, options, &result);
    if (!status.ok()) return Fail(status.ToString());
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
  if (!arguments.json_file.empty()) {
    ordered_json json = {
        {"machine", MachineJson()},
        {"build", BuildJson()},
        {"input", InputName(arguments.input, arguments.made_up)},
        {"seed", arguments.seed},
        {"seconds", arguments.seconds},
        {"rows", cells.rows()},
        {"cells", cells.all().size()},
        {"files", std::move(files)}};
    json.update(ToJson(comparisons));
    std::ofstream file(arguments.json_file);
    file << json.dump(2) << '\n';
    file.close();
    if (!file) return Fail("cannot write " + arguments.json_file);
  }
  return arguments.check && !MissedClaims(comparisons).empty() ? kClaimMissed
                                                               : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  try {
    return rowbloom::bench::Run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hfile_bench: {}\n", error.what());
    return 1;
  }
}
