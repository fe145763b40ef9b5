#include "bench/program_input.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/rowbloom/cell_reader.h"

namespace rowbloom::bench {

DatabaseDir::~DatabaseDir() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
}

std::string DatabaseDir::Make(const std::string& wanted,
                              const std::string& program) {
  std::error_code error;
  if (!wanted.empty()) {
    path_ = wanted;
    std::filesystem::create_directories(path_, error);
    return error ? "cannot create " + path_ + ": " + error.message() : "";
  }
  path_ =
      (std::filesystem::temp_directory_path() / (program + ".XXXXXX")).string();
  if (mkdtemp(path_.data()) == nullptr) {
    return "cannot create a directory like " + path_;
  }
  temporary_ = true;
  return "";
}

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

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

std::string ReadCells(const std::string& input, std::vector<InputCell>* cells) {
  const bool standard_input = input == "-";
  std::ifstream file;
  if (!standard_input) {
    file.open(input, std::ios::binary);
    if (!file) return "cannot open " + input;
  }
  std::istream& in = standard_input ? std::cin : file;
  cli::CellReader reader(in, standard_input ? "standard input" : input);
  const auto format = reader.Detect();
  if (!format) return format.error();
  if (!format->has_value()) return input + " has no cells";
  const auto error = reader.ReadAll(
      {.take = [cells](const cli::InputCell& cell) -> std::optional<Error> {
        std::string qualifier;
        if (cell.family) qualifier.append(*cell.family).push_back(':');
        qualifier.append(cell.qualifier);
        cells->push_back({std::string(cell.row), std::move(qualifier),
                          std::string(cell.value)});
        return std::nullopt;
      }});
  return error ? error->message : "";
}

std::string CheckShape(const std::string& text) {
  uint64_t rows = 0;
  uint64_t columns = 0;
  return ParseShape(text, &rows, &columns) ? "" : text + ": not ROWSxCOLUMNS";
}

std::string ReadOrMakeCells(const std::string& input, const std::string& shape,
                            std::vector<InputCell>* cells) {
  if (!input.empty()) return ReadCells(input, cells);
  uint64_t rows = 0;
  uint64_t columns = 0;
  ParseShape(shape, &rows, &columns);
  *cells = SyntheticCells(rows, columns);
  return "";
}

std::string InputName(const std::string& input, const std::string& shape) {
  return input.empty() ? "made up, " + shape
                       : std::filesystem::path(input).filename().string();
}

}  // namespace rowbloom::bench
