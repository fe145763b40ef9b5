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

  // The name of the case's directory.
  std::string Name() const;

  // The row bytes of a row that some generation has.
  std::string Row(int generation, Writer writer, int index) const;
  // The row bytes of a row that no generation has; it sorts among the others.
  std::string AbsentRow(int index) const;

  // The changes in one file of `generation`, which is 1 or more. From 2 on they
  // also touch keys of the generation before.
  std::vector<Change> Changes(int generation, Writer writer) const;
};

inline constexpr int kRowsPerFile = 80;

// Each layout with each type of filter, full and partitioned.
std::vector<SwapCase> AllSwapCases();

// The keys and values after so many generations.
std::map<std::string, std::string> Expected(const SwapCase& swap_case,
                                            int generations);

}  // namespace rowbloom::compat
