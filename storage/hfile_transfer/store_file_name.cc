#include "storage/hfile_transfer/store_file_name.h"

#include <charconv>

#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

constexpr std::string_view kSequenceId = "_SeqId_";
constexpr char kCure[] =
    "; in HBase, run major_compact on its table, which writes whole files, and "
    "copy them when the regions that were split are gone";

bool IsHex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsFile(std::string_view name) {
  return IsHex(name.substr(0, name.find(kSequenceId)));
}

bool IsLink(std::string_view name) {
  const size_t equals = name.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const std::string_view of_table = name.substr(equals + 1);
  const size_t dash = of_table.find('-');
  return dash != std::string_view::npos && IsHex(of_table.substr(0, dash)) &&
         IsFile(of_table.substr(dash + 1));
}

}  // namespace

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

std::string DescribeReference(std::string_view name) {
  // Tables have dots, regions have none.
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && IsHex(name.substr(dot + 1))) {
    const std::string_view file = name.substr(0, dot);
    if (IsFile(file) || IsLink(file)) {
      return "a reference, left by a split, to a half of file " +
             ToPrintable(file) + " of region " +
             std::string(name.substr(dot + 1)) + ", not followed" + kCure;
    }
  }
  if (!IsLink(name)) return "";
  const size_t equals = name.rfind('=');
  const std::string_view target = name.substr(equals + 1);
  const size_t dash = target.find('-');
  return "a link to file " + ToPrintable(target.substr(dash + 1)) +
         " of region " + std::string(target.substr(0, dash)) + " of table " +
         ToPrintable(name.substr(0, equals)) + ", not followed" + kCure;
}

}  // namespace rowbloom::hfile_transfer
