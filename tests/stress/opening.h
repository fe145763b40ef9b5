// Draws how a database is opened: a random policy, extractor and set of
// options, which may differ from one opening to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/front_filter.h"
#include "tests/stress/key_space.h"
#include "tests/stress/round.h"

namespace rowbloom::stress {

// The properties that a database keeps for its life.
struct Database {
  KeySpace keys;
  rocksdb::CompactionStyle compaction_style;
  bool dynamic_level_bytes;
  bool front_filter;
  // All files have filters that a front filter can use; else some do.
  bool filters_for_front;
};
// Draws a database, the same for all processes of a round.
Database DrawDatabase(uint32_t rows_per_share, const Round& round);

struct OpeningRules {
  // Rowbloom's policy with a filter that files get, read through the block
  // cache.
  bool filters_for_sure = false;
  bool unpartitioned = false;
  // Files are written without checksums of RocksDB's.
  bool without_checksums = false;
  // The policy answers "no" for some keys that are there: see forgetful.h.
  bool forgetful = false;
  // A front filter is not told rows: see forgetful.h.
  bool forgetful_memtables = false;
  rocksdb::Env* env = rocksdb::Env::Default();
};

struct Opening {
  rocksdb::Options options;
  std::shared_ptr<const rocksdb::SliceTransform> extractor;  // may be null
  // Null where the policy is not rowbloom's.
  std::shared_ptr<const rocksdb::FilterPolicy> rowbloom;
  // gets_ask is true if gets of keys of the layout probe the filter of a file
  // that is flushed now; gets_skip is true if absent rows are ruled out.
  bool gets_ask = false;
  bool gets_skip = false;
  std::optional<FrontFilterOptions> front_filter;  // nullopt: none
  bool waits_until_armed = false;
  std::string description;
};
Opening DrawOpening(const Database& database, OpeningRules rules,
                    Random* random);

}  // namespace rowbloom::stress
