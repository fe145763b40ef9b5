// SectionFacts: what a part of a filter is made of, whoever wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowbloom::sst_inspect {

// A section of a filter block. RocksDB's own filters have one, and so has each
// chunk of an HFile's filter.
struct SectionFacts {
  std::string section;  // "ROW", "ROWCOL", "ROWPREFIX", ...; or what it has
  std::string kind;     // "bloom", "ribbon", "legacy bloom", ...
  int probes = 0;       // 0: it has none
  std::optional<uint64_t> keys;  // nullopt: the block does not say
  bool keys_estimated = false;   // from the bits that are set
  uint64_t size_bytes = 0;
  std::optional<double> fill;  // share of bits set
  std::optional<double> rate;  // predicted false positives; nullopt: unusable
  std::string problem;         // why it is damaged; empty: it is not
  // The bytes of its bit array, or of a ribbon's equations, within the block;
  // empty where that is damaged or not known.
  std::string_view bits;
};

}  // namespace rowbloom::sst_inspect
