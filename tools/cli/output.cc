#include "tools/cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "tools/cli/text.h"

namespace rowbloom::cli {

void Output::Print(const Record& record) const {
  if (json) return record.Print(out);
  const auto lines = record.Lines();
  size_t width = 0;
  for (const auto& [name, text] : lines) width = std::max(width, name.size());
  for (const auto& [name, text] : lines) {
    out << fmt::format("{:{}}{:<{}}  {}\n", "", indent, name, width, text);
  }
}

void Output::PrintSum(const Record& record) const {
  if (json) return record.Print(out);
  std::string sum;
  for (const auto& [name, text] : record.Lines()) {
    sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", text, name);
  }
  Line(sum);
}

void Output::Line(std::string_view text) const {
  if (!json) out << WithoutControls(text) << "\n";
}

void Listing::Add(const Record& record) {
  if (output_.json) {
    output_.Print(record);
  } else {
    AddRow(record);
  }
}

void Listing::AddRow(const Record& record) {
  constexpr size_t kMostKeptBytes = size_t{64} << 10;
  if (output_.json) return;
  table_.Add(record);
  if (prints_ == Prints::kAllTheWhile &&
      table_.text_bytes() >= kMostKeptBytes) {
    Print();
  }
}

void Listing::Print() { table_.Print(output_.out, output_.indent); }

}  // namespace rowbloom::cli
