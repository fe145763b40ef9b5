// The ids of policies and extractors in OPTIONS files and table properties,
// with all parameters, and the factories that make objects of them. The form of
// an id must not change: old files have it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/utilities/object_registry.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom {

// rowbloom.filter:TYPE:KIND:RATE:ROW_PREFIX_LENGTH:ALLOCATION:LAYOUT
//
// KIND is the kind's name. For a ribbon, `/BLOOM_BEFORE_LEVEL` follows unless
// it is -1. ALLOCATION is `uniform`, or
// `optimal/LEVELS/SIZE_RATIO/LEVEL0_FILES/WHERE` with WHERE `last`
// (dynamic_level_bytes) or `first`; with a row_spread
// `/adaptive/ROW_SPREAD` follows.
inline constexpr std::string_view kPolicyIdPrefix = "rowbloom.filter:";
// rowbloom.row:LAYOUT
inline constexpr std::string_view kExtractorIdPrefix = "rowbloom.row:";

// REQUIRES a key_layout.
std::string PolicyId(const FilterPolicyOptions& options);

// Inverse of PolicyId. The options may still be out of their ranges.
Result<FilterPolicyOptions> ParsePolicyId(std::string_view id);

// These are NewFilterPolicy, NewFilterPropertiesFactory and
// NewRowPrefixExtractor with the ownership that RocksDB's object registry
// needs.
rocksdb::Status MakePolicy(
    const FilterPolicyOptions& options,
    std::unique_ptr<const rocksdb::FilterPolicy>* policy);
std::unique_ptr<rocksdb::TablePropertiesCollectorFactory>
MakeFilterPropertiesFactory();
std::unique_ptr<const rocksdb::SliceTransform> MakeRowPrefixExtractor(
    const KeyLayout& key_layout);

// The number of times so far that a custom layout had no memory to split a key
// for an extractor of this process. RocksDB treats such a key as outside of the
// domain, and adds no prefix of it to a filter.
uint64_t ExtractorFailures();

// Registers the factories of policies, extractors and properties collectors in
// `library`, and returns their number. Thread-safe, as the library is. May
// throw std::bad_alloc.
int AddFactories(rocksdb::ObjectLibrary* library);

}  // namespace rowbloom
