// read_bench: reads of databases under RocksDB's own filters and rowbloom's, at
// equal filter bytes. See bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/read_bench.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kQuick = 4;  // how many times smaller

struct Arguments {
  std::string input;
  std::vector<std::string> shapes;
  uint64_t cells = 600'000;
  uint64_t questions = 800'000;
  double seconds = 1;
  uint64_t seed = 1;
  bool quick = false;
  bool check = false;
};

// The number of columns that a row has.
enum class Rows : uint8_t { kWide, kNarrow, kInput };

std::string_view ToString(Rows rows) {
  switch (rows) {
    case Rows::kWide:
      return "wide";
    case Rows::kNarrow:
      return "narrow";
    case Rows::kInput:
      return "input";
  }
  return "unknown";
}

struct Shape {
  Tree tree;
  Rows rows;
  Caching caching;

  std::string Name() const {
    return fmt::format("{}/{}/{}", bench::ToString(tree), ToString(rows),
                       bench::ToString(caching));
  }
};

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// Returns whether a pattern fits, such as l0x8/wide or tenth: whether each of
// its parts is a part of the shape's name.
bool Fits(const Shape& shape, const std::string& pattern) {
  const std::vector<std::string> own = Split(shape.Name());
  const std::vector<std::string> wanted = Split(pattern);
  return std::all_of(
      wanted.begin(), wanted.end(), [&own](const std::string& part) {
        return std::find(own.begin(), own.end(), part) != own.end();
      });
}

std::vector<Shape> AllShapes(bool input) {
  std::vector<Shape> shapes;
  for (const Tree tree : kAllTrees) {
    for (const Rows rows : {Rows::kWide, Rows::kNarrow, Rows::kInput}) {
      if ((rows == Rows::kInput) != input) continue;
      for (const Caching caching : kAllCachings) {
        shapes.push_back({tree, rows, caching});
      }
    }
  }
  return shapes;
}

// Those that any pattern fits; all without patterns. "" or which pattern fits
// none.
std::string Choose(const Arguments& arguments, std::vector<Shape>* chosen) {
  const std::vector<Shape> all = AllShapes(!arguments.input.empty());
  for (const std::string& pattern : arguments.shapes) {
    if (std::none_of(all.begin(), all.end(), [&](const Shape& shape) {
          return Fits(shape, pattern);
        })) {
      return "no shape fits " + pattern;
    }
  }
  for (const Shape& shape : all) {
    if (arguments.shapes.empty() ||
        std::any_of(
            arguments.shapes.begin(), arguments.shapes.end(),
            [&](const std::string& pattern) { return Fits(shape, pattern); })) {
      chosen->push_back(shape);
    }
  }
  return "";
}

// Twice as many for 32 files: small files are taken up by the fixed parts of
// filters.
std::vector<InputCell> CellsFor(Tree tree, Rows rows, uint64_t cells) {
  if (tree == Tree::kThirtyTwo) cells *= 2;
  return rows == Rows::kWide ? SyntheticCells(cells / 12, 12)
                             : SyntheticCells(2 * cells / 3, 2, 1);
}

// The result of one shape, and where its cells came from.
struct Measured {
  Shape shape;
  uint64_t rows = 0;
  uint64_t cells = 0;
  ShapeResult result;
  std::vector<std::string> broken_claims;
};

void PrintShape(const Measured& measured) {
  const ShapeResult& result = measured.result;
  fmt::print(
      "{}: {} rows, {} cells, {} files, block cache {} bytes; {} keys of each "
      "read\n",
      measured.shape.Name(), Grouped(measured.rows), Grouped(measured.cells),
      result.files, Grouped(result.cache_bytes),
      Grouped(result[Filter::kStock][Read::kGetPresent].operations));
  fmt::print("filters:");
  for (const FilterResult& filter : result.filters) {
    if (filter.filter == Filter::kNone) continue;
    fmt::print("{} {} {} bytes at {:.2f} bits",
               filter.filter == Filter::kStockKey ? "" : ";",
               ToString(filter.filter), Grouped(filter.filter_bytes),
               filter.bits_per_key);
  }
  const std::string head = fmt::format(
      "{:25}{:27}{:>10}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}{:>8}", "read", "filter",
      "wrong", "blocks", "read", "us", "p99 us", "CPU", "wall", "probe");
  fmt::print("\n{}\n{}\n", head, std::string(head.size(), '-'));
  for (const Read read : kAllReads) {
    for (const FilterResult& filter : result.filters) {
      const ReadResult& own = filter[read];
      fmt::print(
          "{:25}{:27}{:>10}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>8.3f}"
          "{:>8.3f}{:>8}\n",
          filter.filter == Filter::kNone ? ToString(read) : "",
          ToString(filter.filter), own.wrong_opens, own.blocks, own.blocks_read,
          own.median_us, own.p99_us, own.cpu_ratio, own.wall_ratio,
          own.probe_nanos == 0 ? ""
                               : fmt::format("{:.0f}%", own.ProbePercent()));
    }
  }
  fmt::print("\n");
}

// Rowbloom's ratios, and what they are worth, a line for each shape.
void PrintSummary(const std::vector<Measured>& all) {
  fmt::print(
      "wrong   files opened that did not hold the answer, over all keys of a "
      "read\n"
      "blocks  asked of the cache in an operation; read: of these, from files\n"
      "us      median time of an operation, p99 the time of the slowest "
      "hundredth\n"
      "CPU     processor time over that of stock Bloom, prefix + key; wall: "
      "time; medians of turns side by side. Of the same again: what lies in "
      "memory where tells databases apart by as much\n"
      "probe   share of a Get's processor time that its questions to filters "
      "take by themselves\n\n");
  struct Column {
    std::string_view title;
    Filter filter;
    double (*value)(const ReadResult& own, const ReadResult& stock);
  };
  const Column columns[] = {
      {"wrong opens of rowbloom over those of stock Bloom, prefix + key",
       Filter::kRowbloom,
       [](const ReadResult& own, const ReadResult& stock) {
         return stock.wrong_opens == 0
                    ? static_cast<double>(own.wrong_opens != 0)
                    : static_cast<double>(own.wrong_opens) /
                          static_cast<double>(stock.wrong_opens);
       }},
      {"processor time of rowbloom over that of stock Bloom, prefix + key",
       Filter::kRowbloom,
       [](const ReadResult& own, const ReadResult&) { return own.cpu_ratio; }},
      {"processor time of stock Bloom, prefix + key, the same again",
       Filter::kStockAgain,
       [](const ReadResult& own, const ReadResult&) { return own.cpu_ratio; }}};
  for (const Column& column : columns) {
    fmt::print("{}\n{:22}", column.title, "");
    for (const char* head : {"get", "get absent", "get absent", "scan absent",
                             "32", "32 absent", "10 columns", "10 columns"}) {
      fmt::print("{:>12}", head);
    }
    fmt::print("\n{:22}", "shape");
    for (const char* head : {"present", "row", "column", "row", "present",
                             "rows", "of a row", "absent row"}) {
      fmt::print("{:>12}", head);
    }
    fmt::print("\n");
    for (const Measured& measured : all) {
      fmt::print("{:22}", measured.shape.Name());
      for (const Read read : kAllReads) {
        fmt::print("{:>12.3f}",
                   column.value(measured.result[column.filter][read],
                                measured.result[Filter::kStock][read]));
      }
      fmt::print("\n");
    }
    fmt::print("\n");
  }
}

ordered_json ToJson(const Measured& measured) {
  ordered_json filters = ordered_json::array();
  for (const FilterResult& filter : measured.result.filters) {
    ordered_json reads;
    for (const Read read : kAllReads) {
      const ReadResult& own = filter[read];
      ordered_json* json = &reads[std::string(ToString(read))];
      *json = {{"operations", own.operations},
               {"found", own.found},
               {"files_considered", own.files_considered},
               {"wrong_opens", own.wrong_opens},
               {"blocks", own.blocks},
               {"blocks_read", own.blocks_read},
               {"median_us", own.median_us},
               {"p99_us", own.p99_us},
               {"cpu_us", own.cpu_us},
               {"cpu_ratio", own.cpu_ratio},
               {"wall_ratio", own.wall_ratio}};
      if (own.probe_nanos > 0) {
        (*json)["cpu_nanos_per_file"] =
            1e3 * own.cpu_us / own.ConsideredPerOperation();
        (*json)["probe_nanos_per_file"] = own.probe_nanos;
        (*json)["probe_percent"] = own.ProbePercent();
      }
    }
    filters.push_back({{"filter", ToString(filter.filter)},
                       {"bits_per_key", filter.bits_per_key},
                       {"filter_bytes", filter.filter_bytes},
                       {"reads", std::move(reads)}});
  }
  return {{"shape", measured.shape.Name()},
          {"rows", measured.rows},
          {"cells", measured.cells},
          {"files", measured.result.files},
          {"cache_bytes", measured.result.cache_bytes},
          {"broken_claims", measured.broken_claims},
          {"filters", std::move(filters)}};
}

// Measures the shapes of one tree and kind of rows, which share databases.
void Measure(const Arguments& arguments, const Cells& cells,
             const std::vector<Shape>& shapes, const std::string& db_dir,
             std::vector<Measured>* measured) {
  ReadBenchOptions options;
  options.tree = shapes.front().tree;
  options.cachings.clear();
  for (const Shape& shape : shapes) options.cachings.push_back(shape.caching);
  options.questions = arguments.questions;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed;
  options.db_dir = db_dir;
  options.on_step = [rows = ToString(shapes.front().rows),
                     print = PrintSteps()](std::string_view text) {
    print(fmt::format("{}, {}", text, rows));
  };
  std::vector<ShapeResult> results;
  OrThrow(BenchReads(cells, options, &results));
  for (size_t i = 0; i < results.size(); ++i) {
    measured->push_back({.shape = shapes[i],
                         .rows = cells.rows(),
                         .cells = cells.all().size(),
                         .result = results[i],
                         .broken_claims = BrokenClaims(results[i])});
  }
}

int Run(int argc, char** argv) {
  Arguments arguments;
  Program program(
      "Reads databases under RocksDB's own filters and under rowbloom's, at "
      "equal filter bytes.");
  CLI::App* const app = program.app();
  app->add_option(
      "--input", arguments.input,
      "a Debian package index or TSV instead of made up cells; - is "
      "standard input");
  app->add_option(
      "--shape", arguments.shapes,
      "TREE/ROWS/CACHE or some of these, such as l0x8/wide/cached "
      "or levels; may be repeated. TREE: l0x1, l0x8, l0x32, levels; "
      "ROWS: wide, narrow, input; CACHE: cached, tenth");
  auto* cells_option =
      app->add_option("--cells", arguments.cells, "made up for a database")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{3000}, uint64_t{1'000'000'000}));
  auto* questions_option =
      app->add_option("--questions", arguments.questions,
                      "files to consider for each kind of read")
          ->capture_default_str()
          ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  auto* seconds_option = app->add_option("--seconds", arguments.seconds,
                                         "of timing for each kind of read")
                             ->capture_default_str()
                             ->check(CLI::Range(0.0, 3600.0));
  app->add_flag("--quick", arguments.quick,
                "less of all three, for a first look; counts are smaller, and "
                "times noisier");
  program.AddCheck(&arguments.check, "the counts bear out what is claimed");
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  if (arguments.quick) {
    if (cells_option->empty()) arguments.cells /= kQuick;
    if (questions_option->empty()) arguments.questions /= kQuick;
    if (seconds_option->empty()) arguments.seconds /= kQuick;
  }
  std::vector<Shape> shapes;
  if (const std::string problem = Choose(arguments, &shapes);
      !problem.empty()) {
    throw WrongUsage(problem);
  }

  Cells input;
  if (!arguments.input.empty()) {
    std::vector<InputCell> read;
    OrThrow(ReadCells(arguments.input, &read));
    uint64_t replaced = 0;
    OrThrow(input.Fill(std::move(read), &replaced));
  }
  std::vector<Measured> measured;
  for (size_t i = 0; i < shapes.size();) {
    std::vector<Shape> together;
    const size_t first = i;
    for (; i < shapes.size() && shapes[i].tree == shapes[first].tree &&
           shapes[i].rows == shapes[first].rows;
         ++i) {
      together.push_back(shapes[i]);
    }
    DatabaseDir dir;
    OrThrow(dir.Make("", "read_bench"));
    Cells made_up;
    if (arguments.input.empty()) {
      uint64_t replaced = 0;
      OrThrow(made_up.Fill(CellsFor(together.front().tree,
                                    together.front().rows, arguments.cells),
                           &replaced));
    }
    const size_t before = measured.size();
    Measure(arguments, arguments.input.empty() ? made_up : input, together,
            dir.path(), &measured);
    for (size_t j = before; j < measured.size(); ++j) PrintShape(measured[j]);
    std::fflush(stdout);
  }
  PrintSummary(measured);

  ordered_json json = {
      {"input",
       arguments.input.empty()
           ? "made up"
           : std::filesystem::path(arguments.input).filename().string()},
      {"seed", arguments.seed},
      {"questions", arguments.questions},
      {"seconds", arguments.seconds},
      {"shapes", ordered_json::array()}};
  size_t broken = 0;
  for (const Measured& one : measured) {
    json["shapes"].push_back(ToJson(one));
    for (const std::string& claim : one.broken_claims) {
      fmt::print("not as claimed: {}: {}\n", one.shape.Name(), claim);
      ++broken;
    }
  }
  if (broken == 0) fmt::print("Wrong opens and filter bytes are as claimed.\n");
  program.WriteResults(json);
  return arguments.check && broken > 0 ? kNotAsClaimed : kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("read_bench", rowbloom::bench::Run, argc,
                                     argv);
}
