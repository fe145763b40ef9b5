// CellReader: cells from text, in one of two formats that it tells apart by
// the first line with content.
//
// TSV, a cell a line; the value is the rest of the line, tabs included:
//   row<TAB>family:qualifier<TAB>value
//
// Debian's package index, stanzas of fields with blank lines between them. The
// row is the value of the field Package, each field is a cell whose qualifier
// is the field's name:
//   Package: zsh
//   Description: shell with lots of features
//    Zsh is a UNIX command interpreter.
// Lines that start with a space or a tab continue the field above; they are
// kept as they are, after a LF. Spaces and tabs after the colon are dropped.
//
//   CellReader reader(in, "cells.tsv");
//   auto format = reader.Detect();
//   auto error = reader.ReadAll([&](const InputCell& cell) { ... });
//
// Lines end with LF; a CR before it belongs to the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/result.h"
#include "tools/rowbloom/line_reader.h"

namespace rowbloom::cli {

enum class InputFormat { kTsv, kPackageIndex };

// The format that `line` belongs to; nullopt: neither.
std::optional<InputFormat> FormatOfLine(std::string_view line);

// A cell as it was read; all parts are valid during the call of the sink only.
struct InputCell {
  std::string_view row;
  std::optional<std::string_view> family;  // a package index has none
  std::string_view qualifier;
  std::string_view value;
  bool is_last = true;  // in its stanza
};

// The cells go here. An error ends the reading.
struct CellSink {
  using Function = std::function<std::optional<Error>(const InputCell& cell)>;
  // Returns why the cell cannot be taken. Called for all cells of a stanza
  // before the first is taken.
  Function check = [](const InputCell&) -> std::optional<Error> {
    return std::nullopt;
  };
  Function take;
};

// Not thread-safe. Memory: a line, and in a package index a stanza, each up to
// max_bytes.
class CellReader {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  // Reads from `in`, which must outlive it. `name` is what messages call it.
  CellReader(std::istream& in, std::string name, size_t max_bytes = kMaxBytes);

  // Reads up to the first line with content. nullopt: there is none. Error: as
  // ReadAll, or the line is of no known format.
  Result<std::optional<InputFormat>> Detect();

  // Gives all cells to `sink`, in the order of the input. Returns an error as
  // `NAME:LINE: what was expected, what was found`, when a line is malformed or
  // longer than max_bytes, the stream breaks, or the sink refuses a cell. The
  // sink then has taken the cells of the lines above, and none of that line or
  // below; of a stanza that is malformed, cut off or refused none. REQUIRES
  // that Detect was called and gave no error.
  std::optional<Error> ReadAll(const CellSink& sink);

  // The number of the line that was read last, from 1.
  uint64_t line_number() const { return lines_.line_number(); }

  // The number of bytes of the input, so far.
  uint64_t bytes_consumed() const { return lines_.bytes_consumed(); }

 private:
  struct Field {
    uint64_t line_number;
    std::string name;
    std::string value;
  };

  // Moves on to the next line, or to the one that Detect found.
  std::optional<Error> NextLine(bool* at_end);
  // The error of the last line.
  Error Expected(std::string_view what, const std::string& found) const;
  std::optional<Error> ReadTsv(const CellSink& sink);
  std::optional<Error> EmitStanza(const std::vector<Field>& stanza,
                                  const CellSink& sink) const;
  std::optional<Error> ReadPackageIndex(const CellSink& sink);

  LineReader lines_;
  const size_t max_bytes_;
  std::optional<InputFormat> format_;
  std::string_view line_;
  bool line_is_pending_ = false;  // found by Detect, not read yet
  uint64_t blank_lines_ = 0;      // above the line that Detect found
};

}  // namespace rowbloom::cli
