#include "storage/filter_policy/front_filter/family_rules.h"

#include <utility>

#include "rocksdb/comparator.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/table.h"
#include "storage/filter_policy/ids.h"

namespace rowbloom::front_filter {
namespace {

RowOrder OrderOf(const rocksdb::Comparator* comparator) {
  if (comparator == rocksdb::BytewiseComparator()) return RowOrder::kBytewise;
  return comparator == rocksdb::ReverseBytewiseComparator()
             ? RowOrder::kReverseBytewise
             : RowOrder::kUnknown;
}

}  // namespace

size_t FamilyRules::CustomRowBytes(std::string_view key) const {
  try {
    return layout.RowBytes(key);
  } catch (...) {
    return KeyLayout::kNoRow;
  }
}

Result<FamilyRules> RulesOf(const rocksdb::ColumnFamilyOptions& options) {
  const auto* table = options.table_factory == nullptr
                          ? nullptr
                          : options.table_factory
                                ->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) {
    return Error{"the family has no filter policy"};
  }
  // The name has all parameters, whichever copy of rowbloom made the policy.
  auto policy = ParsePolicyId(table->filter_policy->Name());
  if (!policy) return Error{policy.error()};
  const rocksdb::Comparator* comparator = options.comparator;
  if (comparator->timestamp_size() > 0) {
    return Error{"the family has user-defined timestamps"};
  }
  if (comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return Error{"comparator " + std::string(comparator->Name()) +
                 " may take different bytes for one key"};
  }
  const std::string_view memtables = options.memtable_factory->Name();
  if (memtables != rocksdb::SkipListFactory::kClassName()) {
    return Error{"memtables are of " + std::string(memtables) + ", expected " +
                 rocksdb::SkipListFactory::kClassName()};
  }
  FamilyRules rules{.layout = *std::move(policy->key_layout),
                    .comparator = comparator,
                    .order = OrderOf(comparator)};
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
  rules.compression_manager = options.compression_manager;
#endif
  return rules;
}

// The keys of a row start with the row: they are adjacent, and the row itself
// is the first of them.
bool MayLieBetween(std::string_view low, std::string_view high,
                   std::string_view row) {
  return high >= row && (low <= row || low.starts_with(row));
}

}  // namespace rowbloom::front_filter
