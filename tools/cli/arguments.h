// Arguments that verbs of both programs take. Their variables must outlive the
// command. Files that include CLI11 anyway may include this.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/bytes/number_from_text.h"

namespace rowbloom::cli {

// Checks an option for a whole number in decimal: CLI11 would take -1 and what
// is too large for the largest number, and 010 for eight.
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

// Adds --yes, for verbs that Confirm.
inline void AddYesTo(CLI::App* command, bool* yes) {
  command->add_flag("--yes", *yes, "Do not ask, on a terminal");
}

// Add an option that takes such a number, which the help calls `unit`.
template <typename Number>
CLI::Option* AddNumberTo(CLI::App* command, const char* name, Number* value,
                         const char* meaning, const char* unit = "N") {
  return command->add_option(name, *value, meaning)
      ->check(WholeNumber<Number>())
      ->type_name(unit);
}
template <typename Number>
CLI::Option* AddNumberTo(CLI::App* command, const char* name,
                         std::optional<Number>* value, const char* meaning,
                         const char* unit = "N") {
  return command->add_option(name, *value, meaning)
      ->check(WholeNumber<Number>())
      ->type_name(unit);
}

}  // namespace rowbloom::cli
