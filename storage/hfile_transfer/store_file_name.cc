#include "storage/hfile_transfer/store_file_name.h"

#include <charconv>

#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

constexpr std::string_view kSequenceId = "_SeqId_";

bool IsFile(std::string_view name) {
  return IsHex(name.substr(0, name.find(kSequenceId)));
}

// Splits "namespace=table=region-file" into the first four members of `target`.
bool ParseLink(std::string_view name, StoreFileTarget* target) {
  const size_t equals = name.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const std::string_view of_table = name.substr(equals + 1);
  const size_t dash = of_table.find('-');
  if (dash == std::string_view::npos || !IsHex(of_table.substr(0, dash)) ||
      !IsFile(of_table.substr(dash + 1))) {
    return false;
  }
  const std::string_view table = name.substr(0, equals);
  const size_t split = table.find('=');
  if (table.starts_with('.') || table.substr(split + 1).starts_with('.')) {
    return false;  // no name of HBase's, but perhaps of a directory above
  }
  target->table = table.substr(split + 1);  // all of it without a namespace
  target->name_space =
      split == std::string_view::npos ? "default" : table.substr(0, split);
  target->region = of_table.substr(0, dash);
  target->file = of_table.substr(dash + 1);
  return true;
}

}  // namespace

bool IsHex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status SequenceIdInName(std::string_view name,
                        std::optional<int64_t>* sequence_id) {
  sequence_id->reset();
  const size_t at = name.rfind(kSequenceId);
  if (at == std::string_view::npos) return Status::OK();
  const std::string_view rest = name.substr(at + kSequenceId.size());
  const std::string_view digits = rest.substr(0, rest.find('_'));
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      digits.size() == rest.size() || number < 0) {
    return InvalidArgument("name with \"", ToPrintable(rest), "\" after \"",
                           kSequenceId,
                           "\", expected the number of a bulk load and \"_\"");
  }
  *sequence_id = number;
  return Status::OK();
}

std::optional<StoreFileTarget> TargetInName(std::string_view name) {
  StoreFileTarget target;
  // Tables have dots, regions have none.
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && IsHex(name.substr(dot + 1))) {
    const std::string_view file = name.substr(0, dot);
    target.parent = name.substr(dot + 1);
    if (ParseLink(file, &target)) return target;
    if (IsFile(file)) {
      target.region = target.parent;
      target.file = file;
      return target;
    }
    target.parent.clear();
  }
  if (ParseLink(name, &target)) return target;
  return std::nullopt;
}

std::string Describe(const StoreFileTarget& target) {
  std::string text = Concat("file ", target.file, " of region ", target.region);
  if (target.table.empty()) return text;
  return Concat(text, " of table ", ToPrintable(target.name_space), ":",
                ToPrintable(target.table));
}

}  // namespace rowbloom::hfile_transfer
