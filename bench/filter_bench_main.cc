// filter_bench: what filters cost to build and to ask, and how often they are
// wrong, rowbloom's beside RocksDB's. See bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/environment.h"
#include "bench/filter_bench.h"
#include "bench/kinds_bench.h"
#include "bench/program.h"
#include "bench/ribbon_slots_bench.h"
#include "bench/standalone_bench.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::vector<uint64_t> keys = {10'000, 100'000, 1'000'000, 10'000'000};
  std::vector<double> rates = {0.1, 0.01, 0.001};
  bool huge = false;
  bool standalone = false;
  bool ribbon_slots = false;

  // The name of the array of results instead of the usual ones, or empty.
  std::string_view Mode() const {
    if (standalone) return "standalone";
    return ribbon_slots ? "ribbon_slots" : "";
  }
  uint64_t frontier_keys = 1'000'000;
  uint64_t seed = 1;
  BenchOptions options;
};

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string Label(const FilterResult& result) {
  std::string label = result.filter;
  if (!result.kernel.empty()) label += ", " + result.kernel;
  if (result.equal == Equal::kBits) label += ", equal bits";
  return label;
}

std::string Label(Operation operation) {
  std::string label(ToString(operation.mode));
  if (operation.asked != Asked::kNothing) {
    label.append(", ").append(ToString(operation.asked));
  }
  return label;
}

double PerKey(uint64_t bytes, uint64_t keys) {
  return static_cast<double>(bytes) / static_cast<double>(keys);
}

void Print(const Timing& timing) {
  fmt::print("{:>8.1f}{:>6.2f}{:>3.0f}%", timing.median, timing.ratio_to_stock,
             timing.SpreadPercent());
}

void PrintGroup(const Group& group) {
  fmt::print("{} keys ({}), target rate {}\n\n", group.keys,
             ToString(group.shape), group.target_rate);
  fmt::print("     {:34}{:>11}{:>10}{:>22}{:>9}{:>11}\n", "filter",
             "bits/entry", "FPR %", "99 % interval", "over %", "peak B/key");
  char letter = 'A';
  for (const FilterResult& result : group.filters) {
    const FalsePositives& counts = result.OneSection();
    const Interval interval = Interval99(counts);
    fmt::print(
        "  {}  {:34}{:>11.2f}{:>10.4f}{:>22}{:>9.1f}{:>11.1f}\n", letter++,
        Label(result), result.BitsPerEntry(), 100 * counts.Rate(),
        fmt::format("{:.4f} - {:.4f}", 100 * interval.low, 100 * interval.high),
        result.OverBoundPercent(), PerKey(result.build_peak_bytes, group.keys));
  }
  fmt::print("\n  {:32}", "ns/key, ratio to stock, spread");
  for (size_t i = 0; i < group.filters.size(); ++i) {
    fmt::print("{:>18}", static_cast<char>('A' + static_cast<int>(i)));
  }
  fmt::print("{:>18}", "memory alone");
  const std::vector<Operation> operations = AllOperations(group.shape);
  for (size_t i = 0; i < operations.size(); ++i) {
    fmt::print("\n  {:32}", Label(operations[i]));
    for (const FilterResult& result : group.filters) {
      const Timing& timing = result.timings[i];
      Print(timing);
    }
    if (operations[i].mode != Mode::kBuild) Print(group.floor[i]);
  }
  fmt::print("\n\n");
  std::fflush(stdout);
}

void PrintKinds(std::string_view mode, const KindGroup& group) {
  fmt::print("{}, {} keys, target rate {}\n\n", mode, group.keys,
             group.target_rate);
  fmt::print("     {:26}{:>9}{:>10}{:>22}{:>18}{:>18}{:>18}\n", "filter",
             "bytes/key", "FPR %", "99 % interval", "add", "absent", "present");
  for (const KindResult& result : group.filters) {
    const Interval interval = Interval99(result.absent);
    fmt::print("     {:26}{:>9.2f}{:>10.4f}{:>22}", result.filter,
               PerKey(result.filter_bytes, group.keys),
               100 * result.absent.Rate(),
               fmt::format("{:.4f} - {:.4f}", 100 * interval.low,
                           100 * interval.high));
    for (const Timing* timing :
         {&result.add, &result.lookup_absent, &result.lookup_present}) {
      Print(*timing);
    }
    fmt::print("\n");
  }
  fmt::print("\n");
  std::fflush(stdout);
}

// To four digits: more would be noise. JSON has no infinity: null stands for
// it.
ordered_json Rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.4g}", value));
}

ordered_json ToJson(const FalsePositives& counts) {
  const Interval interval = Interval99(counts);
  return {{"asked", counts.asked},
          {"passed", counts.passed},
          {"rate", Rounded(counts.Rate())},
          {"low99", Rounded(interval.low)},
          {"high99", Rounded(interval.high)}};
}

// The values of a result that do not depend on times.
ordered_json ToJson(KeyShape shape, uint64_t keys, const FilterResult& result) {
  ordered_json json = {
      {"shape", ToString(shape)},
      {"keys", keys},
      {"filter", result.filter},
      {"kernel",
       result.kernel.empty() ? ordered_json() : ordered_json(result.kernel)},
      {"equal", ToString(result.equal)},
      {"setting_bits", Rounded(result.setting)},
      {"entries", result.entries},
      {"filter_bytes", result.filter_bytes},
      {"bits_per_entry", Rounded(result.BitsPerEntry())},
      {"over_bound_percent", Rounded(result.OverBoundPercent())},
      {"build_peak_bytes_per_key",
       Rounded(PerKey(result.build_peak_bytes, keys))},
      {"absent_row", ToJson(result.absent_row)}};
  if (result.absent_column.asked > 0) {
    json["absent_column"] = ToJson(result.absent_column);
  }
  return json;
}

ordered_json ToJson(const Timing& timing) {
  return {{"ns_per_key", Rounded(timing.median)},
          {"low_quartile", Rounded(timing.low_quartile)},
          {"high_quartile", Rounded(timing.high_quartile)},
          {"spread_percent", Rounded(timing.SpreadPercent())},
          {"repetitions", timing.repetitions},
          {"ratio_to_stock", Rounded(timing.ratio_to_stock)}};
}

ordered_json ToJson(const KindGroup& group, const KindResult& result) {
  return {{"keys", group.keys},
          {"target_rate", group.target_rate},
          {"filter", result.filter},
          {"filter_bytes", result.filter_bytes},
          {"bytes_per_key", Rounded(PerKey(result.filter_bytes, group.keys))},
          {"absent", ToJson(result.absent)},
          {"add", ToJson(result.add)},
          {"lookup_absent", ToJson(result.lookup_absent)},
          {"lookup_present", ToJson(result.lookup_present)}};
}

ordered_json ToJson(Operation operation, const Timing& timing) {
  ordered_json json = {{"operation", ToString(operation.mode)}};
  if (operation.asked != Asked::kNothing) {
    json["asked"] = ToString(operation.asked);
    json["present_percent"] = operation.asked == Asked::kPresent ? 100
                              : operation.asked == Asked::kHalf  ? 50
                                                                 : 0;
  }
  json.update(ToJson(timing));
  return json;
}

// One line for each filter and timing, so that a new run changes lines only.
void WriteArray(std::ofstream& out, std::string_view name,
                const std::vector<std::string>& lines) {
  out << "  \"" << name << "\": [";
  for (size_t i = 0; i < lines.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ") << lines[i];
  }
  out << "\n  ]";
}

void WriteJson(const std::string& path, const Arguments& arguments,
               const std::vector<Group>& groups,
               const std::vector<FilterResult>& frontier,
               const std::vector<KindGroup>& kinds) {
  std::vector<std::string> filters;
  for (const Group& group : groups) {
    const std::vector<Operation> operations = AllOperations(group.shape);
    for (const FilterResult& result : group.filters) {
      ordered_json json = ToJson(group.shape, group.keys, result);
      json["target_rate"] = group.target_rate;
      std::string timings;
      for (size_t i = 0; i < operations.size(); ++i) {
        timings += (i == 0 ? "\n      " : ",\n      ") +
                   ToJson(operations[i], result.timings[i]).dump();
      }
      std::string line = json.dump();
      line.pop_back();
      filters.push_back(line + ", \"timings\": [" + timings + "]}");
    }
  }
  std::vector<std::string> floors;
  for (const Group& group : groups) {
    const std::vector<Operation> operations = AllOperations(group.shape);
    for (size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].mode == Mode::kBuild) continue;
      ordered_json json = {{"shape", ToString(group.shape)},
                           {"keys", group.keys},
                           {"target_rate", group.target_rate}};
      json.update(ToJson(operations[i], group.floor[i]));
      floors.push_back(json.dump());
    }
  }
  std::vector<std::string> points;
  for (const FilterResult& result : frontier) {
    points.push_back(
        ToJson(KeyShape::kRow, arguments.frontier_keys, result).dump());
  }
  std::vector<std::string> kind_lines;
  for (const KindGroup& group : kinds) {
    for (const KindResult& result : group.filters) {
      kind_lines.push_back(ToJson(group, result).dump());
    }
  }
  const ordered_json run = {{"date", UtcNow()},
                            {"seed", arguments.seed},
                            {"key_bytes", kKeyBytes},
                            {"columns_per_row", kColumns},
                            {"batch_keys", kBatchKeys},
                            {"offset_bytes", arguments.options.offset_bytes},
                            {"kernels", KernelNames()},
                            {"repetitions", arguments.options.repetitions},
                            {"min_time_s", arguments.options.min_time_s}};
  std::ofstream out(path);
  out << "{\n  \"machine\": " << MachineJson().dump()
      << ",\n  \"build\": " << BuildJson().dump()
      << ",\n  \"run\": " << run.dump() << ",\n";
  if (!arguments.Mode().empty()) {
    WriteArray(out, arguments.Mode(), kind_lines);
  } else {
    WriteArray(out, "filters", filters);
    out << ",\n";
    WriteArray(out, "memory_alone", floors);
    out << ",\n";
    WriteArray(out, "frontier", points);
  }
  out << "\n}\n";
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

int Run(int argc, char** argv) {
  Arguments arguments;
  BenchOptions* options = &arguments.options;
  Program program(
      "Measures filters without a database: rowbloom's kinds and kernels and "
      "RocksDB's Bloom and Ribbon, through RocksDB's filter interface; or the "
      "filters that an application uses by itself.");
  CLI::App* const app = program.app();
  app->add_option("--keys", arguments.keys, "numbers of keys, multiples of 10")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{100}, uint64_t{1'000'000'000}));
  app->add_flag("--huge", arguments.huge,
                "10^8 keys, too; needs some 10 GB of memory");
  app->add_flag("--standalone", arguments.standalone,
                "the filters that an application uses by itself, instead");
  app->add_flag("--ribbon-slots", arguments.ribbon_slots,
                "ribbon filters with fewer and more slots for each key, beside "
                "RocksDB's Ribbon, instead")
      ->excludes("--standalone");
  app->add_option("--rates", arguments.rates, "target false positive rates")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1e-7, 0.5));
  app->add_option("--frontier-keys", arguments.frontier_keys,
                  "keys of the filters of 4 to 20 bits per key; 0: none")
      ->capture_default_str();
  app->add_option("--absent", options->absent_keys,
                  "absent keys asked for each false positive rate")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1000}, uint64_t{1'000'000'000}));
  app->add_option("--offset", options->offset_bytes,
                  "of each filter from the start of a cache line, in bytes: 16 "
                  "is where glibc's malloc puts large ones")
      ->capture_default_str()
      ->check(CLI::Range(size_t{0}, size_t{63}));
  app->add_option("--repetitions", options->repetitions, "of each timing")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--min-time", options->min_time_s,
                  "seconds of each repetition, at least")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 60.0));
  program.AddSeed(&arguments.seed);
  program.Parse(argc, argv);
  if (arguments.huge) arguments.keys.push_back(100'000'000);
  for (const uint64_t keys : arguments.keys) {
    if (keys % kColumns != 0) {
      throw WrongUsage(
          fmt::format("--keys {}: expected a multiple of {}", keys, kColumns));
    }
  }
  options->build_repetitions =
      std::min(options->build_repetitions, options->repetitions);

  const auto step = PrintSteps();
  std::vector<Group> groups;
  std::vector<KindGroup> kinds;
  const std::vector<KeyShape> shapes =
      arguments.Mode().empty() ? std::vector{KeyShape::kRow, KeyShape::kRowCol}
                               : std::vector{KeyShape::kRow};
  for (const uint64_t keys : arguments.keys) {
    for (const KeyShape shape : shapes) {
      step(fmt::format("{} keys ({})", keys, ToString(shape)));
      const Workload workload(KeySpace(shape, keys, arguments.seed));
      for (const double rate : arguments.rates) {
        if (!arguments.Mode().empty()) {
          kinds.push_back(arguments.standalone
                              ? MeasureStandalone(workload, rate, *options)
                              : MeasureRibbonSlots(workload, rate, *options));
          PrintKinds(arguments.Mode(), kinds.back());
        } else {
          groups.push_back(MeasureGroup(workload, rate, *options));
          PrintGroup(groups.back());
        }
      }
    }
  }
  std::vector<FilterResult> frontier;
  if (arguments.frontier_keys > 0 && arguments.Mode().empty()) {
    step(fmt::format("frontier, {} keys", arguments.frontier_keys));
    frontier = MeasureFrontier(
        KeySpace(KeyShape::kRow, arguments.frontier_keys, arguments.seed),
        *options);
  }
  if (!program.json_file().empty()) {
    WriteJson(program.json_file(), arguments, groups, frontier, kinds);
  }
  step("done");
  return kOk;
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  return rowbloom::bench::RunProgram("filter_bench", rowbloom::bench::Run, argc,
                                     argv);
}
