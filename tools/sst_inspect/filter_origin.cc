#include "tools/sst_inspect/filter_origin.h"

#include <fmt/format.h>

#include "rowbloom/filter_block.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr std::string_view kBuiltinName = "rocksdb.BuiltinBloomFilter";
constexpr size_t kMetadataBytes = 5;

// REQUIRES more than kMetadataBytes bytes.
int MarkerOf(std::string_view contents) {
  return static_cast<signed char>(contents[contents.size() - kMetadataBytes]);
}

}  // namespace

FilterOrigin OriginOf(std::string_view compatibility_name,
                      std::string_view contents) {
  if (FilterBlock::IsFilterBlock(contents)) return FilterOrigin::kRowbloom;
  if (compatibility_name != kBuiltinName) return FilterOrigin::kUnknown;
  if (contents.size() <= kMetadataBytes) return FilterOrigin::kEmpty;
  const int marker = MarkerOf(contents);
  if (marker >= 1) return FilterOrigin::kLegacyBloom;
  if (marker == -1) return FilterOrigin::kBloom;
  if (marker == -2) return FilterOrigin::kRibbon;
  return FilterOrigin::kUnknown;
}

std::string Describe(FilterOrigin origin, std::string_view compatibility_name,
                     std::string_view contents) {
  switch (origin) {
    case FilterOrigin::kRowbloom:
      return "rowbloom's";
    case FilterOrigin::kBloom:
      return "not rowbloom's: RocksDB Bloom (marker -1)";
    case FilterOrigin::kRibbon:
      return "not rowbloom's: RocksDB Ribbon (marker -2)";
    case FilterOrigin::kLegacyBloom:
      return fmt::format(
          "not rowbloom's: RocksDB legacy Bloom (marker {}, its probes)",
          MarkerOf(contents));
    case FilterOrigin::kEmpty:
      return fmt::format("not rowbloom's: an empty filter of {} bytes",
                         contents.size());
    case FilterOrigin::kUnknown:
      break;
  }
  if (compatibility_name == kBuiltinName) {
    return fmt::format("not rowbloom's: unknown (marker {})",
                       MarkerOf(contents));
  }
  return fmt::format("not rowbloom's: of policy {}",
                     ToPrintable(compatibility_name));
}

}  // namespace rowbloom::sst_inspect
