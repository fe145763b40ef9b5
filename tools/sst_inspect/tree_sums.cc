#include "tools/sst_inspect/tree_sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rowbloom/printable.h"

namespace rowbloom::sst_inspect {

TreeSums& TreeSums::operator+=(const TreeSums& more) {
  files += more.files;
  unread_files += more.unread_files;
  bytes += more.bytes;
  entries += more.entries;
  deletions += more.deletions;
  data_bytes += more.data_bytes;
  filter_bytes += more.filter_bytes;
  filters.insert(more.filters.begin(), more.filters.end());
  return *this;
}

void TreeSums::AddRead(const TableFacts& facts) {
  --unread_files;
  entries += facts.entries.value_or(0);
  deletions += facts.deletions.value_or(0);
  data_bytes += facts.data_bytes.value_or(0);
  filter_bytes += facts.filter_bytes.value_or(0);
  filters.insert(
      facts.filter_form == "none" ? "none" : ToPrintable(facts.filter_policy));
}

void TreeSums::AddTo(Record* record) const {
  constexpr size_t kMostNames = 2;
  const std::string names = fmt::format("{}", fmt::join(filters, ", "));
  record->Count("bytes", bytes)
      .Count("entries", entries)
      .Count("deletions", deletions)
      .Count("data_bytes", data_bytes)
      .Count("filter_bytes", filter_bytes)
      .Text("filters", names)
      .As(filters.size() <= kMostNames
              ? names
              : fmt::format("{} different", filters.size()));
}

void TreeSums::AddWithFilesTo(Record* record) const {
  record->Count("files", files);
  if (unread_files > 0) {
    record->As(
        fmt::format("{} ({} NOT READ)", Grouped(files), Grouped(unread_files)));
  }
  record->Count("unread_files", unread_files);
  AddTo(record);
}

std::string NameOrNone(const std::string& name) {
  return name.empty() ? "none" : ToPrintable(name);
}

}  // namespace rowbloom::sst_inspect
