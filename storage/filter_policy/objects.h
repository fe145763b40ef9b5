// The makers behind the public functions, with the ownership that RocksDB's
// object registry wants.
#pragma once

#include <memory>

#include "rowbloom/filter_policy.h"

namespace rowbloom {

// As NewFilterPolicy.
rocksdb::Status MakePolicy(
    const FilterPolicyOptions& options,
    std::unique_ptr<const rocksdb::FilterPolicy>* policy);

// As NewFilterPropertiesFactory.
std::unique_ptr<rocksdb::TablePropertiesCollectorFactory>
MakeFilterPropertiesFactory();

// As NewRowPrefixExtractor.
std::unique_ptr<const rocksdb::SliceTransform> MakeRowPrefixExtractor(
    const KeyLayout& key_layout);

}  // namespace rowbloom
