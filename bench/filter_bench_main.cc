// filter_bench: the cost to build and to probe filters, and how often they are
// wrong, rowbloom's beside RocksDB's. See doc/benchmarks.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/environment.h"
#include "bench/filter_bench.h"
#include "bench/filter_bench_keys.h"
#include "bench/program.h"

namespace rowbloom::bench {
namespace {

int Run(int argc, char** argv) {
  FilterBenchOptions options;
  options.keys = {10'000, 100'000, 1'000'000, 10'000'000};
  options.rates = {0.1, 0.01, 0.001};
  bool huge = false;
  Program program(
      "Filters without a database: rowbloom's kinds and kernels and RocksDB's "
      "Bloom and Ribbon, through RocksDB's filter interface, and the filters "
      "that an application uses by itself. Takes the flags of Google "
      "Benchmark, "
      "too, such as --benchmark_filter=REGEX and --benchmark_list_tests; "
      "--json "
      "FILE is its --benchmark_out=FILE.");
  CLI::App* const app = program.app();
  app->allow_extras();
  app->add_option("--keys", options.keys, "numbers of keys, multiples of 10")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{100}, uint64_t{1'000'000'000}));
  app->add_flag("--huge", huge, "10^8 keys, too; needs some 20 GB of memory");
  app->add_option("--rates", options.rates, "target false positive rates")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1e-7, 0.5));
  app->add_option("--frontier-keys", options.frontier_keys,
                  "keys of the filters of 4 to 20 bits per key; 0: none")
      ->capture_default_str();
  app->add_option("--absent", options.absent_keys,
                  "absent keys looked up for each false positive rate")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1000}, uint64_t{1'000'000'000}));
  app->add_option("--offset", options.offset_bytes,
                  "of each filter from the start of a cache line, in bytes: 16 "
                  "is where glibc's malloc puts large ones")
      ->capture_default_str()
      ->check(CLI::Range(size_t{0}, size_t{63}));
  program.AddSeed(&options.seed);
  program.Parse(argc, argv);
  if (huge) options.keys.push_back(100'000'000);
  for (const uint64_t keys : options.keys) {
    if (keys % kColumns != 0) {
      throw WrongUsage(
          fmt::format("--keys {}: expected a multiple of {}", keys, kColumns));
    }
  }

  // Repetitions of all are shuffled, so that noise meets all alike. The user's
  // flags come last, and win.
  std::vector<std::string> flags = {
      argv[0], "--benchmark_enable_random_interleaving=true",
      "--benchmark_repetitions=9", "--benchmark_min_time=0.01",
      "--benchmark_display_aggregates_only=true"};
  if (!program.json_file().empty()) {
    flags.push_back("--benchmark_out=" + program.json_file());
  }
  for (const std::string& flag : app->remaining()) flags.push_back(flag);
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  auto count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    return kUsage;
  }
  const nlohmann::ordered_json build = BuildJson();
  for (const auto& [name, value] : build.items()) {
    benchmark::AddCustomContext(name, value.get<std::string>());
  }
  benchmark::AddCustomContext("seed", std::to_string(options.seed));
  benchmark::AddCustomContext("offset_bytes",
                              std::to_string(options.offset_bytes));
  RegisterFilters(options);
  benchmark::RunSpecifiedBenchmarks();
  return FilterGaveWrongAnswer() ? kFailed : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("filter_bench", rowbloom::bench::Run, argc,
                                     argv);
}
