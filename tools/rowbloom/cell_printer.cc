#include "tools/rowbloom/cell_printer.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "rowbloom/printable.h"

namespace rowbloom::cli {
namespace {

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

void CellPrinter::Print(std::string_view row, const Cell& cell) {
  if (format_.json) {
    nlohmann::ordered_json object = {{"row", Text(row)},
                                     {"family", cell.family},
                                     {"qualifier", Text(cell.qualifier)},
                                     {"timestamp", cell.timestamp_ms}};
    if (!format_.keys_only) object["value"] = Text(cell.value);
    out_ << object.dump() << '\n';
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
