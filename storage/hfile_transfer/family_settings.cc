#include "storage/hfile_transfer/family_settings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "lib/bytes/text.h"
#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

// HBase's names of settings, as its shell shows them.
constexpr char kVersions[] = "VERSIONS";
constexpr char kMinVersions[] = "MIN_VERSIONS";
constexpr char kTtl[] = "TTL";
constexpr char kKeepDeleted[] = "KEEP_DELETED_CELLS";
constexpr char kBlockSize[] = "BLOCKSIZE";
constexpr char kBloom[] = "BLOOMFILTER";
constexpr char kPrefixLength[] = "RowPrefixBloomFilter.prefix_length";
constexpr char kCompression[] = "COMPRESSION";

// Seconds of TTL that mean for ever.
constexpr uint32_t kForever = std::numeric_limits<int32_t>::max();
// The limits of a store.
constexpr uint32_t kMinBlockBytes = 1 << 10;
constexpr uint32_t kMaxBlockBytes = 16 << 20;

// Empty: not set.
std::string_view Find(const FamilySchema& schema, const char* name) {
  for (const Settings* settings : {&schema.settings, schema.of_table.get()}) {
    if (settings == nullptr) continue;
    const auto found = settings->find(name);
    if (found != settings->end()) return found->second;
  }
  return {};
}

bool IsOff(std::string_view value) {
  return value.empty() || EqualInAnyCase(value, "false");
}

// Leaves *number as it is when the setting is not there.
Status FindNumber(const FamilySchema& schema, const char* name,
                  uint32_t* number) {
  const std::string_view text = Find(schema, name);
  if (text.empty() || ParseNumber(text, number)) return Status::OK();
  return InvalidArgument(name, " \"", ToPrintable(text),
                         "\", expected a number");
}

// HBase writes these for each family, from the time of its creation on, and
// what a family shows depends on them. One that is missing has been damaged:
// its default would hide cells, or show others.
Status CheckComplete(const FamilySchema& schema) {
  for (const char* name : {kVersions, kMinVersions, kTtl, kKeepDeleted}) {
    if (!Find(schema, name).empty()) continue;
    return Corruption("no ", name, ", which HBase writes for each family");
  }
  return Status::OK();
}

Status CheckShown(const FamilySchema& schema) {
  for (const char* name : {kKeepDeleted, "NEW_VERSION_BEHAVIOR"}) {
    const std::string_view value = Find(schema, name);
    if (IsOff(value)) continue;
    return NotSupported(name, " ", ToPrintable(value),
                        ", which a store does not have: it shows as FALSE "
                        "does");
  }
  return Status::OK();
}

Status SetBloom(const FamilySchema& schema, FamilyOptions* options) {
  const std::string_view value = Find(schema, kBloom);
  std::string_view bloom = value;
  // The main branch of HBase has Ribbon filters, too.
  constexpr std::string_view kRibbon = "RIBBON_";
  if (bloom.starts_with("RIBBON_ROW")) {
    bloom.remove_prefix(kRibbon.size());
    options->filter_kind = FilterKind::kRibbon;
  }
  if (bloom == "NONE") {
    options->bloom_type = BloomType::kNone;
  } else if (bloom.empty() || bloom == "ROW") {
    options->bloom_type = BloomType::kRow;  // HBase's default
  } else if (bloom == "ROWCOL") {
    options->bloom_type = BloomType::kRowCol;
  } else if (bloom == "ROWPREFIX_FIXED_LENGTH") {
    options->bloom_type = BloomType::kRowPrefixFixedLength;
    Status s = FindNumber(schema, kPrefixLength, &options->row_prefix_length);
    if (!s.ok() || (options->row_prefix_length >= 1 &&
                    options->row_prefix_length <= kMaxRowBytes)) {
      return s;
    }
    return InvalidArgument(kPrefixLength, " ", options->row_prefix_length,
                           ", expected 1 to ", kMaxRowBytes);
  } else {
    return InvalidArgument(kBloom, " \"", ToPrintable(value),
                           "\", expected NONE, ROW, ROWCOL or "
                           "ROWPREFIX_FIXED_LENGTH");
  }
  return Status::OK();
}

Status SetVersions(const FamilySchema& schema, FamilyOptions* options) {
  Status s = FindNumber(schema, kVersions, &options->max_versions);
  if (s.ok()) s = FindNumber(schema, kMinVersions, &options->min_versions);
  if (!s.ok()) return s;
  if (options->max_versions == 0) {
    return InvalidArgument(kVersions, " 0, expected at least 1");
  }
  if (options->min_versions > options->max_versions) {
    return InvalidArgument(kMinVersions, " ", options->min_versions,
                           ", expected at most ", kVersions, ", which is ",
                           options->max_versions);
  }
  return s;
}

Status SetTtl(const FamilySchema& schema, FamilyOptions* options) {
  constexpr uint64_t kMsPerSecond = 1000;
  if (Find(schema, kTtl) == "FOREVER") return Status::OK();
  uint32_t seconds = kForever;
  Status s = FindNumber(schema, kTtl, &seconds);
  if (s.ok() && seconds == 0) {
    return InvalidArgument(kTtl, " 0, expected at least a second");
  }
  if (seconds != kForever) options->ttl_ms = seconds * kMsPerSecond;
  return s;
}

}  // namespace

Status ToFamilyOptions(const FamilySchema& schema, FamilyOptions* options) {
  *options = {};
  options->timestamps = Timestamps::kClient;
  Status s = CheckComplete(schema);
  if (s.ok()) s = CheckShown(schema);
  if (s.ok()) s = SetVersions(schema, options);
  if (s.ok()) s = SetTtl(schema, options);
  if (s.ok()) s = SetBloom(schema, options);
  uint32_t block_bytes = 64 << 10;  // HBase's default
  if (s.ok()) s = FindNumber(schema, kBlockSize, &block_bytes);
  options->block_size_bytes =
      std::clamp(block_bytes, kMinBlockBytes, kMaxBlockBytes);
  const std::string_view compression = Find(schema, kCompression);
  options->compression = compression.empty() || compression == "NONE"
                             ? Compression::kNone
                             : Compression::kLz4;
  return s;
}

}  // namespace rowbloom::hfile_transfer
