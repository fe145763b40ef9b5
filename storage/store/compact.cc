// Store::Compact, and what a compaction of a whole family proves.
#include <iterator>

#include "lib/layout/key_range.h"
#include "rocksdb/options.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Compacts a whole family twice. Its rules drop all puts before some time, and
// the second compaction proves that there are none, unless a snapshot kept
// some.
Status CompactAndClear(const OpenedStore& opened, Writer* writer,
                       rocksdb::CompactRangeOptions options,
                       const Family& family) {
  const SharedState& shared = *opened.shared;
  const uint64_t snapshots_taken = shared.snapshots_taken;
  const bool has_snapshots = shared.snapshots > 0;
  {
    const RowLocks::Guard no_writes = writer->LockAll();
    family.shared_rules->BeginClearing();
  }
  // Force rewrites files that another compaction wrote beside this one, too.
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  // RocksDB does not show a compaction filter what it merges, so that the first
  // one may leave puts that expired, and makes values of all cells.
  Status s;
  for (int pass = 0; s.ok() && pass < 2; ++pass) {
    s = opened.database->CompactRange(options, family.handle(), nullptr,
                                      nullptr);
  }
  if (s.ok() && !has_snapshots && shared.snapshots_taken == snapshots_taken) {
    family.shared_rules->EndClearing(family.options.ttl_ms);
  }
  return s;
}

}  // namespace

Status Store::Compact(const CompactOptions& options) {
  return impl_->Change([&]() -> Status {
    Status s;
    const auto unchanged = impl_->opened.families->LockUnchanged();
    const SharedFamilies families = impl_->opened.families->Get();
    auto first = families->begin();
    auto last = families->end();
    if (!options.family.empty()) {
      s = impl_->opened.FindFamily(*families, options.family, &first);
      if (s.ok()) last = std::next(first);
    }
    if (s.ok()) s = CheckRowBound(options.start_row);
    if (s.ok()) s = CheckRowBound(options.stop_row);
    if (!s.ok()) return s;
    const auto range = RangeOfRows(impl_->opened.key_layout(),
                                   options.start_row, options.stop_row, "");
    if (!range) return s;
    rocksdb::CompactRangeOptions compact;
    // Files that are as deep as they get have something to give back, too.
    compact.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForceOptimized;
    compact.blob_garbage_collection_policy =
        rocksdb::BlobGarbageCollectionPolicy::kForce;
    compact.blob_garbage_collection_age_cutoff = 1;
    const Slice begin = range->first;
    const Slice end = range->end;
    const bool whole = begin.empty() && end.empty();
    const std::lock_guard one_at_a_time(impl_->compact_mutex);
    for (auto it = first; s.ok() && it != last; ++it) {
      const Family& family = it->second;
      if (whole && family.format == CellFormat::kVersioned &&
          family.options.ttl_ms > 0 && family.options.min_versions == 0) {
        s = CompactAndClear(impl_->opened, &impl_->writer, compact, family);
      } else {
        s = impl_->opened.database->CompactRange(
            compact, family.handle(), begin.empty() ? nullptr : &begin,
            end.empty() ? nullptr : &end);
      }
    }
    return s;
  });
}

}  // namespace rowbloom
