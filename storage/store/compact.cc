// Store::Compact, and what a compaction of a whole family proves.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "lib/layout/key_range.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

// The numbers of a family's oldest and newest file; {max, 0} without files.
std::pair<uint64_t, uint64_t> FileNumbers(const OpenedStore& opened,
                                          const Family& family) {
  std::pair<uint64_t, uint64_t> numbers{std::numeric_limits<uint64_t>::max(),
                                        0};
  std::vector<rocksdb::LiveFileMetaData> files;
  opened.database->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    if (file.column_family_name != family.handle()->GetName()) continue;
    numbers.first = std::min(numbers.first, file.file_number);
    numbers.second = std::max(numbers.second, file.file_number);
  }
  return numbers;
}

// Compacts a whole family, in passes, until two of them rewrote all files. Its
// rules drop all puts before some time, and the second rewriting proves that
// there are none, unless a snapshot kept some.
Status CompactAndClear(Store::Impl* store, rocksdb::CompactRangeOptions options,
                       const Family& family) {
  constexpr int kMostPasses = 4;
  const OpenedStore& opened = store->opened;
  const SharedState& shared = *opened.shared;
  const uint64_t snapshots_taken = shared.snapshots_taken;
  const bool has_snapshots = shared.snapshots > 0;
  {
    const RowLocks::Guard no_writes = store->writer.LockAll();
    family.shared_rules->BeginClearing();
  }
  Status s = store->Flush({}, {family.handle()});
  // Force rewrites files that another compaction wrote beside this one, too.
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  const auto has_had_snapshots = [&] {
    return has_snapshots || shared.snapshots_taken != snapshots_taken;
  };
  // RocksDB does not show a compaction filter what it merges, so that the first
  // rewriting may leave puts that expired, and makes values of all cells. A
  // pass does not count if RocksDB's own compactions run beside it: they move
  // files past it, or rewrite them by earlier rules.
  int rewritten = 0;
  for (int pass = 0; s.ok() && rewritten < 2 && pass < kMostPasses; ++pass) {
    if (pass >= 2 && has_had_snapshots()) break;
    opened.compaction_gate->Watch(family.handle()->GetID());
    const uint64_t newest_before = FileNumbers(opened, family).second;
    s = opened.database->CompactRange(options, family.handle(), nullptr,
                                      nullptr);
    if (opened.compaction_gate->NoOthersRan() &&
        FileNumbers(opened, family).first > newest_before) {
      ++rewritten;
    }
  }
  if (s.ok() && rewritten == 2 && !has_had_snapshots()) {
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
        s = CompactAndClear(impl_.get(), compact, family);
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
