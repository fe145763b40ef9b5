// store_bench: the embedded store beside RocksDB used directly. See
// bench/README.md.
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
#include "bench/program_input.h"
#include "bench/store_bench.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kClaimMissed = 3;

constexpr uint64_t kQuick = 8;  // how many times less

struct Arguments {
  std::string input;
  std::string made_up = "50000x12";
  std::string json_file;
  std::string only;
  uint64_t files = 16;
  double seconds = 2;
  uint64_t loads = 5;
  uint64_t seed = 1;
  bool quick = false;
  bool check = false;
};

int Fail(const std::string& message) {
  fmt::print(stderr, "store_bench: {}\n", message);
  return kFailed;
}

void Print(const StoreBenchResult& result) {
  fmt::print("{} rows, {} cells\n\n{}\n", Grouped(result.rows),
             Grouped(result.cells), ToTable(result.comparisons));
  for (const LoadMemory& memory : result.load_memory) {
    fmt::print("load of {} cells, {} bytes: ", Grouped(memory.cells),
               Grouped(memory.cell_bytes));
    if (memory.peak_bytes) {
      fmt::print("at most {} bytes of memory\n", Grouped(*memory.peak_bytes));
    } else {
      fmt::print("memory unknown on this system\n");
    }
  }
}

ordered_json LoadMemoryJson(const StoreBenchResult& result) {
  ordered_json memory = ordered_json::array();
  for (const LoadMemory& load : result.load_memory) {
    ordered_json one = {{"cells", load.cells}, {"cell_bytes", load.cell_bytes}};
    if (load.peak_bytes) one["peak_bytes"] = *load.peak_bytes;
    memory.push_back(std::move(one));
  }
  return memory;
}

int Run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The embedded store beside RocksDB used directly.");
  app.add_option("--input", arguments.input,
                 "a Debian package index or TSV instead of made up cells; - is "
                 "standard input");
  app.add_option("--synthetic", arguments.made_up,
                 "ROWSxCOLUMNS of made up cells")
      ->capture_default_str()
      ->check(CheckShape);
  app.add_option("--files", arguments.files, "of the tree of many files")
      ->capture_default_str()
      // RocksDB slows down writes from 20 files in level 0 on.
      ->check(CLI::Range(uint64_t{2}, uint64_t{19}));
  app.add_option("--only", arguments.only,
                 "operations whose name has this in it, such as scan");
  auto* seconds_option = app.add_option("--seconds", arguments.seconds,
                                        "of timing for each operation")
                             ->capture_default_str()
                             ->check(CLI::Range(0.0, 3600.0));
  auto* loads_option =
      app.add_option("--loads", arguments.loads, "by each contender")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  app.add_flag("--quick", arguments.quick,
               "less time and fewer loads, for a first look");
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
  if (arguments.quick) {
    if (seconds_option->empty()) arguments.seconds /= kQuick;
    if (loads_option->empty()) arguments.loads = 1;
  }
  std::vector<InputCell> input;
  if (const std::string problem =
          ReadOrMakeCells(arguments.input, arguments.made_up, &input);
      !problem.empty()) {
    return Fail(problem);
  }
  Cells cells;
  uint64_t replaced = 0;
  rocksdb::Status status = cells.Fill(input, &replaced);
  if (!status.ok()) return Fail(status.ToString());
  DatabaseDir dir;
  if (const std::string problem = dir.Make("", "store_bench");
      !problem.empty()) {
    return Fail(problem);
  }
  StoreBenchOptions options;
  options.files = arguments.files;
  options.seconds = arguments.seconds;
  options.loads = arguments.loads;
  options.seed = arguments.seed;
  options.only = arguments.only;
  options.db_dir = dir.path();
  const auto start = std::chrono::steady_clock::now();
  options.on_step = [&start](std::string_view text) {
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    fmt::print(stderr, "[{:5.1f} s] {}\n", seconds.count(), text);
  };
  StoreBenchResult result;
  status = BenchStore(input, cells, options, &result);
  if (!status.ok()) return Fail(status.ToString());
  Print(result);
  fmt::print("\n{}", ToVerdict(result.comparisons));
  if (!arguments.json_file.empty()) {
    ordered_json json = {
        {"machine", MachineJson()},
        {"build", BuildJson()},
        {"input", InputName(arguments.input, arguments.made_up)},
        {"files", arguments.files},
        {"seed", arguments.seed},
        {"seconds", arguments.seconds},
        {"loads", arguments.loads},
        {"rows", result.rows},
        {"cells", result.cells},
        {"load_memory", LoadMemoryJson(result)}};
    json.update(ToJson(result.comparisons));
    std::ofstream file(arguments.json_file);
    file << json.dump(2) << '\n';
    file.close();
    if (!file) return Fail("cannot write " + arguments.json_file);
  }
  return arguments.check && !MissedClaims(result.comparisons).empty()
             ? kClaimMissed
             : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  try {
    return rowbloom::bench::Run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "store_bench: {}\n", error.what());
    return 1;
  }
}
