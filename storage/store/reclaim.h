// Compaction filters that give back the space of what no read can see any more:
// versions that expired, and, in families of the format `versioned`, what a
// delete of the row or of its family took. What a put or another delete
// replaced, merging or RocksDB itself removes.
#pragma once

#include <memory>

#include "rocksdb/compaction_filter.h"
#include "rowbloom/key_layout.h"
#include "storage/store/cell_value.h"
#include "storage/store/shared_rules.h"
#include "storage/store/shared_state.h"

namespace rowbloom {

std::shared_ptr<rocksdb::CompactionFilterFactory> NewReclaim(
    CellFormat format, std::shared_ptr<const SharedRules> rules,
    const KeyLayout& key_layout, std::shared_ptr<SharedState> shared);

}  // namespace rowbloom
