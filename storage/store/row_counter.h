// Counts the rows of each SST as it is written, for Store::Stats. FORMAT.md has
// the properties.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "rocksdb/table_properties.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// For ColumnFamilyOptions::table_properties_collector_factories. Thread-safe.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewRowCounterFactory(
    const KeyLayout& key_layout);

struct RowCounts {
  uint64_t rows = 0;  // that have a put, or a merge
  uint64_t puts = 0;  // and merges
};

// nullopt: the file was written without a counter, or its properties are not
// what one writes.
std::optional<RowCounts> CountsOf(const rocksdb::TableProperties& properties);

}  // namespace rowbloom
