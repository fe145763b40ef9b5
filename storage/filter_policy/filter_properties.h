// The summary that the builder of a file's filter passes to the collector of
// the file's properties.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/filter_block.h"

namespace rowbloom {

// The blocks built for one file so far. RocksDB makes and drives a file's
// builder and its collectors on one thread.
struct FilterSummary {
  BloomType bloom_type;
  FilterKind kind;
  std::string layout_id;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  std::vector<FilterSection> totals;  // a sum for each type

  void Add(const std::vector<FilterSection>& sections, uint64_t block_bytes);
};

// Passes the summary to the next collector that is made on this thread: RocksDB
// makes the collectors of a file right after its filter builder.
void OfferToCollector(const std::shared_ptr<const FilterSummary>& summary);

}  // namespace rowbloom
