// Compactions that do not end a file inside of a row.
//
// RocksDB itself ends a file where it likes; a partitioner can only ask for
// ends of its own. So RocksDB is told that files may be as large as they come,
// and the partitioner ends them: at the first row that starts in a file of the
// usual size. It refuses trivial moves, too, which put a file unread next to
// one of the next level that may have cells of the same row.
//
// What remains: RocksDB compacts files whose keys overlap. Columns that come
// after the last, or before the first, of a row in a file are compacted without
// it, and lie in a file next to it until both are compacted.
#pragma once

#include "rocksdb/options.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// REQUIRES leveled compaction.
void AlignFiles(const KeyLayout& key_layout,
                rocksdb::ColumnFamilyOptions* options);

}  // namespace rowbloom
