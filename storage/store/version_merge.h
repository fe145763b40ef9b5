// The merge operator of families whose cell format is `versioned`: operands
// and values are entries of cell_versions.h.
#pragma once

#include <memory>

#include "rocksdb/merge_operator.h"
#include "storage/store/shared_rules.h"

namespace rowbloom {

std::shared_ptr<rocksdb::MergeOperator> NewVersionMergeOperator(
    std::shared_ptr<const SharedRules> rules);

}  // namespace rowbloom
