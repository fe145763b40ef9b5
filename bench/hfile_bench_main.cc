// hfile_bench: HFiles beside RocksDB's SSTs. See doc/benchmarks.md.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/hfile_bench.h"
#include "bench/program.h"
#include "bench/program_input.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

int Run(int argc, char** argv) {
  std::string input_file;
  std::string made_up = "50000x12";
  HFileBenchOptions options;
  Bench bench;
  bench.seconds = 4;
  Program program("HFiles beside RocksDB's SSTs.");
  CLI::App* const app = program.app();
  app->add_option(
      "--input", input_file,
      "a Debian package index or TSV instead of made up cells; - is "
      "standard input");
  app->add_option("--synthetic", made_up, "ROWSxCOLUMNS of made up cells")
      ->capture_default_str()
      ->check(CheckShape);
  program.AddBench(&bench);
  program.AddSeed(&options.seed);
  program.Parse(argc, argv);

  Cells cells;
  uint64_t replaced = 0;
  OrThrow(cells.Fill(ReadOrMakeCells(input_file, made_up), &replaced));
  const DatabaseDir dir("", "hfile_bench");
  options.dir = dir.path();
  fmt::print("{} rows, {} cells\n", Grouped(cells.rows()),
             Grouped(cells.all().size()));
  std::vector<ordered_json> files;
  for (const HFileCompression codec :
       {HFileCompression::kLz4, HFileCompression::kNone}) {
    options.codec = codec;
    HFileBenchSizes sizes;
    OrThrow(BenchHFile(cells, options, &bench, &sizes));
    const std::string name = ToString(codec);
    fmt::print("{}: HFile {} bytes, SST {} bytes\n", name,
               Grouped(sizes.hfile_bytes), Grouped(sizes.sst_bytes));
    files.push_back({{"codec", name},
                     {"hfile_bytes", sizes.hfile_bytes},
                     {"sst_bytes", sizes.sst_bytes}});
  }
  return program.Finish(bench,
                        {{"input", InputName(input_file, made_up)},
                         {"seed", options.seed},
                         {"rows", cells.rows()},
                         {"cells", cells.all().size()}},
                        files);
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("hfile_bench", rowbloom::bench::Run, argc,
                                     argv);
}
