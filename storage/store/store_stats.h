// What Store::Stats tells, gathered from RocksDB and the filter policies.
#pragma once

#include "rocksdb/status.h"
#include "rowbloom/store_stats.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

rocksdb::Status GatherStats(const OpenedStore& opened, StoreStats* stats);

}  // namespace rowbloom
