// Embedded stores that go from one RocksDB to another: rows, cells, deletes.
#pragma once

#include <cstdint>
#include <string>

#include "rowbloom/store.h"

namespace rowbloom::compat {

struct StoreReport {
  uint64_t cells = 0;
  FilterStats filter;  // all families together
};

// Adds a generation of cells to the store, which is made with the first, and
// deletes some of the one before. Throws Failure.
void WriteStore(const KeyLayout& layout, const std::string& path,
                int generation);

// Reads every cell and row, and looks up rows that filters must rule out.
// Throws Failure.
StoreReport CheckStore(const KeyLayout& layout, const std::string& path,
                       int generations);

}  // namespace rowbloom::compat
