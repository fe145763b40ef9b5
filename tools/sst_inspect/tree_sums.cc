#include "tools/sst_inspect/tree_sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rowbloom/printable.h"

namespace rowbloom::sst_inspect {

void TreeSums::AddTo(Record* record) const {
  record->Number("bytes", bytes)
      .Number("entries", entries)
      .Number("deletions", deletions)
      .Number("data_bytes", data_bytes)
      .Number("filter_bytes", filter_bytes)
      .Text("filters", FiltersText());
}

std::string TreeSums::FiltersText() const {
  return fmt::format("{}", fmt::join(filters, ", "));
}

std::string TreeSums::FiltersCell() const {
  return filters.size() <= 2 ? FiltersText()
                             : fmt::format("{} different", filters.size());
}

std::string TreeSums::FilesCell() const {
  return Grouped(files) +
         (unread_files == 0
              ? ""
              : fmt::format(" ({} NOT READ)", Grouped(unread_files)));
}

TreeSums SumsOf(const TreeFile& file, const TableFacts* facts) {
  TreeSums sums{.files = 1, .bytes = file.size_bytes};
  if (facts == nullptr) {
    sums.unread_files = 1;
    return sums;
  }
  sums.entries = facts->entries.value_or(0);
  sums.deletions = facts->deletions.value_or(0);
  sums.data_bytes = facts->data_bytes.value_or(0);
  sums.filter_bytes = facts->filter_bytes.value_or(0);
  sums.filters.insert(facts->filter_form == "none"
                          ? "none"
                          : ToPrintable(facts->filter_policy));
  return sums;
}

std::string NameOrNone(const std::string& name) {
  return name.empty() ? "none" : ToPrintable(name);
}

std::vector<std::string> TreeColumns(std::vector<std::string> first,
                                     const std::vector<std::string>& last) {
  for (const char* title :
       {">bytes", ">entries", ">deletions", ">data bytes", ">filter bytes"}) {
    first.push_back(title);
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

std::vector<std::string> TreeCells(std::vector<std::string> first,
                                   const TreeSums& sums,
                                   const std::vector<std::string>& last) {
  for (const uint64_t number : {sums.bytes, sums.entries, sums.deletions,
                                sums.data_bytes, sums.filter_bytes}) {
    first.push_back(Grouped(number));
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

}  // namespace rowbloom::sst_inspect
