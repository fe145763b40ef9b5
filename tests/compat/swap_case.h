// The databases that go from one RocksDB to another, and what must be in them.
// Each generation is three files: RocksDB's Bloom filters, its Ribbon filters,
// and rowbloom's. Its keys follow from the case and the number of the
// generation alone, so that every program knows them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_policy.h"

namespace rowbloom::compat {

enum class Writer { kStockBloom, kStockRibbon, kRowbloom };
inline constexpr std::array kWriters = {
    Writer::kStockBloom, Writer::kStockRibbon, Writer::kRowbloom};

struct Change {
  std::string key;
  std::optional<std::string> value;  // nullopt: deleted
};

struct SwapCase {
  FilterPolicyOptions filter;
  bool partitioned = false;

  // Of its directory.
  std::string Name() const;

  // The row bytes of a row that some generation has.
  std::string Row(int generation, Writer writer, int index) const;
  // Of rows that none has, among the others in key order.
  std::string AbsentRow(int index) const;

  // What one file holds, of generation 1 and up. From the second on it also
  // changes keys of the one before.
  std::vector<Change> Changes(int generation, Writer writer) const;
};

inline constexpr int kRowsPerFile = 80;

// Each layout with each type of filter, full and partitioned.
std::vector<SwapCase> AllSwapCases();

// The keys and values after so many generations.
std::map<std::string, std::string> Expected(const SwapCase& swap_case,
                                            int generations);

}  // namespace rowbloom::compat
