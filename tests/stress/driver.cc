#include "tests/stress/driver.h"

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/stress/worker.h"

namespace rowbloom::stress {
namespace {

constexpr int kOk = 0;
constexpr int kDiverged = 1;
constexpr int kFailed = 2;

struct Arguments {
  std::optional<double> seconds;
  std::optional<uint64_t> operations;
  std::optional<uint64_t> kills;
  std::optional<uint64_t> cuts;
  std::optional<uint64_t> round;
  std::optional<uint64_t> life;
  uint64_t seed = 0;
  uint32_t threads = 3;
  std::vector<std::string> kinds;
  std::string dir;
  bool keep = false;
  Sabotage sabotage = Sabotage::kNone;
};

// Rounds until one of the limits is met; without any, one of each kind.
void RunRounds(const Program& program, const Arguments& arguments,
               const std::string& dir, Report* report) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&](uint64_t rounds) {
    const std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    if (report->failed()) return true;
    if (arguments.round) return rounds > 0;
    if (!arguments.seconds && !arguments.operations && !arguments.kills &&
        !arguments.cuts) {
      return rounds == arguments.kinds.size();
    }
    return passed.count() >= arguments.seconds.value_or(
                                 std::numeric_limits<double>::infinity()) ||
           report->counters.operations >=
               arguments.operations.value_or(UINT64_MAX) ||
           report->counters.kills >= arguments.kills.value_or(UINT64_MAX) ||
           report->counters.cuts >= arguments.cuts.value_or(UINT64_MAX);
  };
  for (uint64_t rounds = 0; !is_over(rounds); ++rounds) {
    const uint64_t number = arguments.round.value_or(rounds);
    const Round round{.kind = arguments.kinds[number % arguments.kinds.size()],
                      .number = number,
                      .seed = arguments.seed,
                      .threads = arguments.threads,
                      .dir = dir + "/round" + std::to_string(number),
                      .sabotage = arguments.sabotage};
    std::filesystem::create_directories(round.dir);
    program.rounds.at(round.kind)(round, report);
    ++report->counters.rounds;
    if (!report->failed() && !arguments.keep) {
      std::filesystem::remove_all(round.dir);
    }
  }
}

int RunWorker(const Program& program, const Arguments& arguments) {
  EndWithParent();
  Report report;
  program.run_worker({.kind = arguments.kinds.front(),
                      .number = arguments.round.value(),
                      .seed = arguments.seed,
                      .threads = arguments.threads,
                      .dir = arguments.dir,
                      .sabotage = arguments.sabotage},
                     *arguments.life, &report);
  return report.failed() ? kDiverged : kOk;
}

// Rounds of other kinds would be started for ever.
void ExpectKind(const Arguments& arguments, const std::optional<uint64_t>& goal,
                const std::string& option, const std::string& kind) {
  if (goal && std::ranges::count(arguments.kinds, kind) == 0) {
    throw std::invalid_argument(option + " needs rounds of the kind " + kind);
  }
}

int Run(const Program& program, const Arguments& arguments) {
  if (arguments.life) return RunWorker(program, arguments);
  ExpectKind(arguments, arguments.kills, "--kills", "kills");
  ExpectKind(arguments, arguments.cuts, "--cuts", "power");
  std::printf("%s --seed %llu --threads %u\n", program.name.c_str(),
              static_cast<unsigned long long>(arguments.seed),
              arguments.threads);
  std::fflush(stdout);
  std::string dir = arguments.dir;
  if (dir.empty()) {
    dir = (std::filesystem::temp_directory_path() / (program.name + "-XXXXXX"))
              .string();
    if (mkdtemp(dir.data()) == nullptr) {
      throw std::runtime_error("cannot create a directory like " + dir);
    }
  }
  Report report;
  RunRounds(program, arguments, dir, &report);
  report.PrintSummary();
  if (report.failed() || arguments.keep) {
    std::printf("files are in %s\n", dir.c_str());
  } else if (arguments.dir.empty()) {
    std::filesystem::remove_all(dir);
  }
  return report.failed() ? kDiverged : kOk;
}

}  // namespace

int RunStress(const Program& program, int argc, char** argv) {
  std::vector<std::string> kinds;
  Arguments arguments;
  for (const auto& [kind, run] : program.rounds) kinds.push_back(kind);
  arguments.kinds = kinds;
  arguments.seed = std::random_device()();
  CLI::App app(program.description);
  app.add_option("--seconds", arguments.seconds,
                 "Start rounds for so long (default: a round of each kind)");
  app.add_option("--operations", arguments.operations,
                 "Start rounds until that many operations are done");
  app.add_option("--kills", arguments.kills,
                 "Start rounds until that many processes were killed");
  if (program.rounds.contains("power")) {
    app.add_option("--cuts", arguments.cuts,
                   "Start rounds until the power was cut that often");
  }
  app.add_option("--seed", arguments.seed, "What to draw (default: random)")
      ->envname("ROWBLOOM_SEED");
  app.add_option("--threads", arguments.threads, "Threads, and shares of keys")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--kinds", arguments.kinds, "Of rounds, in turn")
      ->delimiter(',')
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  app.add_option("--round", arguments.round, "Only the round of this number");
  app.add_option("--db", arguments.dir,
                 "Directory of the files (default: a temporary one)");
  app.add_flag("--keep", arguments.keep, "Leave the files there");
  app.add_option("--life", arguments.life)->group("");
  app.add_option("--sabotage", arguments.sabotage)
      ->transform(CLI::CheckedTransformer(program.sabotages))
      ->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    return Run(program, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return kFailed;
  }
}

}  // namespace rowbloom::stress
