#include <iterator>
#include <mutex>

#include "lib/layout/key_range.h"
#include "rocksdb/options.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Status Store::Compact(const CompactOptions& options) {
  return impl_->Change([&]() -> Status {
    const std::shared_lock unchanged(impl_->opened.families->change_mutex);
    const SharedFamilies families = impl_->opened.families->Get();
    auto first = families->begin();
    auto last = families->end();
    Status s;
    if (!options.family.empty()) {
      s = impl_->opened.FindFamily(*families, options.family, &first);
      if (!s.ok()) return s;
      last = std::next(first);
    }
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
      const bool drops_expired = whole && family.options.ttl_ms > 0 &&
                                 family.format == CellFormat::kVersioned;
      if (drops_expired) {
        s = family.shared_rules->oldest_put.Flush(
            [&] { return impl_->writer.locks.LockAll(); },
            [&] { return impl_->Flush({family.handle()}); });
      }
      // RocksDB does not show a compaction filter what it merges: the second
      // compaction removes what expired of that.
      for (int i = 0; s.ok() && i < (drops_expired ? 2 : 1); ++i) {
        s = impl_->opened.database->CompactRange(
            compact, family.handle(), begin.empty() ? nullptr : &begin,
            end.empty() ? nullptr : &end);
      }
    }
    return s;
  });
}

}  // namespace rowbloom
