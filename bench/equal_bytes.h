// Filters of different policies that take the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "rocksdb/filter_policy.h"

namespace rowbloom::bench {

// The filter block that the policy builds for each file. With `prefixes` rows
// are added, too, as RocksDB does with a prefix extractor; a policy of rowbloom
// finds them in the keys itself.
std::vector<std::string> BuildFilters(const rocksdb::FilterPolicy& policy,
                                      const Cells& cells,
                                      const std::vector<CellsOfFile>& files,
                                      bool prefixes);

// The sum of their sizes.
uint64_t FilterBytes(const rocksdb::FilterPolicy& policy, const Cells& cells,
                     const std::vector<CellsOfFile>& files, bool prefixes);

// The most bits per key, up to `most_bits`, for which bytes_of(bits) is at most
// `byte_limit`; 0 if there are none. REQUIRES that bytes_of never falls.
double MostBitsWithin(uint64_t byte_limit, double most_bits,
                      const std::function<uint64_t(double)>& bytes_of);

}  // namespace rowbloom::bench
