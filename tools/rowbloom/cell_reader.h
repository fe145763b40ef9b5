// CellReader reads cells from text in one of two formats. The first line that
// is not blank tells the format.
//
// TSV has a cell on each line. The value is the rest of the line, with tabs:
//   row<TAB>family:qualifier<TAB>value
//
// Debian's package index has stanzas of fields, separated by blank lines. The
// row is the value of the field Package. Each field is a cell, whose qualifier
// is the field's name:
//   Package: zsh
//   Description: shell with lots of features
//    Zsh is a UNIX command interpreter.
// A line that starts with a space or a tab continues the field above: it is
// appended unchanged, after a LF. Spaces and tabs after the colon are dropped.
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

// Returns the format of `line`; nullopt: neither.
std::optional<InputFormat> FormatOfLine(std::string_view line);

// A cell of the input. Its views are valid during the call of the sink only.
struct InputCell {
  std::string_view row;
  std::optional<std::string_view> family;  // a package index has none
  std::string_view qualifier;
  std::string_view value;
  bool is_last = true;  // in its stanza
};

// The functions that receive the cells. An error ends the reading.
struct CellSink {
  using Function = std::function<std::optional<Error>(const InputCell& cell)>;
  // Returns an error if the cell cannot be taken. Called for all cells of a
  // stanza before the first of them is taken.
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

  // Reads from `in`, which must outlive it. `name` is its name in messages.
  CellReader(std::istream& in, std::string name, size_t max_bytes = kMaxBytes);

  // Reads up to the first line that is not blank. nullopt: there is none.
  // Error: as ReadAll, or the line has no known format.
  Result<std::optional<InputFormat>> Detect();

  // Gives all cells to `sink` in the order of the input. Returns an error
  // ("NAME:LINE: expected ..., found ...") if a line is malformed or longer
  // than max_bytes, the stream fails, or the sink refuses a cell. The sink has
  // then taken the cells of the lines above alone, and no cell of a stanza that
  // is malformed, cut off or refused. REQUIRES that Detect was called and gave
  // no error.
  std::optional<Error> ReadAll(const CellSink& sink);

  // The number of the first line, from 1, whose cells were not given.
  uint64_t line_number() const {
    return stanza_line_ > 0 ? stanza_line_ : lines_.line_number();
  }

  // The number of bytes of the input, so far.
  uint64_t bytes_consumed() const { return lines_.bytes_consumed(); }

 private:
  struct Field {
    uint64_t line_number;
    std::string name;
    std::string value;
  };

  // Moves to the next line, or to the line that Detect found.
  std::optional<Error> NextLine(bool* at_end);
  // Returns an error of the last line.
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
  uint64_t stanza_line_ = 0;      // that of the stanza being read; 0: none
  uint64_t blank_lines_ = 0;      // above the line that Detect found
};

}  // namespace rowbloom::cli
