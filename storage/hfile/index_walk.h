// Visits every entry of the data index, through all its levels.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/hfile/block_reader.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {

struct DataIndexEntry {
  size_t leaf = 0;  // number of the leaf index with it, from 1; 0: the root
  BlockLocation location;
  std::string_view key;  // valid during the call
};

// Calls `use` in the order of the file, up to the first damage. Holds one index
// block for each level. Returns the errors of blocks, and Corruption if a level
// is not in the order of the file, which excludes cycles in an index.
rocksdb::Status ForEachDataIndexEntry(
    const Reader& reader,
    const std::function<void(const DataIndexEntry& entry)>& use);

}  // namespace rowbloom::hfile
