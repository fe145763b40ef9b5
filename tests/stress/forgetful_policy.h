// A broken policy, for the test that the driver notices one: it answers "no"
// for one key in fifty, whether the file has it or not.
#pragma once

#include <memory>

#include "rocksdb/filter_policy.h"

namespace rowbloom::stress {

// `policy` does what is left to do.
std::shared_ptr<const rocksdb::FilterPolicy> NewForgetfulPolicy(
    std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace rowbloom::stress
