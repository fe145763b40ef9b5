// Store::NewBulkLoad: an SstFileWriter per family, whose files RocksDB takes
// over as they are.
#include "rowbloom/bulk_load.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/write_batch.h"
#include "storage/cells/cell_value.h"
#include "storage/format/directory.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/found_store.h"
#include "storage/store/metadata.h"
#include "storage/store/point_cells.h"
#include "storage/store/row_cells.h"
#include "storage/store/store_impl.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

class SstLoad final : public BulkLoad {
 public:
  SstLoad(Store::Impl* store, const BulkLoadOptions& options,
          const FamilyMap* copied)
      : store_(*store),
        opened_(store->opened),
        of_store_(opened_.families->Get()),
        options_(options),
        copied_(copied),
        clock_starts_(opened_.shared->clock.starts()),
        timestamp_ms_(store->writer.StepClock()),
        newest_ms_(timestamp_ms_) {}

  ~SstLoad() override {
    if (opened_.IsForked()) {  // the parent still writes these files
      for (auto& [name, load] : families_) {
        static_cast<void>(load.writer.release());
      }
      return;
    }
    // Files that cannot be removed now are when the store is opened next.
    rocksdb::Env* const env = opened_.database->GetEnv();
    for (auto& [name, load] : families_) {
      load.writer.reset();
      for (const rocksdb::ExternalSstFileInfo& file : load.files) {
        env->DeleteFile(file.file_path).PermitUncheckedError();
      }
    }
    if (!lacks_end_) env->DeleteDir(directory_).PermitUncheckedError();
  }

  // Makes the load's directory. Nothing may be written to one that is there:
  // RocksDB may have taken over its files.
  Status Begin() {
    rocksdb::Env* const env = opened_.database->GetEnv();
    do {
      directory_ =
          Concat(opened_.path, "/", kLoadDirectoryPrefix, store_.next_load++);
    } while (FileExists(env, directory_).ok());
    return env->CreateDir(directory_);
  }

  uint64_t timestamp_ms() const override { return timestamp_ms_; }

  Status Add(const Change& change) override {
    bool has_thrown = true;
    const Status s = CatchExceptions([&] {
      Status added = AddChange(change);
      has_thrown = false;
      return added;
    });
    // A part of the cell may have been added.
    if (has_thrown && unusable_.ok()) unusable_ = s;
    return s;
  }

  Status Check(const Change& change) const override {
    return CatchExceptions([&] {
      FamilyMap::const_iterator family;
      std::string key;
      return FindPlace(change, &family, &key);
    });
  }

  bool MayBeLoaded() const override { return may_be_loaded_; }

  Status Finish() override {
    return CatchExceptions([&]() -> Status {
      if (!unusable_.ok()) return unusable_;
      if (Status s = opened_.CheckWritable(); !s.ok()) return s;
      unusable_ = Status::InvalidArgument("the load is finished");
      const std::shared_lock unchanged(opened_.families->change_mutex);
      const SharedFamilies now = opened_.families->Get();
      for (auto& [name, load] : families_) {
        const auto found = now->find(name);
        if (found == now->end() ||
            found->second.column_family != load.family->second.column_family) {
          return InvalidArgument(QuotedFamily(name),
                                 " was dropped during the load");
        }
        Status s = WriteCell(&load);
        if (s.ok()) s = CloseFile(&load);
        if (!s.ok()) return s;
      }
      return families_.empty() ? Status::OK() : Ingest();
    });
  }

 private:
  // The part of the load that goes to one family. The last cell is kept back
  // until the next one tells that it is complete.
  struct FamilyLoad {
    FamilyMap::const_iterator family;
    std::unique_ptr<rocksdb::SstFileWriter> writer;  // for files.back()
    std::vector<rocksdb::ExternalSstFileInfo> files;
    std::string key;     // the last cell's; empty: none yet
    std::string stored;  // its value, as RocksDB keeps it; empty: all deleted
    Entry last;          // the last one added, deleted or not, without value
    size_t value_bytes = 0;  // all versions of the last cell
    RowDeletes row_deletes;  // the last row's, in the load and the store
    // The load's own kDeleteFamilyVersion, by row.
    std::map<std::string, RowDeletes> version_deletes;
    uint64_t oldest_put_ms = std::numeric_limits<uint64_t>::max();
    // SharedRules::FamilyVersionDeletes before row_deletes are first read.
    uint64_t known_version_deletes = 0;
    size_t unreadable_files = 0;  // before the load
  };

  // Finds the family and the key of a change. The errors are those of the
  // change alone.
  Status FindPlace(const Change& change, FamilyMap::const_iterator* family,
                   std::string* key) const {
    Status s = CheckChange(change);
    if (!s.ok()) return s;
    if (IsUpdate(change.type)) {
      return Status::InvalidArgument(
          "a load takes no increments and no appends");
    }
    std::optional<uint64_t> given_ms = change.timestamp_ms;
    const bool is_put = change.type == ChangeType::kPut;
    if (!is_put && (!given_ms || !IsEntryType(change.type))) {
      return Status::InvalidArgument(
          "a load takes deletes of a version, a column or a family, with "
          "their timestamps");
    }
    s = opened_.FindFamily(*of_store_, change.family, family);
    if (!s.ok() && opened_.families->Get()->contains(change.family)) {
      return InvalidArgument(QuotedFamily(change.family),
                             " was created after the load began");
    }
    if (s.ok()) s = opened_.EncodeRow(change.row, key);
    if (!s.ok()) return s;
    key->append(change.qualifier);
    const auto& [name, kept] = **family;
    if (!is_put && kept.format == CellFormat::kLatest) {
      return InvalidArgument(QuotedFamily(name),
                             " keeps the latest version only: a load "
                             "adds no deletes to it");
    }
    if (kept.options.timestamps == Timestamps::kStore) {
      const bool may_be_later =
          copied_ != nullptr &&
          copied_->at(name).options.timestamps == Timestamps::kStore;
      if (given_ms && *given_ms >= timestamp_ms_ && !may_be_later) {
        return InvalidArgument(
            QuotedFamily(name),
            " has timestamps=store: expected one before that of the load, ",
            timestamp_ms_, ", found ", *given_ms);
      }
      given_ms.reset();
    }
    return CheckPut(*family, change.qualifier, change.value, given_ms);
  }

  Status AddChange(const Change& change) {
    FamilyMap::const_iterator family;
    Status s = unusable_;
    // A forked process would write to the files of its parent.
    if (s.ok()) s = opened_.CheckWritable();
    if (s.ok()) s = FindPlace(change, &family, &key_);
    if (!s.ok()) return s;
    const auto [at, is_new] = families_.try_emplace(family->first);
    FamilyLoad& load = at->second;
    if (is_new) {
      load.family = family;
      load.known_version_deletes =
          family->second.shared_rules->FamilyVersionDeletes();
    }
    s = AddToCell(&load, change.row,
                  {change.type, change.timestamp_ms.value_or(timestamp_ms_),
                   change.value, change.ttl_ms.value_or(kNoTtl)});
    if (s.ok() || !unusable_.ok()) return s;
    return Prefixed(Describe(change.row, family->first, change.qualifier), s);
  }

  // The entry's key is key_.
  Status AddToCell(FamilyLoad* load, std::string_view row, const Entry& entry) {
    const bool versioned =
        load->family->second.format == CellFormat::kVersioned;
    const bool same_cell = key_ == load->key;
    if (key_ < load->key ||
        (same_cell && (!versioned || !ComesBefore(load->last, entry)))) {
      return InvalidArgument(
          "expected cells of a family by row, qualifier and falling timestamp, "
          "each once, found one at ",
          entry.timestamp_ms);
    }
    Status s = store_.writer.Announce(RareKindsOf(entry));
    if (!s.ok()) return s;
    if (!same_cell) {
      unusable_ = BeginCell(load, row);
      if (!unusable_.ok()) return unusable_;
    }
    // A deleted version would take the place of a visible one.
    const bool is_deleted = (same_cell && IsDeletedBy(load->last, entry)) ||
                            (entry.type == ChangeType::kPut &&
                             load->row_deletes.TakesAt(entry.timestamp_ms));
    if (is_deleted) {
      load->last = {entry.type, entry.timestamp_ms, {}};
      return s;
    }
    if (load->value_bytes > 0 &&
        load->value_bytes + entry.value.size() > kMaxCellBytes) {
      return InvalidArgument("its versions have more than ", kMaxCellBytes,
                             " bytes");
    }
    // Entries without a value take bytes, too.
    if (load->stored.size() + entry.value.size() > kMaxBatchBytes) {
      return InvalidArgument("its entries take more than ", kMaxBatchBytes,
                             " bytes");
    }
    load->value_bytes += entry.value.size();
    if (entry.type == ChangeType::kDeleteFamilyVersion) {
      load->row_deletes.Add({entry});
      load->version_deletes[std::string(row)].Add({entry});
    }
    if (entry.timestamp_ms > timestamp_ms_ &&
        entry.timestamp_ms <=
            opened_.shared->clock.WallNow() + GivenTimes::kMaxAheadMs) {
      newest_ms_ = std::max(newest_ms_, entry.timestamp_ms);
    }
    if (entry.type == ChangeType::kPut) {
      load->oldest_put_ms = std::min(load->oldest_put_ms, entry.timestamp_ms);
    }
    load->last = {entry.type, entry.timestamp_ms, {}};
    const std::string head =
        versioned ? EncodeEntryHead(entry)
                  : EncodeCellHead(entry.timestamp_ms, entry.ttl_ms);
    // The format version stands before the first entry alone.
    load->stored.append(head, load->stored.empty() ? 0 : 1);
    load->stored.append(entry.value);
    return s;
  }

  // Writes the last cell, and begins with the next one, whose key is key_.
  Status BeginCell(FamilyLoad* load, std::string_view row) {
    Status s = WriteCell(load);
    const auto& [name, family] = *load->family;
    if (s.ok() && family.format == CellFormat::kVersioned &&
        !load->key.starts_with(std::string_view(key_).substr(
            0, opened_.key_layout().RowBytes(key_)))) {
      load->row_deletes.clear();
      if (opened_.shared->MayHave(kFamilyVersionDeletes)) {
        PointCells of_row(opened_, *of_store_, /*snapshot=*/nullptr);
        s = of_row.Add(row, name, "");
        if (s.ok()) s = of_row.Read();
        if (s.ok() && of_row.Valid()) {
          load->row_deletes = *of_row.cell().row_deletes;
        }
      }
    }
    load->key.swap(key_);
    load->stored.clear();
    load->value_bytes = 0;
    return s;
  }

  Status WriteCell(FamilyLoad* load) {
    if (load->stored.empty()) return Status::OK();
    const Family& family = load->family->second;
    Status s;
    if (load->writer != nullptr &&
        load->writer->FileSize() >= options_.file_bytes) {
      s = CloseFile(load);
    }
    if (!s.ok()) return s;
    if (load->writer == nullptr) {
      // The family's name may not be one of a file.
      const std::string file = Concat(directory_, "/", family.handle()->GetID(),
                                      "-", load->files.size(), ".sst");
      load->files.emplace_back().file_path = file;
      load->writer = std::make_unique<rocksdb::SstFileWriter>(
          rocksdb::EnvOptions(), opened_.database->GetOptions(family.handle()),
          family.handle());
      s = load->writer->Open(file);
    }
    if (!s.ok()) return s;
    return family.format == CellFormat::kVersioned
               ? load->writer->Merge(load->key, load->stored)
               : load->writer->Put(load->key, load->stored);
  }

  static Status CloseFile(FamilyLoad* load) {
    if (load->writer == nullptr) return Status::OK();
    const Status s = load->writer->Finish(&load->files.back());
    load->writer.reset();
    return s;
  }

  // Adds files with a kDeleteVersion for each version of the store that a
  // kDeleteFamilyVersion of the load takes, so that the version takes no place
  // of another. They come before the load's other files. REQUIRES that there
  // are no writes.
  Status AddVersionDeletes(FamilyLoad* load) {
    const auto others = static_cast<std::ptrdiff_t>(load->files.size());
    Status s;
    for (const auto& [row, deletes] : load->version_deletes) {
      std::string row_bytes;
      if (s.ok()) s = opened_.EncodeRow(row, &row_bytes);
      if (!s.ok()) return s;
      RowCells cells(opened_, load->family, rocksdb::ReadOptions(), row_bytes);
      s = cells.Enter(row, row_bytes);
      for (; s.ok(); cells.Next()) {
        const StoredCell* const cell = cells.Find();
        if (cell == nullptr) break;
        Entries entries;
        s = ReadEntries(*cell, &entries);
        Entries taken;
        for (const Entry& entry : entries) {
          if (entry.type == ChangeType::kPut &&
              deletes.TakesAt(entry.timestamp_ms)) {
            taken.push_back({ChangeType::kDeleteVersion, entry.timestamp_ms});
          }
        }
        if (!s.ok() || taken.empty()) continue;
        load->key = cells.it()->key().ToString();
        load->stored = EncodeEntries(taken);
        s = WriteCell(load);
      }
      if (s.ok()) s = cells.status();
    }
    if (s.ok()) s = CloseFile(load);
    std::rotate(load->files.begin(), load->files.begin() + others,
                load->files.end());
    return s;
  }

  Status Ingest() {
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    CompactionGate::FamilyIds loaded;
    for (const auto& [name, load] : families_) {
      handles.push_back(load.family->second.handle());
      loaded.push_back(handles.back()->GetID());
    }
    // The flush under the locks of all rows has little left to do then.
    Status s = store_.Flush(handles);
    if (!s.ok()) return s;
    opened_.compaction_gate->WaitForNone(loaded, CompactionGate::kLongestWait);
    // A copy has the marks and the files of a load, or neither; a stream of
    // changes ends before it or after it.
    const std::unique_lock no_copies(opened_.families->load_mutex);
    // The load does not come in between a CheckAnd..., Increment or Append's
    // read of a row and its write.
    const RowLocks::Guard no_writes = store_.writer.locks.LockAll();
    // The clock may have passed the time of the load again.
    if (opened_.shared->clock.starts() != clock_starts_) {
      return Status::Aborted("the store's clock was reset during the load");
    }
    // The files are on the disk at once, so the clock's bound and all earlier
    // writes must be there, too. SyncWAL would stop with an assertion after a
    // write that failed (7.8.3).
    s = store_.writer.CoverTimestamp(newest_ms_);
    if (s.ok()) s = opened_.CheckWritable();
    // No wait for compactions, or for another flush that has one.
    rocksdb::FlushOptions at_once;
    at_once.allow_write_stall = true;
    if (s.ok()) s = opened_.database->Flush(at_once, handles);
    for (auto& [name, load] : families_) {
      // Loaded puts that it deletes would take the places of visible versions,
      // and puts that were left out would be visible without it.
      if (load.family->second.shared_rules->FamilyVersionDeletes() !=
          load.known_version_deletes) {
        return Aborted("a DeleteFamilyVersion was written to ",
                       QuotedFamily(name),
                       ", or removed from it, during the load: load again");
      }
      if (s.ok()) s = AddVersionDeletes(&load);
    }
    // All cells of a family may have been left out.
    std::erase_if(families_, [](const auto& family) {
      return family.second.files.empty();
    });
    if (!s.ok() || families_.empty()) return s;
    // Nothing comes between the marks and the numbers: another load may
    // announce what it adds.
    const std::lock_guard no_records(store_.writer.records_mutex);
    rocksdb::WriteBatch marks;
    std::vector<rocksdb::IngestExternalFileArg> ingestions;
    for (const auto& [name, load] : families_) {
      MarkLoad(name, load.files.size(), &marks);
      rocksdb::IngestExternalFileArg& ingestion = ingestions.emplace_back();
      ingestion.column_family = load.family->second.handle();
      for (const rocksdb::ExternalSstFileInfo& file : load.files) {
        ingestion.external_files.push_back(file.file_path);
        ingestion.files_checksums.push_back(file.file_checksum);
        ingestion.files_checksum_func_names.push_back(
            file.file_checksum_func_name);
      }
      // RocksDB would read the files while writes wait.
      ingestion.options.verify_file_checksum = false;
      ingestion.options.move_files = true;
      // Written into a file, it would be refused when it is ingested again.
      ingestion.options.write_global_seqno = false;
    }
    s = opened_.database.WriteSynced(&marks);
    if (!s.ok()) return s;
    for (auto& [name, load] : families_) {
      SharedRules& rules = *load.family->second.shared_rules;
      rules.oldest_put.Note(load.oldest_put_ms);
      if (!load.version_deletes.empty()) rules.NoteFamilyVersionDelete();
      load.unreadable_files = UnreadableFiles(load);
    }
    // Tells readers of the log how many numbers the load took. Without it, the
    // stream of changes does not go on after the load. Once the files are
    // added, it needs no memory of its own.
    rocksdb::WriteBatch end(/*reserved_bytes=*/64);
    const uint64_t number = opened_.database->GetLatestSequenceNumber();
    {
      const CompactionGate::Closed no_compactions(opened_.compaction_gate.get(),
                                                  std::move(loaded));
      // None of the loaded families begins one, as their memtables are empty.
      opened_.database.WaitForFlushes();
      const std::unique_lock no_snapshots(opened_.families->snapshot_mutex);
      may_be_loaded_ = true;
      s = opened_.database->IngestExternalFiles(ingestions);
    }
    no_writes.NoteWideWrite();
    // Later puts step past the load's cells, as past those of other writes.
    opened_.shared->clock.Note(newest_ms_);
    if (newest_ms_ > timestamp_ms_) {
      opened_.shared->clock.RaiseTo(newest_ms_ + 1);
    }
    MarkLoadEnd(opened_.database->GetLatestSequenceNumber() - number, &end);
    lacks_end_ = !opened_.database.WriteSynced(&end).ok();
    for (const auto& [name, load] : families_) {
      if (s.ok()) s = CheckTaken(load);
    }
    return s;
  }

  // RocksDB (7.8.3 to 11.8.1) takes over a file whose first key it cannot read,
  // as one without keys: no get finds its cells.
  size_t UnreadableFiles(const FamilyLoad& load) const {
    rocksdb::ColumnFamilyMetaData listing;
    opened_.database->GetColumnFamilyMetaData(load.family->second.handle(),
                                              &listing);
    size_t unreadable = 0;
    for (const rocksdb::LevelMetaData& level : listing.levels) {
      unreadable += static_cast<size_t>(std::ranges::count_if(
          level.files,
          [](const auto& file) { return file.smallestkey.empty(); }));
    }
    return unreadable;
  }

  Status CheckTaken(const FamilyLoad& load) const {
    if (UnreadableFiles(load) <= load.unreadable_files) return Status::OK();
    // RocksDB leaves those that are in level 0.
    const Slice no_key;
    rocksdb::DeleteFilesInRange(opened_.database.get(),
                                load.family->second.handle(), &no_key, &no_key)
        .PermitUncheckedError();
    return IOError(opened_.path, ": RocksDB could not read a file of ",
                   QuotedFamily(load.family->first),
                   " that it took over, whose cells are missing; other cells "
                   "of the load are in the store: load again");
  }

  Store::Impl& store_;
  const OpenedStore& opened_;
  const SharedFamilies of_store_;
  std::string directory_;
  const BulkLoadOptions options_;
  const FamilyMap* const copied_;  // nullptr: the load is no copy
  const uint64_t clock_starts_;    // before timestamp_ms_ was taken
  const uint64_t timestamp_ms_;
  // The newest of that and the cells' timestamps, but for those that were more
  // than GivenTimes::kMaxAheadMs ahead of the machine's clock when they were
  // added.
  uint64_t newest_ms_;
  bool may_be_loaded_ = false;
  // The log has no end of the load. The next opening, which finds the load's
  // directory, writes one.
  bool lacks_end_ = false;
  // The first error of a file or of memory, or that the load is finished:
  // nothing can be added, or finished, after it.
  Status unusable_;
  std::map<std::string, FamilyLoad, std::less<>> families_;
  std::string key_;  // of the entry that is being added; keeps its memory
};

}  // namespace

Status Store::Impl::NewBulkLoad(const BulkLoadOptions& options,
                                const FamilyMap* copied,
                                std::unique_ptr<BulkLoad>* load) {
  return Change([&]() -> Status {
    if (options.file_bytes == 0) {
      return Status::InvalidArgument("file_bytes is 0, expected at least 1");
    }
    auto begun = std::make_unique<SstLoad>(this, options, copied);
    Status s = begun->Begin();
    if (s.ok()) *load = std::move(begun);
    return s;
  });
}

Status Store::NewBulkLoad(const BulkLoadOptions& options,
                          std::unique_ptr<BulkLoad>* load) {
  return impl_->NewBulkLoad(options, /*copied=*/nullptr, load);
}

}  // namespace rowbloom
