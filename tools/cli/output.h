// The output of a verb: records, as text or as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "tools/cli/record.h"
#include "tools/cli/report.h"
#include "tools/cli/table.h"

namespace rowbloom::cli {

struct Output {
  std::ostream& out;       // data
  const Diagnostics& err;  // diagnostics
  bool json = false;       // prints objects, one a line, instead of text
  size_t indent = 2;       // of text

  // Prints the record as an object, or as a line of text for each member.
  void Print(const Record& record) const;
  // Prints the record as an object, or as one line, "2 files, 5 cells".
  void PrintSum(const Record& record) const;
  // Prints a line of text, with control characters escaped; with --json,
  // nothing.
  void Line(std::string_view text = {}) const;
};

// The time at which a verb prints its output.
enum class Prints : uint8_t {
  kAtTheEnd,     // after each file
  kAllTheWhile,  // during a file; then a terminal needs no progress line
};

// Listing prints records of one kind: with --json each as an object at once, as
// text in a table of some of their members.
class Listing {
 public:
  // The output must outlive it. With kAllTheWhile a table may have any number
  // of rows, and its later rows may be wider.
  Listing(const Output& output, std::string_view columns,
          Prints prints = Prints::kAtTheEnd)
      : output_(output), table_(columns), prints_(prints) {}
  ~Listing() { Print(); }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  void Add(const Record& record);
  // Adds a row to the text; nothing with --json.
  void AddRow(const Record& record);
  // Prints the rows that were not printed yet. The destructor calls it, too.
  void Print();

 private:
  const Output& output_;
  Table table_;
  const Prints prints_;
};

}  // namespace rowbloom::cli
