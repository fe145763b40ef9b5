// The comparison that the examples of key layouts share: databases that have
// the same keys in the same files and differ in their filters. The program
// counts the files that reads open for nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/filter_policy.h"

// The filter that a database has.
struct Contender {
  enum class Filter { kNone, kStockBloom, kRowbloom };

  std::string name;
  Filter filter = Filter::kNone;
  // With kStockBloom, only the key_layout is used: RocksDB's prefix extractor.
  rowbloom::FilterPolicyOptions options = {};
};

// Reads of one kind: gets of keys or, with `scan`, scans of all keys that begin
// with a text. A scan uses the filter of a database whose rows these texts are.
struct Reads {
  std::string name;
  std::vector<std::string> keys;
  bool scan = false;
};

// Keys of one file each, all flushed to level 0. No key is in two files.
using Files = std::vector<std::vector<std::string>>;

// Prints a line for each contender, with the bytes of its filters and, for each
// kind of reads, the wasted ones: files that were opened and have no answer.
// Corruption: a wrong answer, or filters that were not probed for the same
// files.
rocksdb::Status CompareLayouts(const std::string& title, const Files& files,
                               const std::vector<Contender>& contenders,
                               const std::vector<Reads>& reads);
