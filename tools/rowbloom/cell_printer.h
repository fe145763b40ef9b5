// Cells as lines of text or of JSON.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "rowbloom/cell.h"

namespace rowbloom::cli {

struct CellFormat {
  bool json = false;       // objects, not lines of text
  bool hex = false;        // rows, qualifiers and values as hex digits
  bool keys_only = false;  // without values
};

// The first column of a line of text; the later ones follow, with tabs between
// them. Columns that the command line names are left out.
enum class CellColumns : uint8_t { kRow, kColumn, kTimestamp, kValue };

// Prints a line per cell:
//   row<TAB>family:qualifier<TAB>timestamp<TAB>value
// with the bytes as ToPrintable has them, or as lower case hex digits; or the
// same as an object with these names:
//   {"row":...,"family":...,"qualifier":...,"timestamp":...,"value":...}
// where text is as in lines of text. Not thread-safe.
class CellPrinter {
 public:
  // Prints to `out`, which must outlive it.
  CellPrinter(std::ostream& out, const CellFormat& format, CellColumns first)
      : out_(out), format_(format), first_(first) {}

  void Print(std::string_view row, const Cell& cell);

 private:
  std::string Text(std::string_view bytes) const;

  std::ostream& out_;
  const CellFormat format_;
  const CellColumns first_;
};

}  // namespace rowbloom::cli
