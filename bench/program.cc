#include "bench/program.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>

#include "bench/environment.h"
#include "bench/report.h"

namespace rowbloom::bench {
namespace {

using nlohmann::ordered_json;

// The end of a program that has said why already.
struct Ended {
  int exit_code;
};

}  // namespace

void OrThrow(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

void OrThrow(const std::string& problem) {
  if (!problem.empty()) throw std::runtime_error(problem);
}

void Program::AddSeed(uint64_t* seed) {
  app_.add_option("--seed", *seed, "of everything that is drawn")
      ->capture_default_str();
}

void Program::AddCheck() {
  app_.add_flag("--check", check_, "exit with 3 if a claim is missed");
}

void Program::AddBench(Bench* bench) {
  app_.add_option("--seconds", bench->seconds, "of timing for each comparison")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app_.add_option("--only", bench->only,
                  "operations whose name has this in it, such as scan");
  AddCheck();
  bench->on_step = PrintSteps();
}

void Program::Parse(int argc, char** argv) {
  app_.add_option("--json", json_file_,
                  "write the numbers, machine and build to this file");
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw Ended{app_.exit(error) == 0 ? kOk : kUsage};
  }
  if (!kOptimised) {
    throw std::runtime_error(
        "built without optimisation: its times would mean nothing");
  }
}

void Program::WriteResults(const ordered_json& run,
                           const std::vector<ordered_json>& records) const {
  if (json_file_.empty()) return;
  std::ofstream file(json_file_);
  file << ToJson(
      {{"machine", MachineJson()}, {"build", BuildJson()}, {"run", run}},
      records);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + json_file_);
}

int Program::Finish(const std::vector<std::string>& missed,
                    const std::vector<std::string>& undecided,
                    const ordered_json& run,
                    const std::vector<ordered_json>& records) const {
  fmt::print("{}", ToVerdict(missed, undecided));
  WriteResults(run, records);
  return check_ && !missed.empty() ? kNotAsClaimed : kOk;
}

int Program::Finish(const Bench& bench, const ordered_json& run,
                    const std::vector<ordered_json>& records) const {
  const std::vector<Comparison>& comparisons = bench.comparisons();
  fmt::print("\n{}\n", ToTable(comparisons));
  std::vector<ordered_json> all = Records(comparisons);
  all.insert(all.end(), records.begin(), records.end());
  ordered_json whole_run = run;
  whole_run["seconds"] = bench.seconds;
  return Finish(ClaimsThatAre(Verdict::kMissed, comparisons),
                ClaimsThatAre(Verdict::kUndecided, comparisons), whole_run,
                all);
}

std::function<void(std::string_view)> PrintSteps() {
  const auto start = std::chrono::steady_clock::now();
  return [start](std::string_view text) {
    const double nanos = Nanos(std::chrono::steady_clock::now() - start);
    fmt::print(stderr, "[{:5.1f} s] {}\n", nanos / 1e9, text);
  };
}

int RunProgram(const char* name, int (*run)(int argc, char** argv), int argc,
               char** argv) {
  const auto fail = [name](const std::exception& error, int exit_code) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return exit_code;
  };
  try {
    return run(argc, argv);
  } catch (const Ended& ended) {
    return ended.exit_code;
  } catch (const WrongUsage& error) {
    return fail(error, kUsage);
  } catch (const std::exception& error) {
    return fail(error, kFailed);
  }
}

}  // namespace rowbloom::bench
