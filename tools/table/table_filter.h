// The filters of a table file, whatever its format: parts that are read one at
// a time, sections that each has, and lookups in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/filter_block.h"

namespace rowbloom::table {

// Names and values, as text.
using Facts = std::vector<std::pair<std::string, std::string>>;

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
  // The facts of chunks of HFiles. A chunk was halved `folds` times. A single
  // chunk does not tell its full size: then HBase's default is assumed, if that
  // fits.
  std::optional<uint64_t> capacity_keys;
  std::optional<uint64_t> folds;
  bool folds_assumed = false;
  // The bytes of its bit array, or of a ribbon's equations, within the block;
  // empty where that is damaged or not known.
  std::string_view bits;
};

// A part of a filter that is read at once: a filter block of an SST, a chunk of
// an HFile's filter, which has one for each run of keys. The views live during
// the call.
struct FilterPart {
  size_t number = 0;  // in its filter, from 1
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // as the file says
  // The last key in it, for HFiles the first; empty in a filter of one part.
  std::string key_text;
  rocksdb::Status status;              // the block's
  std::vector<SectionFacts> sections;  // those that can be listed
  std::string writer;                  // "rowbloom", "RocksDB", "HBase"
  std::string foreign;     // what it is, if HBase and rowbloom did not write it
  std::string parameters;  // "lines of 64 bytes"
  std::string problem;     // why it is damaged; empty: it is not
  std::string note;        // why it cannot be probed, or rules nothing out
  // Facts that rowbloom's blocks state; version 0: it is no such block.
  int version = 0;
  std::string layout;
  uint32_t row_prefix_bytes = 0;
};

// A lookup in the filter.
struct FilterLookup {
  // A row as it is in keys, or a key without a timestamp.
  std::string_view key;
  bool is_row = false;
  // A row is looked up in each part that may have keys of it, not only in the
  // one that a read probes.
  bool in_every_part = false;
  // The rates are predicted, too, which may take as long as reading the part.
  bool with_rates = false;
};

// The answer of one section to a lookup.
struct SectionAnswer {
  std::string section;  // "ROW", "ROWCOL", "key", "prefix", ...
  Verdict verdict = Verdict::kNotProbed;
  // More about the verdict: why it was not probed, ": before the first chunk",
  // ", chunk 1 of 3".
  std::string note = {};
};

// Damage that a lookup met, or why it could not read a part.
struct FilterProblem {
  std::string place;  // "partition 2: "; empty in a filter of one part
  rocksdb::Status status;
};

// The answer of a filter to a lookup.
struct FilterAnswer {
  // The part of the key that was looked up.
  enum class By : uint8_t { kKey, kRow, kPrefix };

  // "none", "unusable", "HBase ROW", or what it is that rowbloom did not write.
  std::string filter;
  std::string parts;  // that were probed: "1 to 3 of 5"; empty: all as one
  // The answer of several parts is the one that says most about all.
  std::vector<SectionAnswer> sections;
  By by = By::kKey;
  bool may_match = true;
  bool unusable = false;  // a part could not be read
  // The predicted rates of a key whose row is absent, too, and of one whose row
  // is there.
  double rate = 1;
  double column_rate = 1;
  std::vector<FilterProblem> problems;

  // Tells whether something was looked up, so that the answer counts.
  bool probed() const {
    return std::ranges::any_of(sections, [](const SectionAnswer& section) {
      return section.verdict != Verdict::kNotProbed;
    });
  }
};

// Lookups in the filter of a file, as a read makes them. Holds one part of it.
// The file must outlive it. Not thread-safe.
class FilterReader {
 public:
  virtual ~FilterReader() = default;

  // Tells whether there is a filter whose part for a key is known.
  virtual bool can_probe() const = 0;

  virtual void LookUp(const FilterLookup& lookup, FilterAnswer* answer) = 0;
  // The other answers that a read of this file gets, as names and texts. Clears
  // *may_match if one of them rules the key out.
  virtual Facts OtherAnswers(const FilterLookup& /*lookup*/,
                             bool* /*may_match*/) const {
    return {};
  }
  // The keys of the filter that are looked up, that of the lookup itself
  // first. Empty if an absent key cannot have them in common with present ones.
  virtual std::vector<std::string> KeysOf(
      const FilterLookup& /*lookup*/) const {
    return {};
  }
};

}  // namespace rowbloom::table
