#include "bench/program_input.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/program.h"
#include "tools/rowbloom/cell_reader.h"

namespace rowbloom::bench {
namespace {

bool ParseShape(const std::string& text, uint64_t* rows, uint64_t* columns) {
  unsigned long long parsed_rows = 0;
  unsigned long long parsed_columns = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%9llux%9llu%n", &parsed_rows, &parsed_columns,
                  &end) != 2 ||
      static_cast<size_t>(end) != text.size() || parsed_rows == 0 ||
      parsed_columns == 0) {
    return false;
  }
  *rows = parsed_rows;
  *columns = parsed_columns;
  return true;
}

}  // namespace

DatabaseDir::~DatabaseDir() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
}

DatabaseDir::DatabaseDir(const std::string& wanted, const std::string& program)
    : path_(wanted), temporary_(wanted.empty()) {
  if (!temporary_) {
    std::filesystem::create_directories(path_);
    return;
  }
  path_ =
      (std::filesystem::temp_directory_path() / (program + ".XXXXXX")).string();
  if (mkdtemp(path_.data()) == nullptr) {
    OrThrow("cannot create a directory like " + path_);
  }
}

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::vector<InputCell> ReadCells(const std::string& input) {
  const bool standard_input = input == "-";
  std::ifstream file;
  if (!standard_input) file.open(input, std::ios::binary);
  if (!file) OrThrow("cannot open " + input);
  std::istream& in = standard_input ? std::cin : file;
  cli::CellReader reader(in, standard_input ? "standard input" : input);
  const auto format = reader.Detect();
  if (!format) OrThrow(format.error());
  if (!format->has_value()) OrThrow(input + " has no cells");
  std::vector<InputCell> cells;
  const auto error = reader.ReadAll(
      {.take = [&cells](const cli::InputCell& cell) -> std::optional<Error> {
        std::string qualifier;
        if (cell.family) qualifier.append(*cell.family).push_back(':');
        qualifier.append(cell.qualifier);
        cells.push_back({std::string(cell.row), std::move(qualifier),
                         std::string(cell.value)});
        return std::nullopt;
      }});
  if (error) OrThrow(error->message);
  return cells;
}

std::string CheckShape(const std::string& text) {
  uint64_t rows = 0;
  uint64_t columns = 0;
  return ParseShape(text, &rows, &columns) ? "" : text + ": not ROWSxCOLUMNS";
}

std::vector<InputCell> ReadOrMakeCells(const std::string& input,
                                       const std::string& shape) {
  if (!input.empty()) return ReadCells(input);
  uint64_t rows = 0;
  uint64_t columns = 0;
  ParseShape(shape, &rows, &columns);
  return SyntheticCells(rows, columns);
}

std::string InputName(const std::string& input, const std::string& shape) {
  return input.empty() ? "made up, " + shape
                       : std::filesystem::path(input).filename().string();
}

}  // namespace rowbloom::bench
