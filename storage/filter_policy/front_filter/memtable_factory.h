// Memtables that add their rows to a filter.
#pragma once

#include <memory>

#include "rocksdb/memtablerep.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/family_rules.h"

namespace rowbloom::front_filter {

// Returns a factory that wraps RocksDB's skip list. Its memtables add their
// rows to a filter of the core before a write is published. It has the name and
// id of the inner one, so that OPTIONS files do not change.
std::shared_ptr<rocksdb::MemTableRepFactory> NewMemtableFactory(
    std::shared_ptr<rocksdb::MemTableRepFactory> inner,
    std::shared_ptr<Core> core, FamilyRules rules);

// Returns the inner factory if NewMemtableFactory made `factory`, for any core;
// else `factory`.
std::shared_ptr<rocksdb::MemTableRepFactory> InnerFactory(
    std::shared_ptr<rocksdb::MemTableRepFactory> factory);

// Tells whether the factory's memtables add their rows to this core:
// NewMemtableFactory made it, or its Inner() returns such a one.
bool AddsRowsTo(const rocksdb::MemTableRepFactory& factory, const Core& core);

}  // namespace rowbloom::front_filter
