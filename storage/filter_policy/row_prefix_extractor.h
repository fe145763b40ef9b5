// The count of keys that a prefix extractor had no memory to split.
#pragma once

#include <cstdint>

namespace rowbloom {

// The number of times so far that a custom layout had no memory to split a key
// for an extractor of this process. RocksDB treats such a key as outside of the
// domain, and adds no prefix of it to a filter.
uint64_t ExtractorFailures();

}  // namespace rowbloom
