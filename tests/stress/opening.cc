#include "tests/stress/opening.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "tests/stress/forgetful.h"
#include "tests/stress/model.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::stress {
namespace {

using Table = rocksdb::BlockBasedTableOptions;

template <typename T>
T OneOf(const std::vector<T>& values, Random* random) {
  return values[random->Below(values.size())];
}

// The values of an enumeration that NewFilterPolicy takes: a new one is
// stressed as soon as the library has it.
template <typename Enum>
std::vector<Enum> Offered(Enum FilterPolicyOptions::*member) {
  std::vector<Enum> offered;
  for (int value = 0; value < 256; ++value) {
    FilterPolicyOptions options = {.key_layout = KeyLayout::Escaped()};
    options.*member = static_cast<Enum>(value);
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    if (NewFilterPolicy(options, &policy).ok()) {
      offered.push_back(options.*member);
    }
  }
  return offered;
}

const std::vector<FilterKind>& OfferedKinds() {
  static const auto kinds = Offered(&FilterPolicyOptions::kind);
  return kinds;
}

FilterPolicyOptions DrawFilter(const Database& database,
                               const OpeningRules& rules, Random* random) {
  FilterPolicyOptions filter;
  filter.bloom_type =
      OneOf<BloomType>({BloomType::kRow, BloomType::kRowCol, BloomType::kRowCol,
                        BloomType::kRowPrefixFixedLength, BloomType::kNone},
                       random);
  if (rules.filters_for_sure || rules.forgetful) {
    filter.bloom_type = BloomType::kRowCol;
  }
  if (filter.bloom_type == BloomType::kRowPrefixFixedLength) {
    filter.row_prefix_length = static_cast<uint32_t>(4 + random->Below(8));
  }
  // Sometimes a layout that is not the keys': it may cost speed alone.
  filter.key_layout =
      random->OneIn(6) ? OneOf(Layouts(), random) : database.keys.layout();
  if (rules.filters_for_sure) filter.key_layout = database.keys.layout();
  filter.kind = OneOf(OfferedKinds(), random);
  filter.bloom_before_level = OneOf<int>({-1, 0, 1, 3}, random);
  if (random->OneIn(2)) filter.level_allocation = LevelShape();
  if (random->OneIn(2)) {
    filter.row_spread = OneOf<double>({1, 0.3, 0.05}, random);
  }
  filter.false_positive_rate =
      OneOf<double>({0.3, 0.05, 0.02, 0.01, 0.001, 0.00001}, random);
  return filter;
}

std::shared_ptr<const rocksdb::SliceTransform> DrawExtractor(
    const FilterPolicyOptions& filter, const Database& database,
    Random* random) {
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
  switch (random->Below(8)) {
    case 0:
      return nullptr;
    case 1:  // ends inside rows, or behind them
      extractor.reset(rocksdb::NewCappedPrefixTransform(6 + random->Below(8)));
      return extractor;
    case 2:
      return NewRowPrefixExtractor(*filter.key_layout);
    default:
      if (filter.row_prefix_length > 0 && filter.key_layout->RowOffset() == 0 &&
          database.keys.layout().RowOffset() == 0) {
        extractor.reset(
            rocksdb::NewCappedPrefixTransform(filter.row_prefix_length));
        return extractor;
      }
      return NewRowPrefixExtractor(database.keys.layout());
  }
}

rocksdb::PinningTier DrawPinning(Random* random) {
  using rocksdb::PinningTier;
  return OneOf<PinningTier>(
      {PinningTier::kFallback, PinningTier::kNone,
       PinningTier::kFlushedAndSimilar, PinningTier::kAll},
      random);
}

Table DrawTable(const OpeningRules& rules, bool stock_policy, Random* random) {
  Table table;
  table.partition_filters = random->OneIn(2) && !rules.unpartitioned;
  table.whole_key_filtering = !random->OneIn(4);
  // RocksDB before 9.5 loses rows of its own filters here.
  if (stock_policy && table.partition_filters) table.whole_key_filtering = true;
  table.index_type = table.partition_filters ? Table::kTwoLevelIndexSearch
                     : random->OneIn(4)      ? Table::kBinarySearchWithFirstKey
                                             : Table::kBinarySearch;
  table.metadata_block_size = OneOf<uint64_t>({256, 1024, 4096}, random);
  table.block_size = OneOf<size_t>({256, 1024, 4096}, random);
  table.cache_index_and_filter_blocks = random->OneIn(2);
  table.cache_index_and_filter_blocks_with_high_priority = random->OneIn(2);
  table.pin_l0_filter_and_index_blocks_in_cache = random->OneIn(2);
  table.pin_top_level_index_and_filter = random->OneIn(2);
  table.metadata_cache_options = {
      .top_level_index_pinning = DrawPinning(random),
      .partition_pinning = DrawPinning(random),
      .unpartitioned_pinning = DrawPinning(random)};
  // Caches begin at nearly no bytes, so that filters are read again and again.
  const size_t cache_bytes =
      OneOf<size_t>({4 << 10, 64 << 10, 4 << 20}, random);
  table.block_cache = rocksdb::NewLRUCache(cache_bytes, 0);
  if (rules.filters_for_sure) {
    table.whole_key_filtering = true;
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = false;
    table.metadata_cache_options = {};
  } else if (!table.cache_index_and_filter_blocks && random->OneIn(4)) {
    table.block_cache = nullptr;
    table.no_block_cache = true;
    table.pin_l0_filter_and_index_blocks_in_cache = false;
  }
  std::vector<uint32_t> format_versions = {2, 3, 4, 5};
#if ROCKSDB_MAJOR >= 9
  format_versions.push_back(6);
#endif
  table.format_version = OneOf(format_versions, random);
  table.checksum =
      rules.without_checksums
          ? rocksdb::kNoChecksum
          : OneOf<rocksdb::ChecksumType>(
                {rocksdb::kCRC32c, rocksdb::kxxHash64, rocksdb::kXXH3}, random);
  table.optimize_filters_for_memory = random->OneIn(2);
  table.detect_filter_construct_corruption = random->OneIn(2);
  return table;
}

rocksdb::CompressionType DrawCompression(Random* random) {
  std::vector<rocksdb::CompressionType> usable = {rocksdb::kNoCompression};
  const auto supported = rocksdb::GetSupportedCompressions();
  for (const auto type : {rocksdb::kLZ4Compression, rocksdb::kSnappyCompression,
                          rocksdb::kZSTD}) {
    if (std::find(supported.begin(), supported.end(), type) !=
        supported.end()) {
      usable.push_back(type);
    }
  }
  return OneOf(usable, random);
}

std::shared_ptr<const rocksdb::FilterPolicy> DrawStockPolicy(Random* random) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  switch (random->Below(3)) {
    case 0:
      policy.reset(rocksdb::NewBloomFilterPolicy(10));
      break;
    case 1:
      policy.reset(rocksdb::NewRibbonFilterPolicy(
          10, static_cast<int>(random->Below(3)) - 1));
      break;
    default:
      break;  // no filter
  }
  return policy;
}

std::string Describe(const Opening& opening, const Table& table) {
  const rocksdb::Options& options = opening.options;
  std::ostringstream text;
  text << "policy="
       << (table.filter_policy == nullptr ? "none"
                                          : table.filter_policy->Name())
       << " extractor="
       << (opening.extractor == nullptr ? "none" : opening.extractor->Name())
       << " partitioned=" << table.partition_filters
       << " whole_key=" << table.whole_key_filtering
       << " index_type=" << static_cast<int>(table.index_type)
       << " cached=" << table.cache_index_and_filter_blocks << " cache_bytes="
       << (table.block_cache ? table.block_cache->GetCapacity() : 0)
       << " format_version=" << table.format_version
       << " checksum=" << static_cast<int>(table.checksum)
       << " block_size=" << table.block_size
       << " metadata_block_size=" << table.metadata_block_size
       << " pin_l0=" << table.pin_l0_filter_and_index_blocks_in_cache
       << " pin_top=" << table.pin_top_level_index_and_filter << " tiers="
       << static_cast<int>(table.metadata_cache_options.top_level_index_pinning)
       << static_cast<int>(table.metadata_cache_options.partition_pinning)
       << static_cast<int>(table.metadata_cache_options.unpartitioned_pinning)
       << " for_memory=" << table.optimize_filters_for_memory
       << " detect=" << table.detect_filter_construct_corruption
       << " for_hits=" << options.optimize_filters_for_hits
       << " compression=" << static_cast<int>(options.compression)
       << " style=" << static_cast<int>(options.compaction_style)
       << " dynamic_levels=" << options.level_compaction_dynamic_level_bytes
       << " auto_compaction=" << !options.disable_auto_compactions
       << " subcompactions=" << options.max_subcompactions
       << " max_open_files=" << options.max_open_files;
  if (const auto& front = opening.front_filter) {
    text << " front_filter rows=" << front->memory_limit_bytes
         << " cells=" << front->cell_memory_limit_bytes
         << " charged=" << (front->charged_cache != nullptr)
         << " bypass=" << front->bypass
         << " waits=" << opening.waits_until_armed;
  }
  return text.str();
}

}  // namespace

Database DrawDatabase(uint32_t rows_per_share, const Round& round) {
  constexpr uint64_t kPart = 999;
  Random random(round.SeedOf(kPart));
  return {.keys = KeySpace(OneOf(Layouts(), &random), rows_per_share),
          .compaction_style = random.OneIn(3)
                                  ? rocksdb::kCompactionStyleUniversal
                                  : rocksdb::kCompactionStyleLevel,
          .dynamic_level_bytes = random.OneIn(2),
          .front_filter = random.OneIn(2) || round.sabotage == Sabotage::kFront,
          .filters_for_front = random.OneIn(2)};
}

Opening DrawOpening(const Database& database, OpeningRules rules,
                    Random* random) {
  const bool for_front = database.front_filter && database.filters_for_front;
  if (for_front) rules.filters_for_sure = rules.unpartitioned = true;
  Opening opening;
  const FilterPolicyOptions filter = DrawFilter(database, rules, random);
  const bool stock = random->OneIn(4) && !rules.filters_for_sure;
  Table table = DrawTable(rules, stock, random);
  const auto stock_policy = DrawStockPolicy(random);
  if (stock) {
    table.filter_policy = stock_policy;
  } else {
    const rocksdb::Status status = NewFilterPolicy(filter, &opening.rowbloom);
    if (!status.ok()) throw std::logic_error(status.ToString());
    table.filter_policy = rules.forgetful ? NewForgetfulPolicy(opening.rowbloom)
                                          : opening.rowbloom;
  }
  opening.extractor = DrawExtractor(filter, database, random);

  rocksdb::Options& options = opening.options;
  options.env = rules.env;
  options.create_if_missing = true;
  options.merge_operator = NewAppendOperator();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = opening.extractor;
  options.compaction_style = database.compaction_style;
  options.level_compaction_dynamic_level_bytes = database.dynamic_level_bytes;
  options.compression = DrawCompression(random);
  options.optimize_filters_for_hits =
      random->OneIn(4) && !rules.filters_for_sure;
  options.disable_auto_compactions = random->OneIn(5);
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = OneOf<uint64_t>({4 << 10, 32 << 10}, random);
  options.max_bytes_for_level_base = 4 * options.target_file_size_base;
  options.level0_file_num_compaction_trigger =
      static_cast<int>(2 + random->Below(6));
  options.level0_slowdown_writes_trigger = 10'000;
  options.level0_stop_writes_trigger = 10'000;
  options.max_subcompactions = static_cast<uint32_t>(1 + random->Below(2));
  options.max_open_files = random->OneIn(3) ? 30 : -1;
  options.max_file_opening_threads = 2;  // starting 16 takes longer

  const bool builds = opening.rowbloom != nullptr &&
                      filter.bloom_type != BloomType::kNone &&
                      !options.optimize_filters_for_hits &&
                      // doc/filter_policy.md lists where rowbloom builds none.
                      (table.whole_key_filtering || !table.partition_filters);
  const std::string cell = database.keys.Row(0, 0) + "a";
  opening.gets_ask =
      builds &&
      (table.whole_key_filtering ||
       (opening.extractor != nullptr && opening.extractor->InDomain(cell)));
  opening.gets_skip = builds && table.whole_key_filtering &&
                      filter.key_layout == database.keys.layout() &&
                      filter.bloom_type != BloomType::kRowPrefixFixedLength &&
                      filter.false_positive_rate < 0.1;
  if (database.front_filter) {
    opening.front_filter = FrontFilterOptions{
        .memory_limit_bytes =
            random->OneIn(4) && !for_front ? 2'000 : UINT64_MAX,
        .cell_memory_limit_bytes =
            OneOf<uint64_t>({0, 2'000, UINT64_MAX}, random),
        .charged_cache = random->OneIn(2) ? table.block_cache : nullptr,
        .bypass = random->OneIn(2)};
    opening.waits_until_armed = random->OneIn(2);
  }
  opening.description = "keys=" + database.keys.layout().ToString() + " " +
                        Describe(opening, table);
  return opening;
}

}  // namespace rowbloom::stress
