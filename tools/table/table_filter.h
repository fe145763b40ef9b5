// The filters of a table file of any format: parts that are read one at a time,
// their sections, and lookups in them.
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

// A section of a filter block. A filter of RocksDB has one section, and so has
// each chunk of an HFile's filter.
struct SectionFacts {
  std::string section;  // "ROW", "ROWCOL", "ROWPREFIX", "key", "prefix", ...
  std::string kind;     // "bloom", "ribbon", "legacy bloom", ...
  int probes = 0;       // 0: it has none
  std::optional<uint64_t> keys;  // nullopt: not known
  bool keys_estimated = false;   // from the bits that are set
  uint64_t size_bytes = 0;
  std::optional<double> fill;  // share of bits set
  std::optional<double> rate;  // predicted false positives; nullopt: unusable
  std::string problem;         // why it is damaged; empty: it is not
  // The facts of chunks of HFiles. A chunk was halved `folds` times. If a
  // filter has a single chunk, its full size is not known, and HBase's default
  // is assumed if that fits.
  std::optional<uint64_t> capacity_keys;
  std::optional<uint64_t> folds;
  bool folds_assumed = false;
  // The bytes of its bit array, or of a ribbon's equations, within the block;
  // empty where that is damaged or not known.
  std::string_view bits;
};

// A part of a filter that is read at once: a filter block of an SST, or a chunk
// of an HFile's filter, which covers a range of keys. The views are valid
// during the call.
struct FilterPart {
  size_t number = 0;  // in its filter, from 1
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // as the file says
  // Its index key: no key in it is greater; in HFiles, its first key. Empty for
  // a filter of one part.
  std::string key_text;
  rocksdb::Status status;              // the block's
  std::vector<SectionFacts> sections;  // those that can be listed
  std::string writer;                  // "rowbloom", "RocksDB", "HBase"
  std::string foreign;     // its kind, if neither HBase nor rowbloom wrote it
  std::string parameters;  // "lines of 64 bytes"
  std::string problem;     // why it is damaged; empty: it is not
  std::string note;        // why it cannot be probed, or excludes no key
  // Facts of rowbloom's blocks; version 0: it is no such block.
  int version = 0;
  std::string layout;
  uint32_t row_prefix_bytes = 0;
};

// A lookup in the filter.
struct FilterLookup {
  // A row in the form of keys, or a key without a timestamp.
  std::string_view key;
  bool is_row = false;
  // True: looks a row up in each part that may have keys of it, not only in the
  // part that a read probes.
  bool in_every_part = false;
  // True: predicts the rates, too, which may take as long as reading the part.
  bool with_rates = false;
};

// The answer of one section to a lookup.
struct SectionAnswer {
  std::string section;  // "ROW", "ROWCOL", "key", "prefix", ...
  Verdict verdict = Verdict::kNotProbed;
  // Details of the verdict: ": before the first chunk", ", chunk 1 of 3", or
  // the reason why the section was not probed.
  std::string note = {};
};

// Damage that a lookup found, or an error of reading a part.
struct FilterProblem {
  std::string place;  // "partition 2: "; empty in a filter of one part
  rocksdb::Status status;
};

// The answer of a filter to a lookup.
struct FilterAnswer {
  // The part of the key that was looked up.
  enum class By : uint8_t { kKey, kRow, kPrefix };

  // "none", "unusable", "HBase ROW", or the kind of a filter that rowbloom did
  // not write.
  std::string filter;
  std::string parts;  // those probed, "1 to 3 of 5"; empty: there is one part
  // The answers of one part: the first that may match, else the first.
  std::vector<SectionAnswer> sections;
  By by = By::kKey;
  bool may_match = true;
  bool unusable = false;  // a part could not be read, or has no known layout
  // The predicted rates of false positives: of an absent key in an absent row
  // (`rate`) and in a present row (`column_rate`).
  double rate = 1;
  double column_rate = 1;
  std::vector<FilterProblem> problems;

  // Tells whether a section was probed, so that the answer counts.
  bool probed() const {
    return std::ranges::any_of(sections, [](const SectionAnswer& section) {
      return section.verdict != Verdict::kNotProbed;
    });
  }
};

// Probes the filter of a file as a read does. Holds one part of it. The file
// must outlive it. Not thread-safe.
class FilterReader {
 public:
  virtual ~FilterReader() = default;

  // Tells whether there is a filter, and the part to probe for a key is known.
  virtual bool can_probe() const = 0;

  virtual void LookUp(const FilterLookup& lookup, FilterAnswer* answer) = 0;
  // Returns the answers that a read of this file gets elsewhere, as names and
  // texts. Clears *may_match if one of them excludes the key.
  virtual Facts OtherAnswers(const FilterLookup& /*lookup*/,
                             bool* /*may_match*/) const {
    return {};
  }
  // Returns the filter keys that the lookup probes, its own key first. Empty if
  // an absent key never shares filter keys with present keys.
  virtual std::vector<std::string> KeysOf(
      const FilterLookup& /*lookup*/) const {
    return {};
  }
};

}  // namespace rowbloom::table
