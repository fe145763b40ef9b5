// The tasks that all benchmark programs do alike: arguments, exit codes, steps,
// and the file of results.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/comparison.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  // and a build without optimisation
inline constexpr int kUsage = 2;
inline constexpr int kNotAsClaimed = 3;  // with --check: a claim is missed

// Arguments that cannot be used; what() says why.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throw std::runtime_error unless the status is OK, the problem "".
void OrThrow(const rocksdb::Status& status);
void OrThrow(const std::string& problem);

class Program {
 public:
  explicit Program(const std::string& description) : app_(description) {}

  // The parser, to add options to.
  CLI::App* app() { return &app_; }
  void AddSeed(uint64_t* seed);
  // --check: Finish then returns kNotAsClaimed if a claim is missed.
  void AddCheck();
  // --seconds, whose default is what *bench has, --only, and AddCheck. The
  // steps of *bench are printed.
  void AddBench(Bench* bench);

  // Adds --json and reads all arguments. Throws what RunProgram catches: after
  // --help or wrong usage, and in a build without optimisation.
  void Parse(int argc, char** argv);

  const std::string& json_file() const { return json_file_; }

  // Writes the records, after machine, build and what the run was, if there is
  // a --json. Throws if it cannot.
  void WriteResults(const nlohmann::ordered_json& run,
                    const std::vector<nlohmann::ordered_json>& records) const;

  // Prints the verdict and writes the results. Returns what main returns.
  int Finish(const std::vector<std::string>& missed,
             const std::vector<std::string>& undecided,
             const nlohmann::ordered_json& run,
             const std::vector<nlohmann::ordered_json>& records) const;
  // Prints the comparisons as a table first; their records come before
  // `records`.
  int Finish(const Bench& bench, const nlohmann::ordered_json& run,
             const std::vector<nlohmann::ordered_json>& records = {}) const;

 private:
  CLI::App app_;
  bool check_ = false;
  std::string json_file_;
};

// Prints what it is called with to standard error, with the seconds since this
// call.
std::function<void(std::string_view)> PrintSteps();

// The body of main: returns what `run` returns. If it throws, prints a message
// that starts with `name` and returns the exit code for the exception.
int RunProgram(const char* name, int (*run)(int argc, char** argv), int argc,
               char** argv);

}  // namespace rowbloom::bench
