// Counts the rows of each SST as it is written, for Store::Stats, keeps its
// bare rows, for the front filter, and notes the times of its cells, for reads
// of a time range and for compactions. FORMAT.md has the properties.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "rocksdb/table_properties.h"
#include "rowbloom/key_layout.h"
#include "storage/cells/cell_value.h"

namespace rowbloom {

// A factory for table_properties_collector_factories. Thread-safe.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewRowCounterFactory(
    const KeyLayout& key_layout, CellFormat format);

struct RowCounts {
  uint64_t rows = 0;  // that have a put, or a merge
  uint64_t puts = 0;  // and merges
};

// nullopt: the file lacks these properties, or they are malformed.
std::optional<RowCounts> CountsOf(const rocksdb::TableProperties& properties);

// The newest timestamp of a put or delete in a file of a `versioned` family. A
// read that sees nothing of that time or before has the same answer without the
// file. nullopt: the file has to be read, whatever the time.
std::optional<uint64_t> NewestMsOf(const rocksdb::TableProperties& properties);

// The oldest timestamp of a put in a file of a `versioned` family, but for puts
// whose own TTL is 0; the largest number without such a put. nullopt: it is not
// known.
std::optional<uint64_t> OldestPutMsOf(
    const rocksdb::TableProperties& properties);

}  // namespace rowbloom
