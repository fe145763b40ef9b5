// Databases of a SwapCase: written, checked and written on.
#pragma once

#include <cstdint>
#include <string>

#include "rowbloom/filter_policy.h"
#include "tests/compat/swap_case.h"

namespace rowbloom::compat {

struct DatabaseReport {
  uint64_t keys = 0;
  FilterStats filter;        // all reads, rowbloom's own blocks
  uint64_t stock_skips = 0;  // gets of absent rows, RocksDB's filters
  // The reason for which the OPTIONS file could not be loaded strictly; empty
  // if it could. The options were then loaded with ignore_unknown_options.
  std::string not_strict;
};

// All of these throw Failure.

// Makes a database of generation 1. `format_version` is that of RocksDB's
// tables.
void WriteDatabase(const SwapCase& swap_case, const std::string& path,
                   uint32_t format_version);

// Opens the database with the options of its OPTIONS file, reads every key in
// every way, and makes reads that every kind of filter must answer.
DatabaseReport CheckDatabase(const SwapCase& swap_case, const std::string& path,
                             int generations);

// Compacts `generations` generations into one file of rowbloom's, and writes
// the next one.
void ExtendDatabase(const SwapCase& swap_case, const std::string& path,
                    int generations);

// Damage that CheckDatabase must find: a key deleted; files without filters.
void LoseKey(const SwapCase& swap_case, const std::string& path);
void LoseFilters(const std::string& path);

}  // namespace rowbloom::compat
