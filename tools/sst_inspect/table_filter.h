// The filters of a table file, whatever its format: parts that are read one at
// a time, sections that each has, and lookups in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"

namespace rowbloom::sst_inspect {

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
struct FilterQuestion {
  // A row as it is in keys, or a key without a timestamp.
  std::string_view key;
  bool is_row = false;
  std::string_view layout;  // that the row was encoded with
};

// The lookup as `probe` tells it.
struct FilterExplanation {
  Facts lines;
  bool may_match = true;
  std::vector<std::string> problems;      // each a sentence
  std::vector<rocksdb::Status> failures;  // of what is damaged or not readable
};

// Lookups in the filter of a file, as a read makes them. Holds one part of it.
// The file must outlive it. Not thread-safe.
class FilterReader {
 public:
  virtual ~FilterReader() = default;

  // Tells whether there is a filter whose part for a key is known.
  virtual bool can_probe() const = 0;

  struct Answer {
    bool probed = false;     // else the filter cannot tell
    bool of_prefix = false;  // the row was looked up as a prefix
    bool may_match = true;
    // The predicted rate of a key whose row is absent, too, and of one whose
    // row is there.
    double rate = 1;
    double column_rate = 1;
  };
  // Error: the part of the filter for the key cannot be read.
  virtual rocksdb::Status Probe(const FilterQuestion& question,
                                Answer* answer) = 0;
  // Without a question it tells the kind of filter alone.
  virtual void Explain(const FilterQuestion* question,
                       FilterExplanation* explanation) = 0;
  // The bytes for which a filter lets an absent key pass rightly if a present
  // key has them, too; nullopt: there are none.
  virtual std::optional<std::string_view> SharedByAbsent(
      const FilterQuestion& /*absent*/) const {
    return std::nullopt;
  }
  virtual std::optional<std::string_view> SharedByPresent(
      std::string_view /*key*/) const {
    return std::nullopt;
  }
};

}  // namespace rowbloom::sst_inspect
