// The totals of the blocks of one type.
#pragma once

#include <cstdint>
#include <map>

#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

struct TypeTotals {
  uint64_t blocks = 0;
  uint64_t stored_bytes = 0;
  uint64_t contents_bytes = 0;  // as stored, where that is not known
  uint64_t damaged = 0;

  void Add(const BlockInfo& block) {
    ++blocks;
    stored_bytes += block.stored_bytes;
    contents_bytes += block.contents_bytes.value_or(block.stored_bytes);
    damaged += block.status.ok() ? 0 : 1;
  }
};

using TotalsByType = std::map<BlockType, TypeTotals>;

}  // namespace rowbloom::sst_inspect
