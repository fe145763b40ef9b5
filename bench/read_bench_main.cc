// read_bench: reads of databases under RocksDB's own filters and rowbloom's, at
// equal filter bytes. See doc/benchmarks.md.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "bench/program_input.h"
#include "bench/read_bench.h"
#include "bench/report.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kQuick = 4;  // --quick divides sizes and times by this

struct ReadBenchArguments {
  std::string input;
  std::vector<std::string> shapes;
  uint64_t cells = 600'000;
  uint64_t questions = 800'000;
  double seconds = 1;
  uint64_t seed = 1;
  bool quick = false;
  // The options of --overview.
  bool overview = false;
  std::string made_up = "200000x10";
  uint64_t operations = 50'000;
  uint64_t files = 8;
  bool spread_rows = false;
  std::string db_dir;
};

// The number of columns that a row has.
enum class RowWidth : uint8_t { kWide, kNarrow, kInput };

std::string_view ToString(RowWidth width) {
  switch (width) {
    case RowWidth::kWide:
      return "wide";
    case RowWidth::kNarrow:
      return "narrow";
    case RowWidth::kInput:
      return "input";
  }
  return "unknown";
}

struct ReadShape {
  Tree tree;
  RowWidth width;
  Caching caching;

  std::string Name() const {
    return fmt::format("{}/{}/{}", bench::ToString(tree), ToString(width),
                       bench::ToString(caching));
  }
};

// A pattern, such as l0x8/wide or tenth, fits if each of its parts is one of
// the shape's name.
bool Fits(const ReadShape& shape, const std::string& pattern) {
  std::istringstream parts(pattern + "/");
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (("/" + shape.Name() + "/").find("/" + part + "/") ==
        std::string::npos) {
      return false;
    }
  }
  return true;
}

std::vector<ReadShape> AllShapes(bool input) {
  std::vector<ReadShape> shapes;
  for (const Tree tree : kAllTrees) {
    for (const RowWidth rows :
         {RowWidth::kWide, RowWidth::kNarrow, RowWidth::kInput}) {
      if ((rows == RowWidth::kInput) != input) continue;
      for (const Caching caching : kAllCachings) {
        shapes.push_back({tree, rows, caching});
      }
    }
  }
  return shapes;
}

// Chooses the shapes that any pattern fits; without patterns, all of them.
// Returns an error message if a pattern fits none, else "".
std::string Choose(const ReadBenchArguments& arguments,
                   std::vector<ReadShape>* chosen) {
  const std::vector<ReadShape> all = AllShapes(!arguments.input.empty());
  std::vector<bool> fits(all.size(), arguments.shapes.empty());
  for (const std::string& pattern : arguments.shapes) {
    bool any = false;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!Fits(all[i], pattern)) continue;
      any = fits[i] = true;
    }
    if (!any) return "no shape fits " + pattern;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (fits[i]) chosen->push_back(all[i]);
  }
  return "";
}

// Cells are twice as many for 32 files: the fixed parts of filters take up
// small ones.
std::vector<InputCell> CellsFor(Tree tree, RowWidth rows, uint64_t cells) {
  if (tree == Tree::kThirtyTwo) cells *= 2;
  return rows == RowWidth::kWide ? SyntheticCells(cells / 12, 12)
                                 : SyntheticCells(2 * cells / 3, 2, 1);
}

// The result of one shape, and where its cells came from.
struct MeasuredShape {
  ReadShape shape;
  uint64_t rows = 0;
  uint64_t cells = 0;
  ShapeResult result;
};

void PrintShape(const MeasuredShape& measured) {
  const ShapeResult& result = measured.result;
  fmt::print(
      "{}: {} rows, {} cells, {} files, block cache {} bytes; {} keys of each "
      "read\n",
      measured.shape.Name(), Grouped(measured.rows), Grouped(measured.cells),
      result.files, Grouped(result.cache_bytes),
      Grouped(result[Filter::kStock][Read::kGetPresent].operations));
  fmt::print("filters:");
  for (const ReadsOfFilter& filter : result.filters) {
    if (filter.filter == Filter::kNone) continue;
    fmt::print("{} {} {} bytes at {:.2f} bits",
               filter.filter == Filter::kStockKey ? "" : ";",
               ToString(filter.filter), Grouped(filter.filter_bytes),
               filter.bits_per_key);
  }
  const std::string head =
      fmt::format("{:25}{:27}{:>10}{:>9}{:>9}{:>9}{:>9}{:>8}{:>16}{:>8}{:>8}",
                  "read", "filter", "wasted", "blocks", "read", "us", "p99 us",
                  "CPU", "", "wall", "probe");
  fmt::print("\n{}\n{}\n", head, std::string(head.size(), '-'));
  for (const Read read : kAllReads) {
    for (const ReadsOfFilter& filter : result.filters) {
      const ReadResult& own = filter[read];
      const Estimate& cpu = own.turns.cpu_ratio;
      fmt::print(
          "{:25}{:27}{:>10}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>8.3f}"
          "{:>8.3f}-{:<7.3f}{:>8.3f}{:>8}\n",
          filter.filter == Filter::kNone ? ToString(read) : "",
          ToString(filter.filter), own.wasted_reads, own.blocks,
          own.blocks_read, own.median_us, own.p99_us, cpu.value, cpu.low,
          cpu.high, own.turns.wall_ratio.value,
          own.probe_nanos == 0 ? ""
                               : fmt::format("{:.0f}%", own.ProbePercent()));
    }
  }
  fmt::print("\n");
}

// Rowbloom's ratios, and what they are worth, a line for each shape.
void PrintSummary(const std::vector<MeasuredShape>& all) {
  fmt::print(
      "wasted  files opened that did not hold the answer, over all keys of a "
      "read\n"
      "blocks  asked of the cache in an operation; read: of these, from files\n"
      "us      median time of an operation, p99 the time of the slowest "
      "hundredth\n"
      "CPU     processor time over that of stock Bloom, prefix + key, and the "
      "interval of 95 %; wall: time; medians of turns side by side. Of the "
      "same "
      "again: what lies in memory where tells databases apart by as much\n"
      "probe   share of a Get's processor time that its questions to filters "
      "take by themselves\n\n");
  struct Column {
    std::string_view title;
    Filter filter;
    double (*value)(const ReadResult& own, const ReadResult& stock);
  };
  const Column columns[] = {
      {"wasted reads of rowbloom over those of stock Bloom, prefix + key",
       Filter::kRowbloom,
       [](const ReadResult& own, const ReadResult& stock) {
         return stock.wasted_reads == 0
                    ? static_cast<double>(own.wasted_reads != 0)
                    : static_cast<double>(own.wasted_reads) /
                          static_cast<double>(stock.wasted_reads);
       }},
      {"processor time of rowbloom over that of stock Bloom, prefix + key",
       Filter::kRowbloom,
       [](const ReadResult& own, const ReadResult&) {
         return own.turns.cpu_ratio.value;
       }},
      {"processor time of stock Bloom, prefix + key, the same again",
       Filter::kStockAgain, [](const ReadResult& own, const ReadResult&) {
         return own.turns.cpu_ratio.value;
       }}};
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
    for (const MeasuredShape& measured : all) {
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

// The values of all filters, in their order.
template <typename Value>
ordered_json OfEach(const ShapeResult& result, Value value) {
  ordered_json values = ordered_json::array();
  for (const ReadsOfFilter& filter : result.filters) {
    values.push_back(value(filter));
  }
  return values;
}

// A record of the shape, and one for each kind of read, whose arrays have a
// value for each filter.
void AddRecords(const std::string& shape, uint64_t rows, uint64_t cells,
                const std::vector<Read>& reads, const ShapeResult& result,
                std::vector<ordered_json>* records) {
  using One = const ReadsOfFilter&;
  records->push_back(
      {{"shape", shape},
       {"rows", rows},
       {"cells", cells},
       {"files", result.files},
       {"cache_bytes", result.cache_bytes},
       {"filters", OfEach(result, [](One f) { return ToString(f.filter); })},
       {"bits_per_key", OfEach(result, [](One f) { return f.bits_per_key; })},
       {"filter_bytes", OfEach(result, [](One f) { return f.filter_bytes; })}});
  for (const Read read : reads) {
    const ReadResult& any = result.filters.front()[read];
    const auto of_each = [&result, read](auto value) {
      return OfEach(result, [&](One f) { return value(f[read]); });
    };
    using Own = const ReadResult&;
    ordered_json record = {
        {"shape", shape},
        {"read", ToString(read)},
        {"operations", any.operations},
        {"found", any.found},
        {"files_considered", any.files_considered},
        {"wasted_reads", of_each([](Own r) { return r.wasted_reads; })},
        {"blocks", of_each([](Own r) { return r.blocks; })},
        {"blocks_read", of_each([](Own r) { return r.blocks_read; })},
        {"median_us", of_each([](Own r) { return r.median_us; })},
        {"p99_us", of_each([](Own r) { return r.p99_us; })},
        {"cpu_nanos", of_each([](Own r) { return r.turns.cpu_nanos.value; })},
        {"cpu_ratio", of_each([](Own r) { return ToJson(r.turns.cpu_ratio); })},
        {"wall_ratio",
         of_each([](Own r) { return r.turns.wall_ratio.value; })}};
    if (result[Filter::kStock][read].probe_nanos > 0) {
      record["probe_nanos"] = of_each([](Own r) { return r.probe_nanos; });
      record["probe_percent"] = of_each([](Own r) { return r.ProbePercent(); });
    }
    records->push_back(std::move(record));
  }
}

// Measures the shapes of one tree and kind of rows, which share databases.
void Measure(const ReadBenchArguments& arguments, const Cells& cells,
             const std::vector<ReadShape>& shapes, const std::string& db_dir,
             std::vector<MeasuredShape>* measured) {
  ReadBenchOptions options;
  options.tree = shapes.front().tree;
  options.cachings.clear();
  for (const ReadShape& shape : shapes)
    options.cachings.push_back(shape.caching);
  options.questions = arguments.questions;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed;
  options.db_dir = db_dir;
  options.on_step = [rows = ToString(shapes.front().width),
                     print = PrintSteps()](std::string_view text) {
    print(fmt::format("{}, {}", text, rows));
  };
  std::vector<ShapeResult> results;
  OrThrow(BenchReads(cells, options, &results));
  for (size_t i = 0; i < results.size(); ++i) {
    measured->push_back({.shape = shapes[i],
                         .rows = cells.rows(),
                         .cells = cells.all().size(),
                         .result = results[i]});
  }
}

// A comparison of four filters that fits a page.
void PrintOverview(const Cells& cells, const ReadBenchArguments& arguments,
                   const ShapeResult& result) {
  fmt::print(
      "{} rows, {} cells in {} files{}; {} operations of each kind; seed "
      "{}\n\n",
      Grouped(cells.rows()), Grouped(cells.all().size()), arguments.files,
      arguments.spread_rows ? ", each row spread over them" : "",
      Grouped(arguments.operations), arguments.seed);
  std::string kinds = fmt::format("{:36}", "");
  std::string heads = fmt::format("{:25}{:>11}", "filter", "bytes");
  for (const Read read : kOverviewReads) {
    kinds += fmt::format("{:>23}", ToString(read));
    heads += fmt::format("{:>9}{:>8}{:>6}", "skipped", "wasted", "us");
  }
  fmt::print("{}\n{}\n{}\n", kinds, heads, std::string(heads.size(), '-'));
  for (const ReadsOfFilter& filter : result.filters) {
    fmt::print("{:25}{:>11}", ToString(filter.filter),
               Grouped(filter.filter_bytes));
    for (const Read read : kOverviewReads) {
      const ReadResult& own = filter[read];
      fmt::print("{:>8.2f}%{:>8}{:>6.1f}", own.SkippedPercent(),
                 own.wasted_reads, own.median_us);
    }
    fmt::print("\n");
  }
  fmt::print(
      "\nskipped  files that the filter ruled out, of those that an operation "
      "had to consider\n"
      "wasted   files opened that did not hold the answer\n"
      "us       median time of one operation, everything in the block cache\n");
  const uint64_t stock = result[Filter::kStock].filter_bytes;
  const uint64_t row_col = result[Filter::kRowbloom].filter_bytes;
  if (row_col > stock) {
    fmt::print(
        "\nThe files are too small for a fair comparison: ROWCOL needs {} "
        "bytes and RocksDB's filter {}.\n",
        Grouped(row_col), Grouped(stock));
  }
}

int RunOverview(const ReadBenchArguments& arguments, const Program& program) {
  Cells cells;
  uint64_t replaced = 0;
  OrThrow(cells.Fill(ReadOrMakeCells(arguments.input, arguments.made_up),
                     &replaced));
  const DatabaseDir dir(arguments.db_dir, "read_bench");
  ReadBenchOptions options;
  options.tree = {arguments.files};
  options.spread_rows = arguments.spread_rows;
  options.filters = {kOverviewFilters.begin(), kOverviewFilters.end()};
  options.reads = {kOverviewReads.begin(), kOverviewReads.end()};
  options.cachings = {Caching::kAll};
  options.questions = arguments.operations * arguments.files;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed;
  options.db_dir = dir.path();
  options.on_step = PrintSteps();
  std::vector<ShapeResult> results;
  OrThrow(BenchReads(cells, options, &results));
  fmt::print(stderr, "\n");
  PrintOverview(cells, arguments, results[0]);
  std::vector<ordered_json> records;
  AddRecords(ToString(options.tree), cells.rows(), cells.all().size(),
             options.reads, results[0], &records);
  program.WriteResults(
      {{"input", InputName(arguments.input, arguments.made_up)},
       {"cells_replaced", replaced},
       {"rows_spread", arguments.spread_rows},
       {"seed", arguments.seed}},
      records);
  return kOk;
}

int Run(int argc, char** argv) {
  ReadBenchArguments arguments;
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
  auto* overview = app->add_flag(
      "--overview", arguments.overview,
      "four filters and four reads of one tree, everything cached, in a table "
      "that fits a page: no filter, RocksDB's Bloom filter over prefix and "
      "whole key, rowbloom ROW, and rowbloom ROWCOL at the same filter bytes");
  app->add_option("--synthetic", arguments.made_up,
                  "ROWSxCOLUMNS of made up cells, of the overview")
      ->capture_default_str()
      ->check(CheckShape)
      ->needs(overview);
  app->add_option("--operations", arguments.operations,
                  "of each kind, of the overview")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->needs(overview);
  app->add_option("--files", arguments.files, "of the overview, in level 0")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000}))
      ->needs(overview);
  app->add_flag("--spread-rows", arguments.spread_rows,
                "deal the cells of each row over all files: the worst case")
      ->needs(overview);
  app->add_option("--db", arguments.db_dir,
                  "keep the databases of the overview here (default: a "
                  "temporary directory)")
      ->needs(overview);
  program.AddCheck();
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  if (arguments.quick) {
    if (cells_option->empty()) arguments.cells /= kQuick;
    if (questions_option->empty()) arguments.questions /= kQuick;
    if (seconds_option->empty()) arguments.seconds /= kQuick;
  }
  if (arguments.overview) return RunOverview(arguments, program);
  std::vector<ReadShape> shapes;
  if (const std::string problem = Choose(arguments, &shapes);
      !problem.empty()) {
    throw WrongUsage(problem);
  }

  Cells input;
  if (!arguments.input.empty()) {
    uint64_t replaced = 0;
    OrThrow(input.Fill(ReadCells(arguments.input), &replaced));
  }
  std::vector<MeasuredShape> measured;
  for (size_t i = 0; i < shapes.size();) {
    std::vector<ReadShape> together;
    const size_t first = i;
    for (; i < shapes.size() && shapes[i].tree == shapes[first].tree &&
           shapes[i].width == shapes[first].width;
         ++i) {
      together.push_back(shapes[i]);
    }
    const DatabaseDir dir("", "read_bench");
    Cells made_up;
    if (arguments.input.empty()) {
      uint64_t replaced = 0;
      OrThrow(made_up.Fill(CellsFor(together.front().tree,
                                    together.front().width, arguments.cells),
                           &replaced));
    }
    const size_t before = measured.size();
    Measure(arguments, arguments.input.empty() ? made_up : input, together,
            dir.path(), &measured);
    for (size_t j = before; j < measured.size(); ++j) PrintShape(measured[j]);
    std::fflush(stdout);
  }
  PrintSummary(measured);

  std::vector<ordered_json> records;
  std::vector<std::string> missed;
  std::vector<std::string> undecided;
  for (const MeasuredShape& one : measured) {
    AddRecords(one.shape.Name(), one.rows, one.cells,
               {kAllReads.begin(), kAllReads.end()}, one.result, &records);
    for (auto [verdict, list] : {std::pair(Verdict::kMissed, &missed),
                                 std::pair(Verdict::kUndecided, &undecided)}) {
      for (const std::string& claim : ClaimsThatAre(verdict, one.result)) {
        list->push_back(one.shape.Name() + ": " + claim);
      }
    }
  }
  return program.Finish(missed, undecided,
                        {{"input", InputName(arguments.input, "shapes")},
                         {"seed", arguments.seed},
                         {"questions", arguments.questions},
                         {"seconds", arguments.seconds}},
                        records);
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("read_bench", rowbloom::bench::Run, argc,
                                     argv);
}
