#include "storage/store/store_impl.h"

#include <utility>

#include "rocksdb/options.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rowbloom/printable.h"
#include "storage/store/backup_directory.h"
#include "storage/store/family_cells.h"
#include "storage/store/family_changes.h"
#include "storage/store/no_exceptions.h"
#include "storage/store/point_cells.h"
#include "storage/store/row_reader.h"
#include "storage/store/row_source.h"
#include "storage/store/snapshot.h"
#include "storage/store/sst_load.h"
#include "storage/store/store_stats.h"
#include "storage/sync_directory.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr size_t kCounterBytes = 8;

std::string EncodeCounter(int64_t counter) {
  std::string bytes(kCounterBytes, '\0');
  for (size_t i = 0; i < kCounterBytes; ++i) {
    bytes[kCounterBytes - 1 - i] =
        static_cast<char>(static_cast<uint64_t>(counter) >> (8 * i));
  }
  return bytes;
}

bool DecodeCounter(std::string_view bytes, int64_t* counter) {
  if (bytes.size() != kCounterBytes) return false;
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  *counter = static_cast<int64_t>(value);
  return true;
}

}  // namespace

StoreImpl::~StoreImpl() {
  // Without it the next opening starts up to a second later.
  CatchExceptions([&] {
    return writer_.KeepExactBound();
  }).PermitUncheckedError();
}

ChangeView StoreImpl::ViewOf(const WriteBatch& batch, size_t i) {
  const WriteBatch::Change& change = batch.changes_[i];
  return {change.type,
          batch.View(change.row),
          batch.View(change.family),
          batch.View(change.qualifier),
          batch.View(change.value),
          change.timestamp_ms};
}

Status StoreImpl::WriteOne(const ChangeView& change,
                           const WriteOptions& options) {
  return CatchExceptions([&] {
    return writer_.Apply(
        1, [&change](size_t) { return change; }, options);
  });
}

Status StoreImpl::Put(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string_view value,
                      const WriteOptions& options) {
  return WriteOne({ChangeType::kPut, row, family, qualifier, value, {}},
                  options);
}

Status StoreImpl::Delete(std::string_view row, std::string_view family,
                         std::string_view qualifier,
                         const WriteOptions& options) {
  return WriteOne({ChangeType::kDelete, row, family, qualifier, {}, {}},
                  options);
}

Status StoreImpl::DeleteVersion(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteVersion, row, family, qualifier, {}, {}},
                  options);
}

Status StoreImpl::DeleteFamily(std::string_view row, std::string_view family,
                               const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteFamily, row, family, {}, {}, {}},
                  options);
}

Status StoreImpl::DeleteRow(std::string_view row, const WriteOptions& options) {
  return WriteOne({ChangeType::kDeleteRow, row, {}, {}, {}, {}}, options);
}

Status StoreImpl::Write(const WriteBatch& batch, const WriteOptions& options) {
  return CatchExceptions([&] {
    return writer_.Apply(
        batch.size(), [&batch](size_t i) { return ViewOf(batch, i); }, options);
  });
}

template <typename ChangeAt>
Status StoreImpl::CheckAndApply(std::string_view row, std::string_view family,
                                std::string_view qualifier,
                                std::optional<std::string_view> expected,
                                size_t count, ChangeAt change_at, bool* applied,
                                const WriteOptions& options) {
  return CatchExceptions([&]() -> Status {
    *applied = false;
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    const RowLocks::Guard guard = writer_.Lock(row);
    std::string found;
    Status s = Get(row, family, qualifier, &found, {});
    if (!s.ok() && !s.IsNotFound()) return s;
    if (s.ok() ? expected != found : expected.has_value()) return Status::OK();
    s = count == 0 ? Status::OK()
                   : writer_.ApplyLocked(guard, count, change_at, options);
    *applied = s.ok();
    return s;
  });
}

Status StoreImpl::CheckAndWrite(const CellAddress& at,
                                std::optional<std::string_view> expected,
                                const WriteBatch& changes, bool* applied,
                                const WriteOptions& options) {
  const Status s = CatchExceptions([&]() -> Status {
    for (size_t i = 0; i < changes.size(); ++i) {
      const std::string_view row = ViewOf(changes, i).row;
      if (row == at.row) continue;
      return Status::InvalidArgument("a change of row \"" + ToPrintable(row) +
                                     "\" after a look at row \"" +
                                     ToPrintable(at.row) + "\"");
    }
    return Status::OK();
  });
  if (!s.ok()) return s;
  return CheckAndApply(
      at.row, at.family, at.qualifier, expected, changes.size(),
      [&](size_t i) { return ViewOf(changes, i); }, applied, options);
}

Status StoreImpl::CheckAndPut(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::optional<std::string_view> expected,
                              std::string_view value, bool* applied,
                              const WriteOptions& options) {
  const ChangeView put{ChangeType::kPut, row, family, qualifier, value, {}};
  return CheckAndApply(
      row, family, qualifier, expected, 1, [&put](size_t) { return put; },
      applied, options);
}

Status StoreImpl::CheckAndDelete(std::string_view row, std::string_view family,
                                 std::string_view qualifier,
                                 std::optional<std::string_view> expected,
                                 bool* applied, const WriteOptions& options) {
  const ChangeView del{ChangeType::kDelete, row, family, qualifier, {}, {}};
  return CheckAndApply(
      row, family, qualifier, expected, 1, [&del](size_t) { return del; },
      applied, options);
}

template <typename Next>
Status StoreImpl::Update(std::string_view row, std::string_view family,
                         std::string_view qualifier, Next next,
                         const WriteOptions& options) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    const RowLocks::Guard guard = writer_.Lock(row);
    ChangeView put{ChangeType::kPut, row, family, qualifier, {}, {}};
    std::optional<std::string> newest;
    Status s = ReadCell(row, family, qualifier, {}, 1,
                        [&](uint64_t timestamp_ms, std::string_view value) {
                          put.replaces_ms = timestamp_ms;
                          newest = value;
                        });
    std::string value;
    if (s.ok()) s = next(newest, &value);
    put.value = value;
    if (s.ok() && options.timestamp_ms) {
      s = CheckNewest(put, *options.timestamp_ms);
    }
    if (!s.ok()) return s;
    return writer_.ApplyLocked(
        guard, 1, [&put](size_t) { return put; }, options);
  });
}

Status StoreImpl::CheckNewest(const ChangeView& put,
                              uint64_t timestamp_ms) const {
  const SharedFamilies families = opened_.families->Get();
  FamilyMap::const_iterator family;
  std::string row_bytes;
  Status s = opened_.FindFamily(*families, put.family, &family);
  if (s.ok()) s = CheckPut(family, put.qualifier, put.value, timestamp_ms);
  if (s.ok()) s = opened_.EncodeRow(put.row, &row_bytes);
  if (!s.ok()) return s;
  RowCells cells(opened_, family, RowReads());
  s = cells.SeekRow(put.row, row_bytes);
  cells.Seek(put.qualifier);
  if (s.ok()) s = cells.status();
  Entries before;
  if (s.ok() && cells.Valid() && cells.qualifier() == put.qualifier) {
    s = ReadEntries(cells.cell(), &before);
  }
  if (!s.ok()) return s;
  const VersionRules& rules = family->second.rules;
  const Entries after =
      ApplyOperand(before, {{EntryType::kPut, timestamp_ms, put.value}}, rules);
  bool newest = false;
  ForEachVisible(after, cells.row_deletes(), rules,
                 opened_.shared->clock.WallNow(), [&](const Entry& entry) {
                   newest = entry.timestamp_ms == timestamp_ms;
                   return false;
                 });
  if (newest) return s;
  return Status::InvalidArgument(
      Describe(put.row, put.family, put.qualifier) + "a version at " +
      std::to_string(timestamp_ms) +
      " would not be the newest: a newer one or a delete hides it, or it has "
      "expired");
}

Status StoreImpl::Increment(std::string_view row, std::string_view family,
                            std::string_view qualifier, int64_t delta,
                            int64_t* sum, const WriteOptions& options) {
  int64_t result = 0;
  const auto add = [&](std::optional<std::string_view> found,
                       std::string* value) -> Status {
    int64_t counter = 0;
    if (found && !DecodeCounter(*found, &counter)) {
      return Status::InvalidArgument(
          "a counter of " + std::to_string(found->size()) +
          " bytes: expected " + std::to_string(kCounterBytes));
    }
    if (__builtin_add_overflow(counter, delta, &result)) {
      return Status::InvalidArgument("a counter of " + std::to_string(counter) +
                                     " plus " + std::to_string(delta) +
                                     " does not fit into 8 bytes");
    }
    *value = EncodeCounter(result);
    return Status::OK();
  };
  Status s = Update(row, family, qualifier, add, options);
  if (s.ok() && sum != nullptr) *sum = result;
  return s;
}

Status StoreImpl::Append(std::string_view row, std::string_view family,
                         std::string_view qualifier, std::string_view suffix,
                         std::string* joined, const WriteOptions& options) {
  std::string result;
  const auto append = [&](std::optional<std::string_view> found,
                          std::string* value) {
    value->assign(found.value_or(""));
    value->append(suffix);
    if (joined != nullptr) result = *value;
    return Status::OK();
  };
  Status s = Update(row, family, qualifier, append, options);
  if (s.ok() && joined != nullptr) *joined = std::move(result);
  return s;
}

template <typename Add>
Status StoreImpl::ReadCell(std::string_view row, std::string_view family,
                           std::string_view qualifier,
                           const ReadOptions& options, uint32_t max_versions,
                           Add add) const {
  Status s = CheckVersions(options.max_versions, options.time_range);
  if (!s.ok()) return s;
  const SharedFamilies families = opened_.families->Get();
  PointCells found(opened_, *families, options.snapshot);
  s = found.Add(row, family, qualifier);
  if (s.ok()) s = found.Read();
  if (!s.ok() || !found.Valid()) return s;
  const bool expires = found.cell().family->second.rules.ttl_ms != 0;
  return ForEachVersion(found.cell(),
                        {options.time_range, max_versions,
                         expires ? opened_.shared->clock.WallNow() : 0},
                        add);
}

Status StoreImpl::Get(std::string_view row, std::string_view family,
                      std::string_view qualifier, std::string* value,
                      const ReadOptions& options) {
  return CatchExceptions([&] {
    bool shown = false;
    const Status s = ReadCell(row, family, qualifier, options, 1,
                              [&](uint64_t, std::string_view newest) {
                                value->assign(newest);
                                shown = true;
                              });
    return s.ok() && !shown ? Status::NotFound() : s;
  });
}

Status StoreImpl::GetCell(std::string_view row, std::string_view family,
                          std::string_view qualifier, Cell* cell,
                          const ReadOptions& options) {
  return CatchExceptions([&] {
    bool shown = false;
    const Status s =
        ReadCell(row, family, qualifier, options, 1,
                 [&](uint64_t timestamp_ms, std::string_view newest) {
                   *cell = {std::string(family), std::string(qualifier),
                            timestamp_ms, std::string(newest)};
                   shown = true;
                 });
    return s.ok() && !shown ? Status::NotFound() : s;
  });
}

Status StoreImpl::GetVersions(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::vector<Cell>* cells,
                              const ReadOptions& options) {
  return CatchExceptions([&] {
    cells->clear();
    return ReadCell(
        row, family, qualifier, options, options.max_versions,
        [&](uint64_t timestamp_ms, std::string_view value) {
          cells->push_back({std::string(family), std::string(qualifier),
                            timestamp_ms, std::string(value)});
        });
  });
}

Status StoreImpl::MultiGet(std::span<const CellAddress> addresses,
                           std::vector<std::vector<Cell>>* cells,
                           const ReadOptions& options) {
  return CatchExceptions([&]() -> Status {
    for (std::vector<Cell>& versions : *cells) versions.clear();
    cells->resize(addresses.size());
    Status s = CheckVersions(options.max_versions, options.time_range);
    const SharedFamilies families = opened_.families->Get();
    PointCells found(opened_, *families, options.snapshot);
    for (const CellAddress& at : addresses) {
      if (s.ok()) s = found.Add(at.row, at.family, at.qualifier);
    }
    if (s.ok()) s = found.Read();
    const VersionQuery query{options.time_range, options.max_versions,
                             opened_.shared->clock.WallNow()};
    while (s.ok() && found.Valid()) {
      const CellAddress& at = addresses[found.index()];
      s = ForEachVersion(
          found.cell(), query,
          [&](uint64_t timestamp_ms, std::string_view value) {
            (*cells)[found.index()].push_back(
                {at.family, at.qualifier, timestamp_ms, std::string(value)});
          });
      if (s.ok()) s = found.Next();
    }
    return s;
  });
}

Status StoreImpl::GetRow(std::string_view row, std::vector<Cell>* cells,
                         const RowOptions& options) {
  return CatchExceptions([&]() -> Status {
    RowPlan plan;
    if (Status s = RowPlan::Make(opened_, options, &plan); !s.ok()) return s;
    return ReadRow(opened_, plan, row, cells);
  });
}

RowScanner StoreImpl::Scan(const ScanOptions& options) {
  std::unique_ptr<RowScanner::Source> source;
  const Status s = CatchExceptions([&] {
    source = std::make_unique<RowScanner::Source>(opened_);
    return source->Open(options);
  });
  return s.ok() ? RowScanner(std::move(source)) : RowScanner(s);
}

Status StoreImpl::NewCellIterator(const CellIteratorOptions& options,
                                  std::unique_ptr<CellIterator>* iterator) {
  return CatchExceptions([&] {
    auto cells = std::make_unique<FamilyCells>(opened_);
    Status s = cells->Open(options);
    if (s.ok()) *iterator = std::move(cells);
    return s;
  });
}

std::unique_ptr<const Snapshot> StoreImpl::GetSnapshot() {
  std::unique_ptr<const StoreSnapshot> snapshot;
  const Status s = CatchExceptions([&] {
    snapshot = std::make_unique<const StoreSnapshot>(opened_);
    return Status::OK();
  });
  if (!s.ok() || snapshot->get() == nullptr) return nullptr;
  return snapshot;
}

Status StoreImpl::NewBulkLoad(const BulkLoadOptions& options,
                              std::unique_ptr<BulkLoad>* load) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    auto begun =
        std::make_unique<SstLoad>(opened_, &writer_, next_load_++, options);
    Status s = begun->Begin();
    if (s.ok()) *load = std::move(begun);
    return s;
  });
}

Status StoreImpl::Flush() {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    const auto unchanged = opened_.families->LockUnchanged();
    const SharedFamilies families = opened_.families->Get();
    // With the metadata's column family, which would keep the log alive.
    std::vector<rocksdb::ColumnFamilyHandle*> handles = {
        opened_.database->DefaultColumnFamily()};
    for (const auto& [name, family] : *families) {
      handles.push_back(family.handle());
    }
    return opened_.database->Flush(rocksdb::FlushOptions(), handles);
  });
}

Status StoreImpl::Compact(const CompactOptions& options) {
  return CatchExceptions([&]() -> Status {
    Status s = opened_.CheckWritable();
    if (!s.ok()) return s;
    const auto unchanged = opened_.families->LockUnchanged();
    const SharedFamilies families = opened_.families->Get();
    FamilyMap::const_iterator only = families->end();
    if (!options.family.empty()) {
      s = opened_.FindFamily(*families, options.family, &only);
    }
    if (s.ok()) s = CheckRowBound(options.start_row);
    if (s.ok()) s = CheckRowBound(options.stop_row);
    if (!s.ok()) return s;
    const std::string begin = FirstKey(opened_.key_layout(), options.start_row);
    const std::string end = FirstKey(opened_.key_layout(), options.stop_row);
    if (begin.empty() && !options.start_row.empty()) return s;  // no such rows
    rocksdb::CompactRangeOptions compact;
    // Files that are as deep as they get have something to give back, too.
    compact.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForceOptimized;
    const Slice from = begin;
    const Slice to = end;
    const bool whole = begin.empty() && end.empty();
    const std::lock_guard one_at_a_time(compact_mutex_);
    for (auto it = families->begin(); s.ok() && it != families->end(); ++it) {
      if (only != families->end() && it != only) continue;
      const Family& family = it->second;
      if (whole && CanClear(family)) {
        s = CompactAndClear(compact, family);
      } else {
        s = opened_.database->CompactRange(compact, family.handle(),
                                           begin.empty() ? nullptr : &from,
                                           end.empty() ? nullptr : &to);
      }
    }
    return s;
  });
}

bool StoreImpl::CanClear(const Family& family) {
  return family.format == CellFormat::kVersioned && family.rules.ttl_ms > 0 &&
         family.rules.min_versions == 0;
}

Status StoreImpl::CompactAndClear(rocksdb::CompactRangeOptions options,
                                  const Family& family) {
  const SharedState& shared = *opened_.shared;
  // RocksDB keeps the puts that a snapshot sees.
  const uint64_t snapshots_taken = shared.snapshots_taken;
  const bool has_snapshots = shared.snapshots > 0;
  uint64_t wall_ms = 0;
  {
    const RowLocks::Guard no_writes = writer_.LockAll();
    family.shared_rules->BeginClearing();
    wall_ms = shared.clock.WallNow();
  }
  // Force rewrites files that another compaction wrote beside this one, too.
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  Status s = opened_.database->CompactRange(options, family.handle(), nullptr,
                                            nullptr);
  const uint64_t ttl_ms = family.rules.ttl_ms;
  const bool saw_snapshots =
      has_snapshots || shared.snapshots_taken != snapshots_taken;
  if (s.ok() && !saw_snapshots && wall_ms > ttl_ms) {
    family.shared_rules->EndClearing(wall_ms - ttl_ms);
  }
  return s;
}

Status StoreImpl::Stats(StoreStats* stats) {
  return CatchExceptions([&] { return GatherStats(opened_, stats); });
}

std::map<std::string, FamilyOptions> StoreImpl::Families() const {
  const SharedFamilies now = opened_.families->Get();
  std::map<std::string, FamilyOptions> families;
  for (const auto& [name, family] : *now) {
    families.emplace(name, family.options);
  }
  return families;
}

std::vector<std::string> StoreImpl::Warnings() const {
  constexpr uint64_t kDayMs = uint64_t{24} * 60 * 60 * 1000;
  std::vector<std::string> warnings;
  LeasedClock& clock = opened_.shared->clock;
  const uint64_t wall_ms = clock.WallNow();
  const uint64_t ahead_ms = clock.Now() - wall_ms;
  if (ahead_ms > kDayMs) {
    warnings.push_back("the store at " + opened_.path + " has given " +
                       "timestamps that are " +
                       std::to_string(ahead_ms / kDayMs) +
                       " days ahead of this machine's clock, and goes on from "
                       "there; if that clock is right, `rowbloom reset-clock "
                       "--db " +
                       opened_.path + "` sets the store's back");
  }
  uint64_t held_bytes = 0;
  opened_.database->GetAggregatedIntProperty(
      rocksdb::DB::Properties::kEstimateTableReadersMem, &held_bytes);
  if (held_bytes > opened_.options.block_cache_bytes) {
    warnings.push_back("the filters and indexes of the store at " +
                       opened_.path + " take " + std::to_string(held_bytes) +
                       " bytes, more than block_cache_bytes, " +
                       std::to_string(opened_.options.block_cache_bytes) +
                       ": no data block stays in the cache");
  }
  return warnings;
}

Status StoreImpl::ResetClock() {
  return CatchExceptions([&] { return writer_.ResetClock(); });
}

Status StoreImpl::CreateFamily(const std::string& name,
                               const FamilyOptions& options) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    return rowbloom::CreateFamily(name, options, &opened_, &writer_);
  });
}

Status StoreImpl::DropFamily(const std::string& name) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    return rowbloom::DropFamily(name, &opened_, &writer_);
  });
}

Status StoreImpl::CheckAlterFamily(const std::string& name,
                                   const FamilyOptions& options) const {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    FamilySetup ignored;
    return PrepareAlter(name, options, *opened_.families->Get(), opened_,
                        &ignored);
  });
}

Status StoreImpl::AlterFamily(const std::string& name,
                              const FamilyOptions& options) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    return rowbloom::AlterFamily(name, options, &opened_, &writer_);
  });
}

Status StoreImpl::Checkpoint(const std::string& directory) {
  return CatchExceptions([&]() -> Status {
    Status s = opened_.CheckWritable();
    if (!s.ok()) return s;
    if (opened_.database->GetEnv()->FileExists(directory).ok()) {
      return Status::InvalidArgument(
          directory + " exists: a checkpoint makes a new directory");
    }
    const auto unchanged = opened_.families->LockUnchanged();
    rocksdb::Checkpoint* made = nullptr;
    s = rocksdb::Checkpoint::Create(opened_.database.get(), &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    if (s.ok()) s = checkpoint->CreateCheckpoint(directory);
    if (!s.ok()) return s;
    return SyncDirectory(GetEnv(), ParentOf(directory));
  });
}

Status StoreImpl::Backup(const std::string& directory, BackupInfo* info) {
  return CatchExceptions([&]() -> Status {
    if (Status s = opened_.CheckWritable(); !s.ok()) return s;
    const auto unchanged = opened_.families->LockUnchanged();
    return CreateBackup(opened_.database.get(), directory, info);
  });
}

}  // namespace rowbloom
