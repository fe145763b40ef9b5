#include "tools/rowbloom/cell_printer.h"

#include <ostream>

#include "rowbloom/printable.h"
#include "tools/cli/record.h"
#include "tools/cli/text.h"

namespace rowbloom::cli {
void CellPrinter::Print(std::string_view row, const Cell& cell) {
  if (format_.json) {
    Record record;
    record.Text("row", Text(row))
        .Text("family", cell.family)
        .Text("qualifier", Text(cell.qualifier))
        .Number("timestamp", cell.timestamp_ms);
    if (!format_.keys_only) record.Text("value", Text(cell.value));
    record.Print(out_);
    return;
  }
  if (first_ <= CellColumns::kRow) out_ << Text(row) << '\t';
  if (first_ <= CellColumns::kColumn) {
    out_ << cell.family << ':' << Text(cell.qualifier) << '\t';
  }
  if (format_.keys_only) {
    out_ << cell.timestamp_ms << '\n';
    return;
  }
  if (first_ <= CellColumns::kTimestamp) out_ << cell.timestamp_ms << '\t';
  out_ << Text(cell.value) << '\n';
}

std::string CellPrinter::Text(std::string_view bytes) const {
  return format_.hex ? ToHex(bytes) : ToPrintable(bytes);
}

}  // namespace rowbloom::cli
