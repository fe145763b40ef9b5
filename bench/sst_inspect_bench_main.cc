// sst_inspect_bench: how long sst_inspect takes for a large SST, beside what
// RocksDB's sst_dump does with it. See bench/README.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/random.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

// The claimed limits. For verify, which has two threads, it is the time that
// one waits for it, as a share of sst_dump's two passes. For what reads no
// data, it is the processor's seconds.
constexpr double kMostShare = 1;
constexpr double kMostSeconds = 0.05;

struct Arguments {
  std::string sst_inspect;
  std::string folder;
  uint64_t mib = 1024;
  int rounds = 5;
  bool check = false;
};

struct Shape {
  const char* name;
  bool rowbloom;
  bool partitioned;
  rocksdb::CompressionType compression;
};

constexpr std::array kShapes = {
    Shape{"RocksDB Bloom, LZ4", false, false, rocksdb::kLZ4Compression},
    Shape{"RocksDB Bloom, not compressed", false, false,
          rocksdb::kNoCompression},
    Shape{"rowbloom ROWCOL, LZ4", true, false, rocksdb::kLZ4Compression},
    Shape{"rowbloom ROWCOL, LZ4, partitioned", true, true,
          rocksdb::kLZ4Compression},
};

// Rows of ten columns, values of 100 bytes, of which half can be compressed.
// Returns the number of cells.
uint64_t WriteFile(const Shape& shape, uint64_t bytes,
                   const std::string& path) {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  const KeyLayout layout = KeyLayout::Delimited(':');
  if (shape.rowbloom) {
    OrThrow(NewFilterPolicy({.key_layout = layout}, &table.filter_policy));
  }
  if (shape.partitioned) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
  }
  rocksdb::Options options;
  options.compression = shape.compression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  OrThrow(writer.Open(path));
  Random random(1);
  uint64_t cells = 0;
  std::string value(100, 'v');
  for (; writer.FileSize() < bytes; ++cells) {
    for (size_t i = 0; i < value.size() / 2; i += 8) {
      const uint64_t word = random.Next();
      for (size_t j = i; j < std::min(i + 8, value.size() / 2); ++j) {
        value[j] = static_cast<char>(word >> (8 * (j - i)));
      }
    }
    OrThrow(writer.Put(
        fmt::format("row{:012}:column{}", cells / 10, cells % 10), value));
  }
  OrThrow(writer.Finish());
  return cells;
}

struct Taken {
  double wall_seconds = 0;
  double cpu_seconds = 0;
};

// Runs a program to its end, its output thrown away.
Taken Time(const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start another process");
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    if (null < 0) _exit(126);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    std::vector<std::string> owned = command;
    std::vector<char*> argv;
    for (std::string& word : owned) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("{} {} failed; is it installed?",
                                         command[0], command.back()));
  }
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - start;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return {wall.count(), seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The commands that are timed, in this order; the results are found by their
// place.
enum Timed : size_t { kVerify, kFilter, kSummary, kDumpVerify, kDumpCheck };

struct ShapeResult {
  ordered_json json;
  bool as_claimed = true;
};

ShapeResult Measure(const Shape& shape, const Arguments& arguments,
                    const std::string& path) {
  const uint64_t cells = WriteFile(shape, arguments.mib << 20, path);
  const std::string file = "--file=" + path;
  const std::vector<std::vector<std::string>> commands = {
      {arguments.sst_inspect, "verify", path},
      {arguments.sst_inspect, "filter", path},
      {arguments.sst_inspect, "summary", path},
      {"sst_dump", file, "--command=verify"},
      {"sst_dump", file, "--command=check"}};
  std::vector<std::vector<double>> wall(commands.size());
  std::vector<std::vector<double>> cpu(commands.size());
  // The first round fills the page cache. Each comes first as often as the
  // others, because the machine's speed drifts.
  for (int round = -1; round < arguments.rounds; ++round) {
    for (size_t i = 0; i < commands.size(); ++i) {
      const size_t next =
          (i + static_cast<size_t>(round + 1)) % commands.size();
      const Taken taken = Time(commands[next]);
      if (round < 0) continue;
      wall[next].push_back(taken.wall_seconds);
      cpu[next].push_back(taken.cpu_seconds);
    }
  }

  const uint64_t bytes = std::filesystem::file_size(path);
  ShapeResult result;
  result.json = {{"file", shape.name}, {"bytes", bytes}, {"cells", cells}};
  ordered_json& times = result.json["times"] = ordered_json::array();
  fmt::print("\n{}: {:.1f} MiB, {} cells\n", shape.name,
             static_cast<double>(bytes) / (1 << 20), cells);
  fmt::print("  {:<26}{:>9}{:>9}  {}\n", "", "wall, s", "CPU, s", "claimed");
  const auto verdict = [](bool as_claimed) {
    return as_claimed ? "" : " missed";
  };
  for (size_t i = 0; i < commands.size(); ++i) {
    const bool own = i < kDumpVerify;
    const std::string name =
        own ? "sst_inspect " + commands[i][1] : "sst_dump " + commands[i][2];
    fmt::print("  {:<26}{:>9.3f}{:>9.3f}", name, Median(wall[i]),
               Median(cpu[i]));
    if (i == kFilter || i == kSummary) {
      const bool fast = Median(cpu[i]) < kMostSeconds;
      result.as_claimed = result.as_claimed && fast;
      fmt::print("  < {}{}", kMostSeconds, verdict(fast));
    }
    fmt::print("\n");
    times.push_back({{"command", name},
                     {"wall_seconds", Median(wall[i])},
                     {"cpu_seconds", Median(cpu[i])}});
  }
  const auto share = [](const std::vector<std::vector<double>>& taken) {
    return Median(taken[kVerify]) /
           (Median(taken[kDumpVerify]) + Median(taken[kDumpCheck]));
  };
  const bool fast = share(wall) <= kMostShare;
  result.as_claimed = result.as_claimed && fast;
  fmt::print("  {:<26}{:>9.2f}{:>9.2f}  <= {:.2f}{}\n",
             "verify, of sst_dump's two", share(wall), share(cpu), kMostShare,
             verdict(fast));
  result.json["verify_share_wall"] = share(wall);
  result.json["verify_share_cpu"] = share(cpu);
  return result;
}

// True if all is as claimed.
bool MeasureAll(const Arguments& arguments, ordered_json* results) {
  const std::filesystem::path folder =
      (arguments.folder.empty() ? std::filesystem::temp_directory_path()
                                : std::filesystem::path(arguments.folder)) /
      fmt::format("rowbloom_sst_inspect_bench_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto remove = [](const std::filesystem::path* path) {
    std::error_code ignored;
    std::filesystem::remove_all(*path, ignored);
  };
  const std::unique_ptr<const std::filesystem::path, decltype(remove)> cleanup(
      &folder, remove);

  bool as_claimed = true;
  for (const Shape& shape : kShapes) {
    ShapeResult result = Measure(shape, arguments, folder / "file.sst");
    as_claimed = as_claimed && result.as_claimed;
    results->push_back(std::move(result.json));
    std::fflush(stdout);  // the next may take minutes
  }
  return as_claimed;
}

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program("How long sst_inspect takes for a large SST.");
  CLI::App* const app = program.app();
  app->add_option("SST_INSPECT", arguments.sst_inspect, "the program")
      ->required()
      ->check(CLI::ExistingFile);
  app->add_option("--mib", arguments.mib, "size of each file")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app->add_option("--rounds", arguments.rounds, "of each command")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--dir", arguments.folder, "where the files go for the time");
  program.AddCheck(&arguments.check, "the times are as claimed");
  program.Parse(argc, argv);
  ordered_json results = ordered_json::array();
  const bool as_claimed = MeasureAll(arguments, &results);
  program.WriteResults({{"mib", arguments.mib},
                        {"rounds", arguments.rounds},
                        {"results", std::move(results)}});
  if (!arguments.check || as_claimed) return kOk;
  fmt::print(stderr,
             "sst_inspect_bench: expected verify to take at most what sst_dump "
             "takes to verify and to check, filter and summary less than {} "
             "s\n",
             kMostSeconds);
  return kNotAsClaimed;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("sst_inspect_bench", rowbloom::bench::Run,
                                     argc, argv);
}
