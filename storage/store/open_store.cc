#include "storage/store/open_store.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/printable.h"
#include "storage/format/directory.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/rocksdb_version.h"
#include "storage/format/status_text.h"
#include "storage/store/family_options.h"
#include "storage/store/found_store.h"
#include "storage/store/metadata.h"
#include "storage/store/opening_env.h"
#include "storage/store/point_cells.h"
#include "storage/store/store_impl.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

// The limits of the sizes of write buffers, and of files.
constexpr size_t kMinOptionBytes = size_t{64} << 10;
constexpr size_t kMaxOptionBytes = size_t{64} << 30;

// RocksDB adds to the size of a cache before it divides it among shards. Near
// 2^64 the sum would overflow, and the cache would hold nothing.
constexpr size_t kMaxCacheBytes = std::numeric_limits<size_t>::max() / 2;

// The metadata is a few small records, written often.
constexpr size_t kMetadataWriteBufferBytes = size_t{1} << 20;

constexpr uint32_t kMaxBackgroundJobs = 1024;

// Starting a thread takes longer than opening fewer tables.
constexpr size_t kTablesOfAThread = 4;

// RocksDB reserves 10 for itself, and raises smaller limits to 20.
constexpr uint32_t kMinOpenFiles = 32;
constexpr uint32_t kMaxOpenFiles = std::numeric_limits<int>::max();

// The number of RocksDB's old info logs that are kept.
constexpr size_t kInfoLogFiles = 4;

Status CheckKeyLayout(const KeyLayout& layout) {
  if (!layout.PreservesRowOrder()) {
    return InvalidArgument(
        "key layout ", layout.ToString(),
        " does not keep the order of rows: expected escaped or fixed:N");
  }
  if (const auto valid = KeyLayout::FromString(layout.ToString()); !valid) {
    return Status::InvalidArgument(valid.error());
  }
  if (layout.FixedRowBytes().value_or(0) > kMaxRowBytes) {
    return InvalidArgument("key layout ", layout.ToString(),
                           ": rows have at most ", kMaxRowBytes, " bytes");
  }
  return Status::OK();
}

Status CheckResources(const StoreOptions& options) {
  const size_t own_cache_bytes =
      options.block_cache == nullptr ? options.block_cache_bytes : 0;
  return CheckRanges(
      {{"block_cache_bytes", own_cache_bytes, 0, kMaxCacheBytes},
       {"background_jobs", options.background_jobs, 1, kMaxBackgroundJobs},
       {"write_buffer_bytes", options.write_buffer_bytes, kMinOptionBytes,
        kMaxOptionBytes},
       {"file_bytes", options.file_bytes, kMinOptionBytes, kMaxOptionBytes},
       {"max_open_files", options.max_open_files,
        options.max_open_files == 0 ? 0 : kMinOpenFiles, kMaxOpenFiles}});
}

// Checks the arguments of Open without reading the disk.
Status CheckArguments(StoreOptions options, const std::string& path,
                      const std::vector<FamilyDescriptor>& families) {
  if (path.empty()) {
    return Status::InvalidArgument("the path of the store is empty");
  }
  if (options.block_cache != nullptr &&
      options.block_cache->HasStrictCapacityLimit()) {
    return Status::InvalidArgument(
        "block_cache has a strict capacity limit: RocksDB would fail reads, "
        "flushes and openings while it is full");
  }
  if (!options.key_layout) options.key_layout = KeyLayout::Escaped();
  Status s = CheckKeyLayout(*options.key_layout);
  if (s.ok()) s = CheckResources(options);
  std::set<std::string_view> names;
  for (const FamilyDescriptor& family : families) {
    if (s.ok()) s = CheckFamilyName(family.name);
    if (!s.ok()) return s;
    if (!names.insert(family.name).second) {
      return InvalidArgument(QuotedFamily(family.name), " is listed twice");
    }
    FamilySetup ignored;
    s = MakeFamilySetup(family.name, family.options, options,
                        /*shared=*/nullptr, &ignored);
  }
  return s;
}

// Checks that the store that was found fits the caller's arguments.
Status CheckFound(const StoreOptions& options, const std::string& path,
                  const std::vector<FamilyDescriptor>& families,
                  const FoundStore& found) {
  const Metadata& kept = found.metadata;
  for (const std::string& name : found.column_families) {
    if (!kept.families.contains(name) && !kept.dropped.contains(name)) {
      return InvalidArgument(
          "column family \"", ToPrintable(name), "\" in ", path,
          " was not created by rowbloom: the store cannot be opened with it");
    }
  }
  if (!found.exists()) {
    if (options.create_if_missing && !options.read_only) return Status::OK();
    return Status::NotFound(
        "no store at " + path +
        (found.creation_mark ? ": its creation was interrupted" : ""));
  }
  if (options.key_layout && kept.store.key_layout != *options.key_layout) {
    return InvalidArgument("the store at ", path, " has key layout ",
                           kept.store.key_layout.ToString(), ", not ",
                           options.key_layout->ToString());
  }
  for (const FamilyDescriptor& family : families) {
    if (!found.IsComplete(family.name)) continue;
    const std::string differences =
        DescribeDifferences(kept.families.at(family.name), family.options);
    if (!differences.empty()) {
      return InvalidArgument(QuotedFamily(family.name), " of the store at ",
                             path, " has ", differences);
    }
  }
  return Status::OK();
}

rocksdb::ColumnFamilyDescriptor MetadataColumnFamily() {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = kTableFormatVersion;
  rocksdb::ColumnFamilyDescriptor descriptor;
  descriptor.options.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(table));
  descriptor.options.write_buffer_size = kMetadataWriteBufferBytes;
  descriptor.options.compression = rocksdb::kNoCompression;
  return descriptor;
}

// One call of OpenStore or, for reading, one of its tries.
class Opener {
 public:
  Opener(const StoreOptions& options, const std::string& path,
         const std::vector<FamilyDescriptor>& families,
         const WallClock& wall_clock, const StoreCut& cut = {})
      : families_(families) {
    options_ = options;
    if (options_.env == nullptr) options_.env = rocksdb::Env::Default();
    opened_.shared = std::make_shared<SharedState>(wall_clock);
    opened_.path = WithoutTrailingSlashes(path);
    opened_.env = std::make_unique<StoreEnv>(
        options_.env,
        std::make_shared<StoreFiles>(options_.env->GetFileSystem(),
                                     opened_.listener, cut),
        opened_.listener, opened_.path);
    env_ = opened_.env.get();
  }

  Status Run(std::unique_ptr<Store::Impl>* store) {
    Status s = CheckArguments(options_, path(), families_);
    if (s.ok()) s = Writes() ? FindAndLock() : Find();
    if (!s.ok()) return s;
    StoreRecord& kept = found_.metadata.store;
    // Options that the caller left unset are those of the store.
    if (!options_.key_layout) options_.key_layout = kept.key_layout;
    if (!found_.exists()) kept = {*options_.key_layout, /*rare_kinds=*/0};
    // RocksDB begins compactions, which read this, before it is open.
    opened_.shared->rare_kinds = kept.rare_kinds;
    if (options_.block_cache == nullptr) {
      options_.block_cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
    }
    options_.block_cache_bytes = options_.block_cache->GetCapacity();
    opened_.compaction_gate =
        std::make_shared<CompactionGate>(options_.background_jobs);
    s = OpenDatabase();
    if (s.ok() && Writes()) s = RemoveRemains();
    if (s.ok() && Writes()) s = CompleteStore();
    if (s.ok()) s = OpenFamilies();
    if (s.ok() && Writes()) s = EndMerging();
    if (!s.ok()) return s;
    opened_.shared->clock.Start(found_.metadata.clock_bound_ms);
    if (Writes()) CompleteRowDeletes();
    if (Writes() && options_.auto_compaction) MergeTinyFiles();
    *store = std::move(store_);
    return s;
  }

 private:
  bool Writes() const { return !options_.read_only; }
  const std::string& path() const { return opened_.path; }
  std::string MarkPath() const { return path() + "/" + kCreationMark; }

  Status Find() {
    const Status s = FindStore(env_, path(), &found_);
    return s.ok() ? CheckFound(options_, path(), families_, found_) : s;
  }

  // Finds the store, and takes its lock. A store without a LOCK, such as a
  // copy, gets one only once it is accepted.
  Status FindAndLock() {
    const std::string lock = path() + "/LOCK";
    Status s = FileExists(env_, lock);
    if (!s.ok()) {
      s = Find();
      if (s.ok() && !found_.exists()) s = MakeDirectory();
      // A store that another caller is creating may not look like one yet.
      if (!s.ok() && !FileExists(env_, lock).ok()) return s;
    }
    s = opened_.env->held_lock.Take(lock,
                                    "the store at " + path() +
                                        " is open for writing already, in this "
                                        "process or another one");
    if (s.ok()) s = Find();
    opened_.listener->SetWrites();
    if (!s.ok() || found_.exists() || found_.creation_mark) return s;
    // The mark needs the lock: without it, another caller may have created the
    // store by now, and opened it.
    found_.creation_mark = true;
    return rocksdb::WriteStringToFile(env_, "", MarkPath());
  }

  Status MakeDirectory() {
    const bool is_new = FileExists(env_, path()).IsNotFound();
    const Status s = env_->CreateDirIfMissing(path());
    return s.ok() ? SyncParent(env_, path(), is_new) : s;
  }

  rocksdb::DBOptions DatabaseOptions() const {
    rocksdb::DBOptions options;
    if (options_.statistics) {
      options.statistics = NewFilterStatistics(rocksdb::CreateDBStatistics());
      options.statistics->set_stats_level(rocksdb::kExceptHistogramOrTimers);
    }
    options.env = env_;
    options.listeners = {opened_.listener, opened_.compaction_gate};
    options.create_if_missing = !found_.exists();
    options.keep_log_file_num = kInfoLogFiles;
    options.max_background_jobs = static_cast<int>(options_.background_jobs);
    options.max_open_files = options_.max_open_files == 0
                                 ? -1
                                 : static_cast<int>(options_.max_open_files);
    // RocksDB starts them anew for each family that has a table.
    const size_t tables_of_a_family =
        found_.table_files / (1 + found_.column_families.size());
    options.max_file_opening_threads = static_cast<int>(
        std::clamp<size_t>(tables_of_a_family / kTablesOfAThread, 1, 16));
    options.rate_limiter = options_.rate_limiter;
    options.max_bgerror_resume_count = 0;  // Listener
    options.info_log = options_.info_log;
    options.file_checksum_gen_factory =
        rocksdb::GetFileChecksumGenCrc32cFactory();
    constexpr uint64_t kMiB = uint64_t{1} << 20;
    options.WAL_ttl_seconds = options_.kept_log_seconds;
    // RocksDB multiplies by kMiB again.
    options.WAL_size_limit_MB = std::min(
        options_.kept_log_bytes / kMiB + (options_.kept_log_bytes % kMiB != 0),
        std::numeric_limits<uint64_t>::max() / kMiB);
    // The rarely written column family of the metadata keeps old log files
    // until this makes RocksDB flush it.
    const auto& kept = found_.metadata.families;
    const auto new_families = static_cast<size_t>(std::ranges::count_if(
        families_, [&kept](const FamilyDescriptor& family) {
          return !kept.contains(family.name);
        }));
    options.max_total_wal_size =
        2 * options_.write_buffer_bytes * (1 + kept.size() + new_families);
    return options;
  }

  // Opens the complete families, and those whose drop is to be completed.
  // Creates an empty database if there is no store.
  Status OpenDatabase() {
    std::vector<rocksdb::ColumnFamilyDescriptor> column_families = {
        MetadataColumnFamily()};
    const Metadata& kept = found_.metadata;
    for (const std::string& name : found_.column_families) {
      const auto found = kept.families.find(name);
      const bool is_family = found != kept.families.end();
      FamilySetup setup;
      const Status s = MakeFamilySetup(
          name, is_family ? found->second : kept.dropped.at(name), options_,
          opened_.shared, &setup);
      if (!s.ok()) return Prefixed(path() + ": ", s);
      column_families.push_back(std::move(setup.descriptor));
      if (is_family) store_families_[name] = std::move(setup.family);
    }
    for (const auto& [name, max_versions] : kept.merged_versions) {
      const auto merged = store_families_.find(name);
      if (merged == store_families_.end()) continue;
      merged->second.shared_rules->SetMerged(max_versions);
    }
    const FrontFilterOptions front_filter{
        .memory_limit_bytes = options_.front_filter_limit_bytes,
        .charged_cache = options_.block_cache};
    const Status s = opened_.database.Open(
        DatabaseOptions(), path(), column_families,
        !Writes()               ? Database::Access::kReadOnly
        : options_.transactions ? Database::Access::kTransactions
                                : Database::Access::kReadWrite,
        options_.front_filter_limit_bytes > 0 ? &front_filter : nullptr);
    if (!s.ok()) return NamingDamagedFile(env_, path(), s);
    // RocksDB may call the listener while a wrapper is being destroyed.
    if (Writes()) opened_.listener->SetDatabase(opened_.database->GetRootDB());
    return s;
  }

  // Completes the changes of an earlier process, and creates missing families.
  Status CompleteStore() {
    Status s;
    for (const auto& [name, kept] : found_.metadata.dropped) {
      if (s.ok()) s = CompleteDrop(name, &opened_.database);
    }
    Metadata& metadata = found_.metadata;
    rocksdb::WriteBatch records;
    if (!found_.exists()) PutStoreRecord(metadata.store, &records);
    for (const FamilyDescriptor& family : families_) {
      if (found_.IsComplete(family.name)) continue;
      metadata.families[family.name] = family.options;
      PutFamilyRecord(FamilyState::kKept, family.name, family.options,
                      &records);
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> missing;
    for (const auto& [name, options] : metadata.families) {
      if (store_families_.contains(name)) continue;
      FamilySetup setup;
      if (s.ok()) {
        s = MakeFamilySetup(name, options, options_, opened_.shared, &setup);
      }
      if (!s.ok()) return s;
      if (found_.exists()) PutTruncation(name, options, &records);
      missing.push_back(std::move(setup.descriptor));
      store_families_[name] = std::move(setup.family);
    }
    if (s.ok() && records.Count() > 0) {
      s = opened_.database.WriteSynced(&records);
    }
    if (s.ok() && !missing.empty()) {
      s = opened_.database.CreateColumnFamilies(missing);
    }
    return s.ok() && found_.creation_mark ? env_->DeleteFile(MarkPath()) : s;
  }

  // Removes what a crash or an error left. What cannot be removed now stays
  // until the next opening.
  Status RemoveRemains() {
    std::vector<std::string> names;
    const Status s = ListDirectory(env_, path(), &names);
    if (!s.ok()) return s;
    // RocksDB does not delete its files of options that it could not finish.
    for (const std::string& name : names) {
      if (name.starts_with("OPTIONS-") && name.ends_with(".dbtmp")) {
        env_->DeleteFile(path() + "/" + name).PermitUncheckedError();
      }
    }
    std::erase_if(names, [](const std::string& name) {
      return !name.starts_with(kLoadDirectoryPrefix);
    });
    return names.empty() ? s : EndLoads(names);
  }

  // Removes the directories of bulk loads. The last load may have taken
  // sequence numbers without a record of it, which is written before anything
  // else. No load uses the directories, as RocksDB may have taken over their
  // files.
  Status EndLoads(const std::vector<std::string>& names) {
    rocksdb::WriteBatch end;
    MarkLoadEnd(kUnknownLoadNumbers, &end);
    const Status s = opened_.database.WriteSynced(&end);
    if (!s.ok()) return s;
    for (const std::string& name : names) {
      RemoveTree(env_, path() + "/" + name).PermitUncheckedError();
    }
    return s;
  }

  // Completes the deletes that loads of earlier versions left pending. Those
  // that fail now are left to the next opening.
  void CompleteRowDeletes() {
    for (const PendingDelete& pending : found_.metadata.pending_deletes) {
      const Status s = CompleteRowDelete(pending);
      if (s.ok()) continue;
      rocksdb::Warn(opened_.database->GetDBOptions().info_log.get(),
                    "rowbloom: a delete of a load is not completed: %s",
                    s.ToString().c_str());
    }
  }

  // Writes the delete once more, if the row has it: a write applies it to all
  // columns.
  Status CompleteRowDelete(const PendingDelete& pending) {
    const FamilyMap& families = opened_.families->Unshared();
    if (families.contains(pending.family)) {
      PointCells row(opened_, families, /*snapshot=*/nullptr);
      Status s = row.Add(pending.row, pending.family, /*qualifier=*/"");
      if (s.ok()) s = row.Read();
      if (s.ok() && row.Valid() &&
          row.cell().row_deletes->TakesAt(pending.timestamp_ms)) {
        const Change change{.type = ChangeType::kDeleteFamilyVersion,
                            .row = pending.row,
                            .family = pending.family,
                            .timestamp_ms = pending.timestamp_ms};
        s = store_->writer.Write({&change, 1}, {});
      }
      if (!s.ok()) return s;
    }
    rocksdb::WriteBatch done;
    done.Delete(pending.key).PermitUncheckedError();
    return opened_.database->Write(rocksdb::WriteOptions(), &done);
  }

  // Tells whether the family may have range deletions. A memtable, which only
  // an opening for reading has here, may have some.
  bool MayHaveRangeDeletions(rocksdb::ColumnFamilyHandle* family) const {
    uint64_t entries = 0;
    rocksdb::TablePropertiesCollection files;
    return !opened_.database->GetIntProperty(
               family, rocksdb::DB::Properties::kNumEntriesActiveMemTable,
               &entries) ||
           entries > 0 ||
           !opened_.database->GetPropertiesOfAllTables(family, &files).ok() ||
           std::ranges::any_of(files, [](const auto& file) {
             return file.second->num_range_deletions > 0;
           });
  }

  // Connects the families with the open column families.
  Status OpenFamilies() {
    for (auto& [name, family] : store_families_) {
      family.Connect(opened_.database, name);
      if (kRocksdbForgetsBlocks && MayHaveRangeDeletions(family.handle())) {
        family.shared_rules->may_have_range_deletions = true;
      }
    }
    for (const auto& [name, options] : found_.metadata.families) {
      if (!Writes() && !store_families_.contains(name)) {
        opened_.unfinished.insert(name);
      }
    }
    for (const FamilyDescriptor& family : families_) {
      FamilyMap::const_iterator found;
      Status s = opened_.FindFamily(store_families_, family.name, &found);
      if (!s.ok()) return s;
    }
    opened_.families =
        std::make_unique<FamilyTable>(std::move(store_families_));
    return Status::OK();
  }

  // Ends the merging of a family's entries by more versions than it keeps
  // (SharedRules::Merging), if none of its files has entries to merge. RocksDB
  // has flushed the memtables, and no thread reads or writes yet.
  Status EndMerging() {
    // Pending deletes are entries that are still to be written.
    if (!found_.metadata.pending_deletes.empty()) return Status::OK();
    for (const auto& [name, family] : opened_.families->Unshared()) {
      if (family.shared_rules->Merging() == family.rules()) continue;
      rocksdb::TablePropertiesCollection files;
      Status s =
          opened_.database->GetPropertiesOfAllTables(family.handle(), &files);
      // A file whose properties cannot be read may have some.
      if (!s.ok() || std::ranges::any_of(files, [](const auto& file) {
            return file.second->num_merge_operands > 0;
          })) {
        continue;
      }
      rocksdb::WriteBatch batch;
      PutMergedVersions(name, 0, &batch);
      s = opened_.database.WriteSynced(&batch);
      if (!s.ok()) return s;
      family.shared_rules->SetMerged(0);
    }
    return Status::OK();
  }

  // Merges many tiny neighbours of one level. An opening makes a file from the
  // log, and RocksDB moves a file that overlaps with none down unchanged. So
  // processes that write little would leave ever more files. Files that cannot
  // be merged now are left to the next opening.
  void MergeTinyFiles() const {
    constexpr uint64_t kTinyBytes = uint64_t{1} << 20;
    constexpr size_t kMany = 32;
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kDisableCompressionOption;  // the family's
    Listener::SetCompactsFiles(true);
    for (const auto& [name, family] : opened_.families->Unshared()) {
      rocksdb::ColumnFamilyMetaData listing;
      opened_.database->GetColumnFamilyMetaData(family.handle(), &listing);
      for (const rocksdb::LevelMetaData& level : listing.levels) {
        if (level.level == 0) continue;
        std::vector<std::string> neighbours;
        for (const rocksdb::SstFileMetaData& file : level.files) {
          const bool is_tiny = file.size < kTinyBytes;
          if (is_tiny) neighbours.push_back(file.name);
          if (is_tiny && &file != &level.files.back()) continue;
          if (neighbours.size() >= kMany) {
            opened_.database
                ->CompactFiles(options, family.handle(), neighbours,
                               level.level)
                .PermitUncheckedError();
          }
          neighbours.clear();
        }
      }
    }
    Listener::SetCompactsFiles(false);
  }

  const std::vector<FamilyDescriptor>& families_;
  rocksdb::Env* env_;
  FoundStore found_;
  std::unique_ptr<Store::Impl> store_ = std::make_unique<Store::Impl>();
  OpenedStore& opened_ = store_->opened;
  StoreOptions& options_ = opened_.options;
  FamilyMap store_families_;  // moved to opened_ once all are open
};

// Opens the store as of one time. Meanwhile a writer may delete logs and other
// files that it no longer needs. An error counts only if no file was created or
// deleted meanwhile. RocksDB does not notice a missing log.
Status OpenForReading(const StoreOptions& options, const std::string& path,
                      const std::vector<FamilyDescriptor>& families,
                      const WallClock& wall_clock,
                      std::unique_ptr<Store::Impl>* store) {
  constexpr int kMaxTries = 20;
  rocksdb::Env* const env =
      options.env != nullptr ? options.env : rocksdb::Env::Default();
  Status s;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    StoreCut cut;
    const Status found = FindCut(env, path, &cut);
    std::unique_ptr<Store::Impl> opened;
    s = found.IsTryAgain()
            ? found
            : Opener(options, path, families, wall_clock, cut).Run(&opened);
    if (s.ok()) s = found;
    WrittenFiles after;
    FindWrittenFiles(env, path, &after).PermitUncheckedError();
    WrittenFiles changed;  // files that were created or deleted
    std::set_symmetric_difference(
        cut.files.begin(), cut.files.end(), after.begin(), after.end(),
        std::inserter(changed, changed.end()), after.value_comp());
    for (const auto& [name, bytes] : changed) {
      if (!s.ok()) break;
      if (name.starts_with("OPTIONS-")) s = TryAgain("families changed");
      const bool is_gone = !after.contains(name);
      if (is_gone && name.ends_with(".log")) s = TryAgain("a log is gone");
    }
    if (s.ok() || (changed.empty() && !s.IsTryAgain() && !s.IsBusy())) {
      *store = std::move(opened);
      return s;
    }
  }
  return TryAgain("the store at ", path,
                  " could not be opened for reading while its writer changes "
                  "it, each of ",
                  kMaxTries, " times; at last: ", s.ToString());
}

}  // namespace

Status CompleteDrop(const std::string& name, Database* database) {
  Status s = database->DropColumnFamily(name);
  rocksdb::WriteBatch batch;
  DeleteDroppedRecord(name, &batch);
  // If a crash restores the record, the drop is completed once more.
  return s.ok() ? (*database)->Write(rocksdb::WriteOptions(), &batch) : s;
}

Status OpenStore(const StoreOptions& options, const std::string& path,
                 const std::vector<FamilyDescriptor>& families,
                 const WallClock& wall_clock, std::unique_ptr<Store>* store) {
  Status s = CheckRocksDbVersion();
  if (!s.ok()) return s;
  std::unique_ptr<Store::Impl> opened;
  s = options.read_only
          ? OpenForReading(options, path, families, wall_clock, &opened)
          : Opener(options, path, families, wall_clock).Run(&opened);
  if (!s.ok()) return s;
  rocksdb::Logger* const log =
      opened->opened.database->GetDBOptions().info_log.get();
  auto made = std::make_unique<Store>(std::move(opened));
  for (const std::string& warning : made->Warnings()) {
    rocksdb::Warn(log, "rowbloom: %s", warning.c_str());
  }
  *store = std::move(made);
  return s;
}

Status Store::Open(const StoreOptions& options, const std::string& path,
                   const std::vector<FamilyDescriptor>& families,
                   std::unique_ptr<Store>* store) {
  return CatchExceptions([&] {
    return OpenStore(options, path, families, SystemWallClock, store);
  });
}

}  // namespace rowbloom
