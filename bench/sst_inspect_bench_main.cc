// sst_inspect_bench: the time of sst_inspect for a large SST, beside that of
// RocksDB's sst_dump. See doc/benchmarks.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/random.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

// The limits of claims of the processor's time: verify's is a share of that of
// sst_dump's two passes, the others' is absolute.
constexpr double kMostShare = 1;
constexpr double kMostNanos = 50e6;

struct SstInspectBenchArguments {
  std::string sst_inspect;
  std::string folder;
  uint64_t mib = 1024;
  uint64_t rounds = 6;
};

struct FileShape {
  const char* name;
  bool rowbloom;
  bool partitioned;
  rocksdb::CompressionType compression;
};

constexpr std::array kShapes = {
    FileShape{"RocksDB Bloom, LZ4", false, false, rocksdb::kLZ4Compression},
    FileShape{"RocksDB Bloom, not compressed", false, false,
              rocksdb::kNoCompression},
    FileShape{"rowbloom ROWCOL, LZ4", true, false, rocksdb::kLZ4Compression},
    FileShape{"rowbloom ROWCOL, LZ4, partitioned", true, true,
              rocksdb::kLZ4Compression},
};

// Rows of ten columns, values of 100 bytes, of which half can be compressed.
// Returns the number of cells.
uint64_t WriteFile(const FileShape& shape, uint64_t bytes,
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
      std::memcpy(&value[i], &word, std::min<size_t>(8, value.size() / 2 - i));
    }
    OrThrow(writer.Put(
        fmt::format("row{:012}:column{}", cells / 10, cells % 10), value));
  }
  OrThrow(writer.Finish());
  return cells;
}

// Runs a program to its end, its output thrown away.
rocksdb::Status RunToItsEnd(const std::vector<std::string>& command) {
  const pid_t child = fork();
  if (child < 0) return rocksdb::Status::IOError("cannot start a process");
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
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0) {
    return rocksdb::Status::IOError(
        command[0] + " " + command.back() + " failed", "is it installed?");
  }
  return rocksdb::Status::OK();
}

// A turn runs all of the commands once.
Contender Commands(const std::string& name,
                   const std::vector<std::vector<std::string>>& commands) {
  return {name, [commands](uint64_t, uint64_t, uint64_t* work) {
            *work = 1;
            rocksdb::Status s;
            for (const auto& command : commands) {
              if (s.ok()) s = RunToItsEnd(command);
            }
            return s;
          }};
}

// Returns the record of the file.
ordered_json Measure(const FileShape& shape,
                     const SstInspectBenchArguments& arguments,
                     const std::string& path, Bench* bench) {
  bench->Step(fmt::format("{}: writing", shape.name));
  const uint64_t cells = WriteFile(shape, arguments.mib << 20, path);
  const std::string file = "--file=" + path;
  const std::string& inspect = arguments.sst_inspect;
  const TurnOptions turns = {
      .turn = 1, .min_rounds = arguments.rounds, .seconds = 0};
  OrThrow(bench->Compare(
      {"verify", shape.name, "file", AtMost(kMostShare)},
      {Commands("sst_dump verify, check",
                {{"sst_dump", file, "--command=verify"},
                 {"sst_dump", file, "--command=check"}}),
       Commands("sst_inspect verify", {{inspect, "verify", path}})},
      turns));
  OrThrow(bench->Compare(
      {"filter, summary",
       shape.name,
       "file",
       {{kMostNanos, &Measurement::cpu_nanos, 0},
        {kMostNanos, &Measurement::cpu_nanos, 1}}},
      {Commands("sst_inspect filter", {{inspect, "filter", path}}),
       Commands("sst_inspect summary", {{inspect, "summary", path}})},
      turns));
  return {{"file", shape.name},
          {"bytes", std::filesystem::file_size(path)},
          {"cells", cells}};
}

int Run(int argc, char** argv) {
  SstInspectBenchArguments arguments;
  Bench bench;
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
  app->add_option("--dir", arguments.folder,
                  "where the file goes (default: a temporary folder)");
  program.AddBench(&bench);
  program.Parse(argc, argv);
  const DatabaseDir dir(arguments.folder, "sst_inspect_bench");
  std::vector<ordered_json> files;
  for (const FileShape& shape : kShapes) {
    files.push_back(
        Measure(shape, arguments, dir.path() + "/file.sst", &bench));
    std::filesystem::remove(dir.path() + "/file.sst");
  }
  return program.Finish(
      bench, {{"mib", arguments.mib}, {"rounds", arguments.rounds}}, files);
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("sst_inspect_bench", rowbloom::bench::Run,
                                     argc, argv);
}
