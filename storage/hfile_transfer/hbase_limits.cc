#include "storage/hfile_transfer/hbase_limits.h"

#include <string>

#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/format/key_text.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

// The bytes of a key in an HFile beside its names: two lengths, timestamp and
// type.
constexpr size_t kKeyFixedBytes = 12;

// An HFile takes each row and each cell of a store.
static_assert(kMaxRowBytes <= kHFileMaxRowBytes &&
              kKeyFixedBytes + kMaxRowBytes + kHFileMaxFamilyBytes +
                      kMaxQualifierBytes + kMaxValueBytes <=
                  kHFileMaxCellBytes);

bool HasForbiddenCharacter(std::string_view family) {
  for (const char character : family) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f || character == ':' || character == '/' ||
        character == '\\') {
      return true;
    }
  }
  return false;
}

}  // namespace

Status CheckFamilyName(std::string_view family) {
  const auto refuse = [family](const std::string& why) {
    return Status::InvalidArgument("family \"" + ToPrintable(family) +
                                   "\": HBase has no family " + why);
  };
  if (family.empty()) return refuse("without a name");
  if (family.size() > kHFileMaxFamilyBytes) {
    return refuse("whose name has more than " +
                  std::to_string(kHFileMaxFamilyBytes) + " bytes, found " +
                  std::to_string(family.size()));
  }
  if (family.front() == '.') return refuse("whose name starts with '.'");
  if (HasForbiddenCharacter(family)) {
    return refuse("with ':', '/', '\\' or control characters in its name");
  }
  if (family == "recovered.edits")
    return refuse("of this name, a reserved one");
  return Status::OK();
}

Status CheckCell(const HFileCellView& cell) {
  if (cell.timestamp_ms != kHFileLatestTimestamp) return Status::OK();
  return Status::InvalidArgument(DescribeCell(cell) + ": timestamp " +
                                 std::to_string(cell.timestamp_ms) +
                                 ", which HBase takes for none");
}

std::string DescribeCell(const HFileCellView& cell) {
  return "row \"" + ToPrintable(cell.row) + "\", cell " +
         ToPrintable(cell.family) + ":" + KeyText(cell.qualifier);
}

}  // namespace rowbloom::hfile_transfer
