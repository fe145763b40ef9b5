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

#include "rocksdb/status.h"

namespace rowbloom::bench {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  // and a build without optimisation
inline constexpr int kUsage = 2;
inline constexpr int kNotAsClaimed = 3;  // with --check

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

  // For options.
  CLI::App* app() { return &app_; }
  void AddSeed(uint64_t* seed);
  void AddCheck(bool* check, const std::string& claimed);

  // Adds --json and reads all arguments. Throws what RunProgram catches: after
  // --help or wrong usage, and in a build without optimisation.
  void Parse(int argc, char** argv);

  const std::string& json_file() const { return json_file_; }

  // Writes the results, after machine and build, if there is a --json. Throws
  // if it cannot.
  void WriteResults(const nlohmann::ordered_json& results) const;

 private:
  CLI::App app_;
  std::string json_file_;
};

// Prints what it is called with to standard error, with the seconds since this
// call.
std::function<void(std::string_view)> PrintSteps();

// For main: what `run` returns, or, with a message that starts with `name`, the
// exit code for what it throws.
int RunProgram(const char* name, int (*run)(int argc, char** argv), int argc,
               char** argv);

}  // namespace rowbloom::bench
