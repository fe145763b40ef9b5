// Collects properties of each SST while it is written: counts of its rows, for
// Store::Stats; its bare rows, for the front filter; and the times of its
// cells, for reads of a time range and for compactions. FORMAT.md has them.
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

// The names of numeric properties. They are on disk: never rename them.
inline constexpr char kRowsProperty[] = "rowbloom.rows";  // with a put or merge
inline constexpr char kPutsProperty[] = "rowbloom.puts";  // and merges
// The newest timestamp of a put or delete in a file of a `versioned` family. A
// read that needs only later times can skip the file. A file without the
// property has to be read, whatever the time.
inline constexpr char kNewestProperty[] = "rowbloom.newest";
// The oldest timestamp of a put in a file of a `versioned` family, except for
// puts whose own TTL is 0; the largest number if there is none.
inline constexpr char kOldestPutProperty[] = "rowbloom.oldest_put";

// nullopt: the file lacks the property, or it is malformed.
std::optional<uint64_t> NumberOf(const rocksdb::TableProperties& properties,
                                 const char* property);

}  // namespace rowbloom
