// store_bench: the embedded store beside RocksDB used directly. See
// bench/README.md.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/comparison_report.h"
#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/store_bench.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kQuick = 8;  // how many times less

struct Arguments {
  std::string input;
  std::string made_up = "50000x12";
  std::string only;
  uint64_t files = 16;
  double seconds = 2;
  uint64_t loads = 5;
  uint64_t cells_in_file = 1'000'000;
  uint64_t updates = 100'000;
  uint64_t seed = 1;
  bool quick = false;
  bool check = false;
};

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
  Program program("The embedded store beside RocksDB used directly.");
  CLI::App* const app = program.app();
  app->add_option(
      "--input", arguments.input,
      "a Debian package index or TSV instead of made up cells; - is "
      "standard input");
  app->add_option("--synthetic", arguments.made_up,
                  "ROWSxCOLUMNS of made up cells")
      ->capture_default_str()
      ->check(CheckShape);
  app->add_option("--files", arguments.files, "of the tree of many files")
      ->capture_default_str()
      // RocksDB slows down writes from 20 files in level 0 on.
      ->check(CLI::Range(uint64_t{2}, uint64_t{19}));
  app->add_option("--only", arguments.only,
                  "operations whose name has this in it, such as scan");
  auto* seconds_option = app->add_option("--seconds", arguments.seconds,
                                         "of timing for each operation")
                             ->capture_default_str()
                             ->check(CLI::Range(0.0, 3600.0));
  auto* loads_option =
      app->add_option("--loads", arguments.loads, "by each contender")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  app->add_option("--cells-in-file", arguments.cells_in_file,
                  "of the larger file that is asked for absent rows")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{100'000}, uint64_t{1'000'000'000}));
  auto* updates_option =
      app->add_option("--updates", arguments.updates, "of one cell")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app->add_flag("--quick", arguments.quick,
                "less time, fewer loads and updates, for a first look");
  program.AddCheck(&arguments.check, "the times are as claimed");
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  if (arguments.quick) {
    if (seconds_option->empty()) arguments.seconds /= kQuick;
    if (loads_option->empty()) arguments.loads = 1;
    if (updates_option->empty()) arguments.updates /= kQuick;
  }
  std::vector<InputCell> input;
  OrThrow(ReadOrMakeCells(arguments.input, arguments.made_up, &input));
  Cells cells;
  uint64_t replaced = 0;
  OrThrow(cells.Fill(input, &replaced));
  DatabaseDir dir;
  OrThrow(dir.Make("", "store_bench"));
  StoreBenchOptions options;
  options.files = arguments.files;
  options.seconds = arguments.seconds;
  options.loads = arguments.loads;
  options.cells_in_file = arguments.cells_in_file;
  options.updates = arguments.updates;
  options.seed = arguments.seed;
  options.only = arguments.only;
  options.db_dir = dir.path();
  options.on_step = PrintSteps();
  StoreBenchResult result;
  OrThrow(BenchStore(input, cells, options, &result));
  Print(result);
  fmt::print("\n{}", ToVerdict(result.comparisons));
  ordered_json json = {{"input", InputName(arguments.input, arguments.made_up)},
                       {"files", arguments.files},
                       {"seed", arguments.seed},
                       {"seconds", arguments.seconds},
                       {"loads", arguments.loads},
                       {"cells_in_file", arguments.cells_in_file},
                       {"updates", arguments.updates},
                       {"rows", result.rows},
                       {"cells", result.cells},
                       {"load_memory", LoadMemoryJson(result)}};
  json.update(ToJson(result.comparisons));
  program.WriteResults(json);
  return arguments.check && !MissedClaims(result.comparisons).empty()
             ? kNotAsClaimed
             : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("store_bench", rowbloom::bench::Run, argc,
                                     argv);
}
