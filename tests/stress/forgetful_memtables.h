// Memtables that a front filter knows but is not told the rows of, as a bug
// would have them.
#pragma once

#include <memory>

#include "rocksdb/memtablerep.h"

namespace rowbloom::stress {

// `prepared` is the factory that FrontFilter::Prepare has set.
std::shared_ptr<rocksdb::MemTableRepFactory> NewForgetfulMemtables(
    std::shared_ptr<rocksdb::MemTableRepFactory> prepared);

}  // namespace rowbloom::stress
