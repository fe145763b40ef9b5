#include "storage/store/family_options.h"

#include <algorithm>
#include <optional>

#include "lib/bytes/text.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "storage/format/status_text.h"
#include "storage/store/row_counter.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

constexpr uint32_t kMinBlockBytes = uint32_t{1} << 10;
constexpr uint32_t kMaxBlockBytes = uint32_t{16} << 20;
constexpr uint32_t kMaxDictionaryBytes = uint32_t{1} << 20;
// RocksDB recommends this ratio.
constexpr uint32_t kTrainingBytesOfDictionaryByte = 100;

rocksdb::CompressionType RocksdbType(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return rocksdb::kNoCompression;
    case Compression::kLz4:
      return rocksdb::kLZ4Compression;
    case Compression::kZstd:
      return rocksdb::kZSTD;
  }
  return rocksdb::kDisableCompressionOption;
}

// Returns the name for rocksdb::DB::SetOptions.
std::string TypeName(std::optional<Compression> compression) {
  std::string name;
  rocksdb::GetStringFromCompressionType(
      &name, compression ? RocksdbType(*compression)
                         : rocksdb::kDisableCompressionOption)
      .PermitUncheckedError();
  return name;
}

Status CheckCompression(const char* option, Compression compression) {
  const rocksdb::CompressionType type = RocksdbType(compression);
  if (type == rocksdb::kDisableCompressionOption) {
    return InvalidArgument(option, " is none of NONE, LZ4 and ZSTD");
  }
  const auto supported = rocksdb::GetSupportedCompressions();
  if (std::find(supported.begin(), supported.end(), type) != supported.end()) {
    return Status::OK();
  }
  return InvalidArgument(option, ": this RocksDB was built without ",
                         TypeName(compression));
}

Status CheckOptions(const FamilyOptions& family) {
  Status s = CheckRanges(
      {{"block_size_bytes", family.block_size_bytes, kMinBlockBytes,
        kMaxBlockBytes},
       {"dictionary_bytes", family.dictionary_bytes, 0, kMaxDictionaryBytes},
       {"min_blob_bytes", family.min_blob_bytes, 0, kMaxValueBytes},
       {"ttl_ms", family.ttl_ms, 0, kMaxTimestampMs}});
  if (!s.ok()) return s;
  if (!FilterKindFromString(ToString(family.filter_kind))) {
    return Status::InvalidArgument("filter_kind is neither bloom nor ribbon");
  }
  s = CheckCompression("compression", family.compression);
  if (s.ok() && family.bottom_compression) {
    s = CheckCompression("bottom_compression", *family.bottom_compression);
  }
  if (!s.ok()) return s;
  if (family.dictionary_bytes > 0 && family.compression != Compression::kZstd &&
      family.bottom_compression != Compression::kZstd) {
    return InvalidArgument("dictionary_bytes is ", family.dictionary_bytes,
                           ", expected 0 where neither compression nor "
                           "bottom_compression is ZSTD");
  }
  if (family.timestamps != Timestamps::kStore &&
      family.timestamps != Timestamps::kClient) {
    return Status::InvalidArgument("timestamps is neither store nor client");
  }
  if (family.max_versions == 0) {
    return Status::InvalidArgument("max_versions is 0, expected at least 1");
  }
  if (family.min_versions > family.max_versions) {
    return InvalidArgument("min_versions is ", family.min_versions,
                           ", expected at most max_versions, which is ",
                           family.max_versions);
  }
  return Status::OK();
}

}  // namespace

CellFormat CellFormatOf(const FamilyOptions& options) {
  return options.KeepsLatest() ? CellFormat::kLatest : CellFormat::kVersioned;
}

Status CheckRanges(std::initializer_list<OptionRange> ranges) {
  for (const auto& [option, value, min, max] : ranges) {
    if (value >= min && value <= max) continue;
    const std::string from = min == 0 ? "at most " : Concat(min, " to ");
    return InvalidArgument(option, " is ", value, ", expected ", from, max);
  }
  return Status::OK();
}

Status MakeFamilySetup(const std::string& name, const FamilyOptions& family,
                       const StoreOptions& store,
                       const std::shared_ptr<SharedState>& shared,
                       FamilySetup* setup) {
  FilterPolicyOptions filter;
  filter.bloom_type = family.bloom_type;
  filter.key_layout = *store.key_layout;
  filter.kind = family.filter_kind;
  filter.false_positive_rate = family.false_positive_rate;
  filter.row_prefix_length = family.row_prefix_length;
  Status s = CheckOptions(family);
  if (s.ok()) s = NewFilterPolicy(filter, &setup->filter_policy);
  if (!s.ok()) return Prefixed(QuotedFamily(name) + ": ", s);

  const CellFormat format = CellFormatOf(family);
  Family& of_store = setup->family;
  of_store = {family, format};
  of_store.filter_policy =
      std::make_shared<AlterableFilterPolicy>(setup->filter_policy);
  of_store.shared_rules =
      std::make_shared<SharedRules>(of_store.rules(), store.write_buffer_bytes);

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = store.block_cache;
  table.block_size = family.block_size_bytes;
  // Filters and indexes stay in memory with the open files. In the cache, a
  // filter block larger than a shard would be read again for every get. In
  // partitions, a get of an absent row would take twice as long. The cache
  // makes room for them, as far as it has any.
  table.cache_index_and_filter_blocks = false;
  table.cache_usage_options.options_overrides.insert(
      {rocksdb::CacheEntryRole::kBlockBasedTableReader,
       {.charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled}});
  table.filter_policy = of_store.filter_policy;
  table.format_version = kTableFormatVersion;

  setup->descriptor.name = name;
  rocksdb::ColumnFamilyOptions& options = setup->descriptor.options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = NewRowPrefixExtractor(*store.key_layout);
  if (format == CellFormat::kVersioned) {
    options.merge_operator = NewVersionMergeOperator(of_store.shared_rules);
  }
  options.compaction_filter_factory =
      NewReclaim({format, of_store.shared_rules, *store.key_layout, shared});
  options.table_properties_collector_factories.push_back(
      NewRowCounterFactory(*store.key_layout, format));
  options.target_file_size_base = store.file_bytes;
  options.write_buffer_size = store.write_buffer_bytes;
  // This is RocksDB's default, but not for families that are created later.
  if (store.transactions) options.max_write_buffer_size_to_maintain = -1;
  options.disable_auto_compactions = !store.auto_compaction;
  return rocksdb::GetColumnFamilyOptionsFromMap(
      rocksdb::ConfigOptions(), rocksdb::ColumnFamilyOptions(options),
      AlterableOptions(family), &options);
}

std::unordered_map<std::string, std::string> AlterableOptions(
    const FamilyOptions& family) {
  const auto dictionary = [&family](std::optional<Compression> compression) {
    const uint32_t bytes =
        compression == Compression::kZstd ? family.dictionary_bytes : 0;
    const uint32_t training_bytes = bytes * kTrainingBytesOfDictionaryByte;
    return Concat("{max_dict_bytes=", bytes,
                  ";zstd_max_train_bytes=", training_bytes,
                  ";max_dict_buffer_bytes=", training_bytes,
                  ";enabled=", compression.has_value() ? "true" : "false", "}");
  };
  const std::optional<Compression>& bottom = family.bottom_compression;
  // Old files are compacted after RocksDB's own period to remove expired cells.
  constexpr uint64_t kThirtyDays = uint64_t{30} * 24 * 60 * 60;
  const bool expires = !family.KeepsLatest() || family.ttl_ms > 0;
  return {
      {"compression", TypeName(family.compression)},
      {"compression_opts", dictionary(family.compression)},
      {"bottommost_compression", TypeName(bottom)},
      {"bottommost_compression_opts", dictionary(bottom)},
      {"enable_blob_files", family.min_blob_bytes > 0 ? "true" : "false"},
      {"min_blob_size", std::to_string(family.min_blob_bytes)},
      {"blob_compression_type", TypeName(bottom.value_or(family.compression))},
      {"enable_blob_garbage_collection", "true"},
      {"periodic_compaction_seconds",
       std::to_string(expires ? kThirtyDays : 0)}};
}

}  // namespace rowbloom
