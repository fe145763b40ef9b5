// Faults made on purpose, for the tests that the driver notices them.
#pragma once

#include <memory>

#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"

namespace rowbloom::stress {

// A broken policy: it answers "no" for one key in fifty, whether the file has
// it or not. `policy` does what is left to do.
std::shared_ptr<const rocksdb::FilterPolicy> NewForgetfulPolicy(
    std::shared_ptr<const rocksdb::FilterPolicy> policy);

// Memtables that a front filter knows but is not told the rows of, as a bug
// would have them. `prepared` is the factory that FrontFilter::Prepare has set.
std::shared_ptr<rocksdb::MemTableRepFactory> NewForgetfulMemtables(
    std::shared_ptr<rocksdb::MemTableRepFactory> prepared);

}  // namespace rowbloom::stress
