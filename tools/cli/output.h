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
  bool json = false;       // objects, one a line, instead of text
  size_t indent = 2;       // of text

  // Prints the record: an object, or a line of text for each member.
  void Print(const Record& record) const;
  // Prints the record: an object, or "2 files, 5 cells", a line of text.
  void PrintSum(const Record& record) const;
  // Prints a line of text, which is made fit for a terminal; nothing with
  // --json.
  void Line(std::string_view text = {}) const;
};

// The time at which a verb prints its output.
enum class Prints : uint8_t {
  kAtTheEnd,     // after each file
  kAllTheWhile,  // which on a terminal is progress enough
};

// Listing: records of one kind, with --json an object each as it comes, as text
// a table of some of their members.
class Listing {
 public:
  // The output must outlive it. A table that is printed all the while has rows
  // of any number; its later rows may be wider.
  Listing(const Output& output, std::string_view columns,
          Prints prints = Prints::kAtTheEnd)
      : output_(output), table_(columns), prints_(prints) {}
  ~Listing() { Print(); }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  void Add(const Record& record);
  // Adds a row of text alone.
  void AddRow(const Record& record);
  // Prints the rows that are not printed yet, as the destructor does.
  void Print();

 private:
  const Output& output_;
  Table table_;
  const Prints prints_;
};

}  // namespace rowbloom::cli
