#include <iterator>
#include <mutex>

#include "lib/layout/key_range.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"
#include "storage/store/metadata.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

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
      SharedRules& rules = *family.shared_rules;
      const bool drops_expired = whole && family.options.ttl_ms > 0 &&
                                 family.format == CellFormat::kVersioned;
      // Versions that a snapshot keeps apart are not joined.
      const bool joins_all = whole && impl_->opened.shared->snapshots == 0 &&
                             rules.Merging() != rules.Get();
      uint64_t version_deletes = 0;
      if (joins_all) {
        const RowLocks::Guard no_writes = impl_->writer.LockAll();
        version_deletes = rules.VersionDeletes();
      }
      if (drops_expired) {
        s = rules.oldest_put.Flush(
            [&] { return impl_->writer.LockAll(); },
            [&] { return impl_->Flush({}, {family.handle()}); });
      }
      // RocksDB does not show a compaction filter what it merges: the second
      // compaction removes what expired of that, or is surplus.
      for (int i = 0; s.ok() && i < (drops_expired || joins_all ? 2 : 1); ++i) {
        s = impl_->opened.database->CompactRange(
            compact, family.handle(), begin.empty() ? nullptr : &begin,
            end.empty() ? nullptr : &end);
        if (!s.ok() || !joins_all || i > 0) continue;
        const RowLocks::Guard no_writes = impl_->writer.LockAll();
        // A delete of a version that was written meanwhile, or is to be, may
        // show a version that is surplus by the rules of now.
        if (rules.VersionDeletes() != version_deletes ||
            impl_->opened.shared->unapplied_loads > 0) {
          continue;
        }
        rocksdb::WriteBatch joined;
        PutMergedVersions(it->first, 0, &joined);
        s = impl_->opened.database.WriteSynced(&joined);
        if (s.ok()) rules.SetMerged(0);
      }
    }
    return s;
  });
}

}  // namespace rowbloom
