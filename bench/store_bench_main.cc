// store_bench: the embedded store beside RocksDB used directly. See
// doc/benchmarks.md.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/engines.h"
#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/store_bench.h"
#include "bench/store_bench_mixes.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kQuick = 8;  // --quick divides sizes and times by this

struct StoreBenchArguments {
  std::string input;
  std::string made_up = "50000x12";
  bool quick = false;
};

void Print(const LoadMemory& memory) {
  fmt::print("load of {} cells, {} bytes: ", Grouped(memory.cells),
             Grouped(memory.cell_bytes));
  if (memory.peak_bytes) {
    fmt::print("at most {} bytes of memory\n", Grouped(*memory.peak_bytes));
  } else {
    fmt::print("memory unknown on this system\n");
  }
}

ordered_json Record(const LoadMemory& memory) {
  ordered_json record = {{"operation", "memory of a load"},
                         {"cells", memory.cells},
                         {"cell_bytes", memory.cell_bytes}};
  if (memory.peak_bytes) record["peak_bytes"] = *memory.peak_bytes;
  return record;
}

// The sizes, and the engines that this build lacks.
void Print(const std::vector<EngineSize>& sizes) {
  for (const EngineSize& size : sizes) {
    fmt::print("{}: files of {} bytes for {} bytes of cells\n", size.engine,
               Grouped(size.file_bytes), Grouped(size.cell_bytes));
  }
  for (const EngineKind& kind : EngineKinds()) {
    if (kind.create != nullptr) continue;
    fmt::print("{}: left out, this build was made without its library\n",
               kind.name);
  }
}

int Run(int argc, char** argv) {
  StoreBenchArguments arguments;
  StoreBenchOptions options;
  Bench bench;
  bench.seconds = 2;
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
  app->add_option("--files", options.files, "of the tree of many files")
      ->capture_default_str()
      // RocksDB slows down writes from 20 files in level 0 on.
      ->check(CLI::Range(uint64_t{2}, uint64_t{19}));
  auto* loads_option =
      app->add_option("--loads", options.loads, "by each contender")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  app->add_option("--cells-in-file", options.cells_in_file,
                  "of the larger file that is asked for absent rows")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{100'000}, uint64_t{1'000'000'000}));
  auto* updates_option =
      app->add_option("--updates", options.updates, "of one cell")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app->add_option("--mix-rows", options.mix_rows,
                  "of the databases of the mixes; 0: no mixes")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{0}, uint64_t{1'000'000'000}));
  app->add_flag(
      "--quick", arguments.quick,
      "less time, fewer loads, updates and rows of mixes, for a first "
      "look");
  program.AddBench(&bench);
  program.AddSeed(&options.seed);
  program.Parse(argc, argv);
  if (arguments.quick) {
    if (app->count("--seconds") == 0) bench.seconds /= kQuick;
    if (loads_option->empty()) options.loads = 1;
    if (updates_option->empty()) options.updates /= kQuick;
    if (app->count("--mix-rows") == 0) options.mix_rows /= kQuick;
  }
  const std::vector<InputCell> input =
      ReadOrMakeCells(arguments.input, arguments.made_up);
  Cells cells;
  uint64_t replaced = 0;
  OrThrow(cells.Fill(input, &replaced));
  const DatabaseDir dir("", "store_bench");
  options.db_dir = dir.path();
  std::vector<LoadMemory> load_memory;
  OrThrow(BenchStore(input, cells, options, &bench, &load_memory));
  fmt::print("{} rows, {} cells\n", Grouped(cells.rows()),
             Grouped(cells.all().size()));
  std::vector<ordered_json> records;
  for (const LoadMemory& memory : load_memory) {
    Print(memory);
    records.push_back(Record(memory));
  }
  std::vector<EngineSize> sizes;
  if (options.mix_rows > 0) {
    OrThrow(MeasureMixes(options, &bench, &sizes));
    Print(sizes);
  }
  for (const EngineSize& size : sizes) {
    records.push_back({{"operation", "bytes of files"},
                       {"by", size.engine},
                       {"cell_bytes", size.cell_bytes},
                       {"file_bytes", size.file_bytes}});
  }
  return program.Finish(
      bench,
      {{"input", InputName(arguments.input, arguments.made_up)},
       {"rows", cells.rows()},
       {"cells", cells.all().size()},
       {"files", options.files},
       {"seed", options.seed},
       {"loads", options.loads},
       {"cells_in_file", options.cells_in_file},
       {"mix_rows", options.mix_rows},
       {"updates", options.updates}},
      records);
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("store_bench", rowbloom::bench::Run, argc,
                                     argv);
}
