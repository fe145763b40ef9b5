// Every entry of the data index, through all its levels.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/hfile/block_reader.h"
#include "storage/hfile/reader.h"

namespace rowbloom::hfile {

struct DataIndexEntry {
  size_t leaf = 0;  // the leaf index that has it, from 1; 0: the root has it
  BlockLocation location;
  std::string_view key;  // lives during the call
};

// Calls come in the order of the file, up to the first damage. Holds one index
// block for each level. Errors are those of blocks, and Corruption when a level
// is not in the order of the file, so that no index can lead round and round.
rocksdb::Status ForEachDataIndexEntry(
    const Reader& reader,
    const std::function<void(const DataIndexEntry& entry)>& use);

}  // namespace rowbloom::hfile
