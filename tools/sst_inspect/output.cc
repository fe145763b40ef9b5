#include "tools/sst_inspect/output.h"

#include <ostream>

#include "rowbloom/printable.h"

namespace rowbloom::sst_inspect {

void PrintRemark(const Output& output, std::string_view path,
                 std::string_view kind, std::string_view sentence) {
  const std::string text = WithoutControls(sentence);
  if (output.json) {
    Record(kind, ToPrintable(path)).Text(kind, text).Print(output.out);
  } else {
    output.out << "  " << kind << ": " << text << "\n";
  }
}

std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace rowbloom::sst_inspect
