#include "rowbloom/store.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>

#include "lib/layout/key_range.h"
#include "rocksdb/options.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/point_cells.h"
#include "storage/store/row_reader.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Store::~Store() {
  if (impl_->opened.IsForked()) {
    // The log and the threads are the parent's: nothing is released.
    static_cast<void>(impl_.release());
    return;
  }
  // If this fails, the next opening's time starts up to a second later.
  CatchExceptions([&] {
    return impl_->writer.KeepExactBound();
  }).PermitUncheckedError();
}

Status Store::Write(const Change& change, const WriteOptions& options) {
  return impl_->Change([&] {
    return impl_->writer.Write({&change, 1}, options);
  });
}

Status Store::Write(const WriteBatch& batch, const WriteOptions& options) {
  return impl_->Change(
      [&] { return impl_->writer.Write(batch.Changes(), options); });
}

Status Store::Get(std::string_view row, std::string_view family,
                  std::string_view qualifier, PinnableCell* cell,
                  const ReadOptions& options) {
  return CatchExceptions([&] {
    cell->Reset();
    const OpenedStore& opened = impl_->opened;
    Status s = CheckVersions(options.max_versions, options.time_range);
    SharedFamilies families;
    if (s.ok()) s = FamiliesAt(opened, options.snapshot, &families);
    if (!s.ok()) return s;
    PointCells found(opened, *families, options.snapshot);
    s = found.Add(row, family, qualifier);
    if (s.ok()) s = found.Read();
    if (!s.ok() || !found.Valid()) return s;
    const StoredCell& stored = found.cell();
    // Reading the clock takes a hundredth of the time of a get.
    const bool expires = stored.family->second.rules().ttl_ms != 0 ||
                         opened.shared->MayHave(kCellTtls);
    s = ForEachVersion(
        stored,
        {options.time_range, 1, expires ? opened.shared->clock.WallNow() : 0},
        [&](uint64_t timestamp_ms, std::string_view value) {
          cell->found_ = true;
          cell->timestamp_ms_ = timestamp_ms;
          cell->offset_ = value.data() - stored.value.data();
          cell->bytes_ = value.size();
        });
    if (cell->found_) found.MoveStored(&cell->stored_);
    return s;
  });
}

Status Store::Get(std::string_view row, std::string_view family,
                  std::string_view qualifier, std::optional<std::string>* value,
                  const ReadOptions& options) {
  return CatchExceptions([&] {
    PinnableCell cell;
    const Status s = Get(row, family, qualifier, &cell, options);
    if (!cell) {
      value->reset();
      return s;
    }
    // An existing string keeps its memory.
    if (!*value) value->emplace();
    (*value)->assign(cell.value());
    return s;
  });
}

Status Store::GetVersions(std::string_view row, std::string_view family,
                          std::string_view qualifier, std::vector<Cell>* cells,
                          const ReadOptions& options) {
  return CatchExceptions([&] {
    const CellAddress at{row, family, qualifier};
    std::vector<std::vector<Cell>> of_all(1);
    of_all.front().swap(*cells);
    const Status s = MultiGet({&at, 1}, &of_all, options);
    cells->swap(of_all.front());
    return s;
  });
}

Status Store::MultiGet(std::span<const CellAddress> addresses,
                       std::vector<std::vector<Cell>>* cells,
                       const ReadOptions& options) {
  return CatchExceptions([&]() -> Status {
    const OpenedStore& opened = impl_->opened;
    Status s = CheckVersions(options.max_versions, options.time_range);
    for (std::vector<Cell>& versions : *cells) versions.clear();
    cells->resize(addresses.size());
    // RocksDB reads several families one after the other.
    std::optional<StoreSnapshot> own;
    const Snapshot* snapshot = options.snapshot;
    if (snapshot == nullptr &&
        std::ranges::adjacent_find(addresses, std::not_equal_to(),
                                   &CellAddress::family) != addresses.end()) {
      snapshot = &own.emplace(opened);
    }
    SharedFamilies families;
    if (s.ok()) s = FamiliesAt(opened, snapshot, &families);
    if (!s.ok()) return s;
    PointCells found(opened, *families, snapshot);
    for (const CellAddress& at : addresses) {
      if (s.ok()) s = found.Add(at.row, at.family, at.qualifier);
    }
    if (s.ok()) s = found.Read();
    const VersionQuery query{options.time_range, options.max_versions,
                             opened.shared->clock.WallNow()};
    while (s.ok() && found.Valid()) {
      const CellAddress& at = addresses[found.index()];
      s = ForEachVersion(
          found.cell(), query,
          [&](uint64_t timestamp_ms, std::string_view value) {
            (*cells)[found.index()].push_back(
                {std::string(at.family), std::string(at.qualifier),
                 timestamp_ms, std::string(value)});
          });
      if (s.ok()) s = found.Next();
    }
    return s;
  });
}

Status Store::GetRow(std::string_view row, std::vector<Cell>* cells,
                     const RowOptions& options) {
  return CatchExceptions([&]() -> Status {
    RowPlan plan(impl_->opened);
    Status s = plan.Set(options);
    return s.ok() ? ReadRow(&plan, row, cells) : s;
  });
}

Status Store::Exists(std::string_view row, bool* exists,
                     const RowOptions& options) {
  return CatchExceptions([&] {
    RowOptions one = options;
    one.column_limit = std::min<size_t>(one.column_limit, 1);
    one.keys_only = true;
    std::vector<Cell> cells;
    const Status s = GetRow(row, &cells, one);
    *exists = !cells.empty();
    return s;
  });
}

Status Store::GetSnapshot(std::unique_ptr<const Snapshot>* snapshot) {
  return CatchExceptions([&] {
    *snapshot = std::make_unique<const StoreSnapshot>(impl_->opened);
    return Status::OK();
  });
}

Status Store::Flush() {
  return impl_->Change([&]() -> Status {
    const std::shared_lock unchanged(impl_->opened.families->change_mutex);
    const SharedFamilies families = impl_->opened.families->Get();
    // Otherwise the metadata's column family would keep the log alive.
    std::vector<rocksdb::ColumnFamilyHandle*> handles = {
        impl_->opened.database->DefaultColumnFamily()};
    Status s;
    for (const auto& [name, family] : *families) {
      handles.push_back(family.handle());
      if (s.ok() && family.has_expiring_deletes()) {
        s = impl_->FlushNoted(family);
      }
    }
    return s.ok() ? impl_->Flush(handles) : s;
  });
}

Status Store::Impl::Compact(const Family& family, const KeyRange& range) {
  rocksdb::CompactRangeOptions options;
  // Files in the bottommost level have space to reclaim, too.
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.blob_garbage_collection_policy =
      rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  const Slice begin = range.first;
  const Slice end = range.end;
  const bool drops_expired =
      begin.empty() && end.empty() && family.has_expiring_deletes();
  Status s = drops_expired ? FlushNoted(family) : Status::OK();
  // The second compaction removes expired puts that were merge operands, and
  // deletes of puts that the first one removed.
  for (int i = 0; s.ok() && i < (drops_expired ? 2 : 1); ++i) {
    s = opened.database->CompactRange(options, family.handle(),
                                      begin.empty() ? nullptr : &begin,
                                      end.empty() ? nullptr : &end);
  }
  return s;
}

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
    const std::lock_guard one_at_a_time(impl_->compact_mutex);
    for (; s.ok() && first != last; ++first) {
      s = impl_->Compact(first->second, *range);
    }
    return s;
  });
}

rocksdb::Env* Store::GetEnv() const { return impl_->opened.options.env; }

const StoreOptions& Store::Options() const { return impl_->opened.options; }

std::map<std::string, FamilyOptions> Store::Families() const {
  const SharedFamilies now = impl_->opened.families->Get();
  std::map<std::string, FamilyOptions> families;
  for (const auto& [name, family] : *now) {
    families.emplace(name, family.options);
  }
  return families;
}

std::vector<std::string> Store::Warnings() const {
  constexpr uint64_t kDayMs = uint64_t{24} * 60 * 60 * 1000;
  std::vector<std::string> warnings;
  const uint64_t ahead_ms = impl_->opened.shared->clock.AheadMs();
  const std::string& path = impl_->opened.path;
  if (ahead_ms > kDayMs) {
    warnings.push_back(Concat(
        "the store at ", path, " has given timestamps that are ",
        ahead_ms / kDayMs,
        " days ahead of this machine's clock, and goes on from there; if that "
        "clock is right, `rowbloom reset-clock` sets the store's back"));
  }
  uint64_t held_bytes = 0;
  impl_->opened.database->GetAggregatedIntProperty(
      rocksdb::DB::Properties::kEstimateTableReadersMem, &held_bytes);
  const uint64_t cache_bytes = impl_->opened.options.block_cache->GetCapacity();
  if (held_bytes > cache_bytes) {
    warnings.push_back(
        Concat("the filters and indexes of the store at ", path, " take ",
               held_bytes, " bytes, more than block_cache_bytes, ", cache_bytes,
               ": no data block stays in the cache"));
  }
  return warnings;
}

Status Store::ResetClock() {
  return impl_->Change([&] { return impl_->writer.ResetClock(); });
}

}  // namespace rowbloom
