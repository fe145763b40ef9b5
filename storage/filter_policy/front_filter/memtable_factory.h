// The memtables that tell their rows.
#pragma once

#include <memory>

#include "rocksdb/memtablerep.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/family_rules.h"

namespace rowbloom::front_filter {

// A factory around RocksDB's skip list whose memtables add their rows to a
// filter of the core before a write is published. It has the inner one's name
// and id: OPTIONS files are as without it.
std::shared_ptr<rocksdb::MemTableRepFactory> NewMemtableFactory(
    std::shared_ptr<rocksdb::MemTableRepFactory> inner,
    std::shared_ptr<Core> core, FamilyRules rules);

// The inner factory of such a one, whosever core it has; else `factory`.
std::shared_ptr<rocksdb::MemTableRepFactory> InnerFactory(
    std::shared_ptr<rocksdb::MemTableRepFactory> factory);

}  // namespace rowbloom::front_filter
