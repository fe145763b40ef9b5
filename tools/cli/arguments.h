// Arguments that verbs of both programs take. Their variables must outlive the
// command. Only files that need CLI11 in any case should include this header.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/bytes/number_from_text.h"
#include "rowbloom/printable.h"

namespace rowbloom::cli {

// Checks that an option is a whole number in decimal, and leaves CLI11 its
// shortest form: CLI11 would read 010 as eight, and -1 and numbers that are too
// large as the largest number.
template <typename Number = uint64_t>
CLI::Validator WholeNumber() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const auto number = NumberFromText<Number>(text);
        if (!number) return number.error();
        text = std::to_string(*number);
        return "";
      },
      /*validator_desc=*/"");
}

// Adds --json, for verbs that print something.
inline void AddJsonTo(CLI::App* command, bool* json) {
  command->add_flag("--json", *json, "Print objects, one a line");
}

// Adds --yes, for verbs that call Confirm.
inline void AddYesTo(CLI::App* command, bool* yes) {
  command->add_flag("--yes", *yes, "Do not ask, on a terminal");
}

// Adds an option. The help names its value `unit`.
template <typename Value>
CLI::Option* AddOptionTo(CLI::App* command, const char* name, Value* value,
                         const char* meaning, const char* unit) {
  return command->add_option(name, *value, meaning)->type_name(unit);
}

// Adds an option that takes bytes. \xHH stands for any byte.
template <typename Bytes>
CLI::Option* AddBytesTo(CLI::App* command, const char* name, Bytes* bytes,
                        const char* meaning, const char* unit) {
  return AddOptionTo(command, name, bytes, meaning, unit)
      ->transform(FromPrintable);
}

// Adds an option that takes one value and may be repeated.
inline CLI::Option* AddListTo(CLI::App* command, const char* name,
                              std::vector<std::string>* values,
                              const char* meaning, const char* unit) {
  return AddOptionTo(command, name, values, meaning, unit)
      ->allow_extra_args(false);
}

// Adds a required positional argument.
template <typename Value>
CLI::Option* AddArgumentTo(CLI::App* command, const char* name, Value* value,
                           const char* meaning) {
  return AddOptionTo(command, name, value, meaning, /*unit=*/"")->required();
}

// Adds a positional argument that takes any number of values.
inline CLI::Option* AddArgumentsTo(CLI::App* command, const char* name,
                                   std::vector<std::string>* values,
                                   const char* meaning) {
  // CLI11 splits "[a,b]" if extra values are allowed. If they are not, an
  // argument takes at most its least number, which TakeAll does not check.
  constexpr int kMany = CLI::detail::expected_max_vector_size;
  return AddOptionTo(command, name, values, meaning, /*unit=*/"")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(kMany, kMany)
      ->allow_extra_args(false);
}

// Adds an option that takes a whole number.
template <typename Number>
CLI::Option* AddNumberTo(CLI::App* command, const char* name, Number* value,
                         const char* meaning, const char* unit = "N") {
  return AddOptionTo(command, name, value, meaning, unit)
      ->transform(WholeNumber<Number>());
}
template <typename Number>
CLI::Option* AddNumberTo(CLI::App* command, const char* name,
                         std::optional<Number>* value, const char* meaning,
                         const char* unit = "N") {
  return AddOptionTo(command, name, value, meaning, unit)
      ->transform(WholeNumber<Number>());
}

}  // namespace rowbloom::cli
