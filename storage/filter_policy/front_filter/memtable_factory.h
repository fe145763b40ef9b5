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

// Tells whether the factory's memtables add their rows to this core: it is such
// a one, or is around one that its Inner() shows.
bool AddsRowsTo(const rocksdb::MemTableRepFactory& factory, const Core& core);

}  // namespace rowbloom::front_filter
