#include "storage/store/open_store.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/printable.h"
#include "storage/store/database.h"
#include "storage/store/directory.h"
#include "storage/store/family_changes.h"
#include "storage/store/family_options.h"
#include "storage/store/manifest_end.h"
#include "storage/store/metadata.h"
#include "storage/store/sst_load.h"
#include "storage/store/status_text.h"
#include "storage/store/store_impl.h"
#include "storage/store/version_merge.h"
#include "storage/sync_directory.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

// Of write buffers, and of files.
constexpr size_t kMinOptionBytes = size_t{64} << 10;
constexpr size_t kMaxOptionBytes = size_t{64} << 30;

// A few small records, written often.
constexpr size_t kMetadataWriteBufferBytes = size_t{1} << 20;

// Old info logs of RocksDB that are kept.
constexpr size_t kInfoLogFiles = 4;

// After an error in the background RocksDB takes no more writes. From a full
// disk it would recover by itself, but closing may then wait for that for ever
// (seen with 7.8.3).
class NoAutoRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                            Status /*error*/, bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

// RocksDB writes on in a new log before it syncs the one before, of which the
// disk may then lack the end: opening would not notice that it is missing, and
// go on with the new log. Called while no write goes on.
class LogSyncer final : public rocksdb::EventListener {
 public:
  void SetDatabase(rocksdb::DB* database) { database_ = database; }
  void OnMemTableSealed(const rocksdb::MemTableInfo& /*info*/) override {
    rocksdb::DB* const database = database_;
    // After an error RocksDB takes no more writes, and stops with an assertion
    // (7.8.3) when a log is synced again that could not be.
    if (database != nullptr && !database->SyncWAL().ok()) database_ = nullptr;
  }

 private:
  std::atomic<rocksdb::DB*> database_{nullptr};
};

// What is at the path of a store.
struct Findings {
  bool creation_mark = false;
  // The column families of a RocksDB database but "default"; nullopt: no
  // database.
  std::optional<std::set<std::string>> column_families;
  // nullopt: no store record.
  std::optional<Metadata> metadata;

  std::map<std::string, FamilyOptions> Families() const {
    return metadata ? metadata->families
                    : std::map<std::string, FamilyOptions>();
  }
};

Status OpenElsewhere(const std::string& path) {
  return Status::Busy("the store at " + path +
                      " is open for writing already, in this process or "
                      "another one");
}

// One call of OpenStore, for reading one try of it.
class Opener {
 public:
  Opener(const StoreOptions& options, const std::string& path,
         const std::vector<FamilyDescriptor>& families,
         const Surroundings& surroundings)
      : options_(options), families_(families), surroundings_(surroundings) {
    opened_.shared = std::make_shared<SharedState>(surroundings.wall_clock);
    opened_.path = path;
  }

  Status Run(std::unique_ptr<Store>* store) {
    Status s = CheckOptions();
    if (s.ok() && !options_.read_only) s = CheckUnlocked();
    if (s.ok()) s = Look();
    if (s.ok()) s = CheckFindings();
    if (!s.ok()) return s;
    SettleOptions();
    // Nothing was changed so far.
    if (options_.read_only) {
      s = OpenDatabase();
    } else {
      if (!found_.metadata) s = PrepareCreation();
      if (s.ok()) s = OpenDatabase();
      if (s.ok()) s = CompleteDrops();
      if (s.ok()) s = CompleteStore();
    }
    if (s.ok()) s = OpenFamilies();
    if (s.ok() && !options_.read_only) {
      s = RemoveLoadDirectories(surroundings_.env, path());
    }
    if (!s.ok()) return s;
    if (found_.metadata) {
      opened_.shared->clock.Start(found_.metadata->clock_bound_ms);
      const StoreRecord& record = found_.metadata->store;
      opened_.shared->has_row_deletes = record.row_deletes;
      opened_.shared->has_family_version_deletes =
          record.family_version_deletes;
    } else {
      opened_.shared->has_row_deletes = false;
    }
    rocksdb::Logger* const log =
        opened_.database->GetDBOptions().info_log.get();
    *store = std::make_unique<StoreImpl>(std::move(opened_));
    for (const std::string& warning : (*store)->Warnings()) {
      rocksdb::Warn(log, "rowbloom: %s", warning.c_str());
    }
    return s;
  }

 private:
  const std::string& path() const { return opened_.path; }
  std::string MarkPath() const { return path() + "/" + kCreationMark; }

  // Whether `name` is a family with all that belongs to it.
  bool IsComplete(const std::string& name) const {
    return found_.metadata && found_.metadata->families.contains(name) &&
           found_.column_families->contains(name);
  }

  Status CheckOptions() {
    if (path().empty()) {
      return Status::InvalidArgument("the path of the store is empty");
    }
    const KeyLayout layout = options_.key_layout.value_or(KeyLayout::Escaped());
    if (!layout.PreservesRowOrder()) {
      return Status::InvalidArgument(
          "key layout " + layout.ToString() +
          " does not keep the order of rows: expected escaped or fixed:N");
    }
    if (const auto valid = KeyLayout::FromString(layout.ToString()); !valid) {
      return Status::InvalidArgument(valid.error());
    }
    if (layout.FixedRowBytes().value_or(0) > kMaxRowBytes) {
      return Status::InvalidArgument("key layout " + layout.ToString() +
                                     ": rows have at most " +
                                     std::to_string(kMaxRowBytes) + " bytes");
    }
    Status s = CheckBytes("write_buffer_bytes", options_.write_buffer_bytes);
    if (s.ok()) s = CheckBytes("file_bytes", options_.file_bytes);
    if (!s.ok()) return s;
    StoreOptions settled = options_;
    settled.key_layout = layout;
    settled.row_aligned_files = false;
    std::set<std::string_view> names;
    for (const FamilyDescriptor& family : families_) {
      if (s = CheckFamilyName(family.name); !s.ok()) return s;
      if (!names.insert(family.name).second) {
        return Status::InvalidArgument("family \"" + family.name +
                                       "\" is listed twice");
      }
      FamilySetup ignored;
      s = MakeFamilySetup(family.name, family.options, settled,
                          /*cache=*/nullptr, opened_.shared, &ignored);
      if (!s.ok()) return s;
    }
    return Status::OK();
  }

  static Status CheckBytes(const char* option, size_t bytes) {
    if (bytes >= kMinOptionBytes && bytes <= kMaxOptionBytes) {
      return Status::OK();
    }
    return Status::InvalidArgument(std::string(option) + " is " +
                                   std::to_string(bytes) + ", expected " +
                                   std::to_string(kMinOptionBytes) + " to " +
                                   std::to_string(kMaxOptionBytes));
  }

  // Busy: a writer has the store open. What it is changing may not even look
  // like a store.
  Status CheckUnlocked() {
    const std::string lock_path = path() + "/LOCK";
    rocksdb::Env* env = surroundings_.env;
    if (!env->FileExists(lock_path).ok()) return Status::OK();
    rocksdb::FileLock* lock = nullptr;
    if (Status s = env->LockFile(lock_path, &lock); !s.ok()) {
      return IsLocked(s) ? OpenElsewhere(path()) : s;
    }
    return env->UnlockFile(lock);
  }

  // Fills found_ without touching anything.
  Status Look() {
    rocksdb::Env* env = surroundings_.env;
    Status s = env->FileExists(path());
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) return s;
    bool is_directory = false;
    s = env->IsDirectory(path(), &is_directory);
    if (!s.ok()) return s;
    if (!is_directory) {
      return Status::InvalidArgument(path() + " is not a directory");
    }
    std::vector<std::string> entries;
    s = ListDirectory(env, path(), &entries);
    if (!s.ok()) return s;
    const auto has = [&entries](std::string_view name) {
      return std::find(entries.begin(), entries.end(), name) != entries.end();
    };
    found_.creation_mark = has(kCreationMark);
    if (has("CURRENT")) return LookIntoDatabase();
    if (!entries.empty() && !found_.creation_mark) {
      return Status::InvalidArgument(
          path() +
          " is not a rowbloom store: it has files, but none named CURRENT");
    }
    return Status::OK();
  }

  Status LookIntoDatabase() {
    rocksdb::DBOptions db_options;
    db_options.env = surroundings_.env;
    std::vector<std::string> names;
    Status s = rocksdb::DB::ListColumnFamilies(db_options, path(), &names);
    // RocksDB says what is wrong with CURRENT, and not where.
    if (s.IsCorruption() && s.ToString().find(path()) == std::string::npos) {
      return Prefixed(path() + ": ", s);
    }
    if (!s.ok()) return s;
    found_.column_families.emplace(names.begin(), names.end());
    found_.column_families->erase(rocksdb::kDefaultColumnFamilyName);
    if (!found_.creation_mark) {
      s = CheckManifestEnd(surroundings_.env, path());
      if (!s.ok()) return s;
    }
    // All of them: a file that is damaged is found before anything is changed.
    std::vector<rocksdb::ColumnFamilyDescriptor> column_families;
    for (const std::string& name : names) {
      column_families.push_back(LookedIntoColumnFamily(name));
    }
    Database database;
    s = database.Open(db_options, path(), column_families,
                      Database::Access::kReadOnly);
    // The options do not fit the database: it is not one of ours.
    if (s.IsInvalidArgument()) return NotOurs(s.ToString());
    if (!s.ok()) return NamingDamagedFile(s);
    s = ReadMetadata(database.get(), path(), &found_.metadata);
    if (!s.ok() || found_.metadata || found_.creation_mark) return s;
    return NotOurs("its column family \"default\" has no record \"store\"");
  }

  // Any family of the store, with its options still unknown. Opening reads the
  // same parts of files as opening for writing does.
  rocksdb::ColumnFamilyDescriptor LookedIntoColumnFamily(
      const std::string& name) const {
    rocksdb::BlockBasedTableOptions table;
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    rocksdb::ColumnFamilyDescriptor descriptor;
    descriptor.name = name;
    descriptor.options.table_factory.reset(
        rocksdb::NewBlockBasedTableFactory(table));
    // A log with merges is not read without one.
    descriptor.options.merge_operator =
        NewVersionMergeOperator(std::make_shared<SharedRules>(RulesOf({})));
    return descriptor;
  }

  // RocksDB leaves the SST out of some messages, and gives a missing one the
  // name that LevelDB gave such files.
  Status NamingDamagedFile(const Status& error) const {
    constexpr std::string_view kSuffix = ".sst";
    constexpr std::string_view kOldSuffix = ".ldb";
    if (!error.IsCorruption()) return error;
    std::string message = error.getState();
    if (const size_t at = message.find(kOldSuffix); at != message.npos) {
      message.replace(at, kOldSuffix.size(), kSuffix);
      return Status::Corruption(message);
    }
    std::vector<std::string> entries;
    if (message.find(kSuffix) != message.npos ||
        !surroundings_.env->GetChildren(path(), &entries).ok()) {
      return error;
    }
    rocksdb::Options options;
    options.env = surroundings_.env;
    for (const std::string& entry : entries) {
      if (!entry.ends_with(kSuffix)) continue;
      const Status s =
          rocksdb::SstFileReader(options).Open(path() + "/" + entry);
      if (!s.ok()) return Prefixed(path() + "/" + entry + ": ", s);
    }
    return error;
  }

  Status NotOurs(const std::string& why) const {
    return Status::InvalidArgument(
        path() + " is a RocksDB database but not a rowbloom store: " + why);
  }

  // Whether what was found is what the caller asked for.
  Status CheckFindings() {
    if (!found_.metadata) {
      if (options_.create_if_missing && !options_.read_only) {
        return Status::OK();
      }
      return Status::NotFound(
          "no store at " + path() +
          (found_.creation_mark ? ": its creation was interrupted" : ""));
    }
    const Metadata& kept = *found_.metadata;
    if (options_.key_layout && kept.store.key_layout != *options_.key_layout) {
      return Status::InvalidArgument(
          "the store at " + path() + " has key layout " +
          kept.store.key_layout.ToString() + ", not " +
          options_.key_layout->ToString());
    }
    for (const std::string& name : *found_.column_families) {
      if (!kept.families.contains(name) && !kept.dropped.contains(name)) {
        return Status::InvalidArgument(
            "column family \"" + ToPrintable(name) + "\" in " + path() +
            " was not created by rowbloom: the store cannot be opened with it");
      }
    }
    for (const FamilyDescriptor& family : families_) {
      if (!IsComplete(family.name)) continue;
      const std::string differences =
          DescribeDifferences(kept.families.at(family.name), family.options);
      if (!differences.empty()) {
        return Status::InvalidArgument("family \"" + family.name +
                                       "\" of the store at " + path() +
                                       " has " + differences);
      }
    }
    return Status::OK();
  }

  // Takes what the caller left open from the store.
  void SettleOptions() {
    const Metadata kept = found_.metadata.value_or(Metadata());
    if (!options_.key_layout) options_.key_layout = kept.store.key_layout;
    if (!options_.row_aligned_files) {
      options_.row_aligned_files = kept.store.row_aligned_files;
    }
    opened_.options = options_;
  }

  // Leaves a directory with the mark, and perhaps an empty database.
  Status PrepareCreation() {
    rocksdb::Env* const env = surroundings_.env;
    Status s = env->CreateDirIfMissing(path());
    if (s.ok()) s = SyncDirectory(env, ParentOf(path()));
    if (!s.ok()) return s;
    found_.creation_mark = true;
    return rocksdb::WriteStringToFile(env, "", MarkPath());
  }

  rocksdb::ColumnFamilyDescriptor MetadataColumnFamily() const {
    rocksdb::BlockBasedTableOptions table;
    table.format_version = kTableFormatVersion;
    rocksdb::ColumnFamilyDescriptor descriptor;
    descriptor.options.table_factory.reset(
        rocksdb::NewBlockBasedTableFactory(table));
    descriptor.options.write_buffer_size = kMetadataWriteBufferBytes;
    descriptor.options.compression = rocksdb::kNoCompression;
    return descriptor;
  }

  // Opens the complete families; creates an empty database in a creation.
  Status OpenDatabase() {
    opened_.block_cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
    std::vector<rocksdb::ColumnFamilyDescriptor> column_families = {
        MetadataColumnFamily()};
    if (found_.metadata) {
      for (const auto& [name, kept] : found_.metadata->families) {
        if (!IsComplete(name)) continue;
        FamilySetup setup;
        Status s = SetUp(name, kept, &setup);
        if (!s.ok()) return Prefixed(path() + ": ", s);
        column_families.push_back(std::move(setup.descriptor));
      }
      for (const auto& [name, kept] : found_.metadata->dropped) {
        if (!found_.column_families->contains(name)) continue;
        FamilySetup setup;
        Status s = MakeSetup(name, kept, &setup);
        if (!s.ok()) return Prefixed(path() + ": ", s);
        column_families.push_back(std::move(setup.descriptor));
      }
    }
    rocksdb::DBOptions options;
    if (options_.statistics) {
      opened_.statistics = NewFilterStatistics(rocksdb::CreateDBStatistics());
      opened_.statistics->set_stats_level(rocksdb::kExceptHistogramOrTimers);
      options.statistics = opened_.statistics;
    }
    options.env = surroundings_.env;
    options.create_if_missing = !found_.metadata;
    options.keep_log_file_num = kInfoLogFiles;
    const auto log_syncer = std::make_shared<LogSyncer>();
    options.listeners = {std::make_shared<NoAutoRecovery>(), log_syncer};
    // The rarely written column family of the metadata keeps old log files
    // until this makes RocksDB flush it.
    options.max_total_wal_size =
        2 * options_.write_buffer_bytes *
        (1 + found_.Families().size() + families_.size());
    Status s = opened_.database.Open(options, path(), column_families,
                                     options_.read_only
                                         ? Database::Access::kReadOnly
                                         : Database::Access::kReadWrite);
    if (IsLocked(s)) return OpenElsewhere(path());
    if (s.ok() && !options_.read_only) {
      log_syncer->SetDatabase(opened_.database.get());
    }
    if (!s.ok() || !found_.metadata || options_.read_only) return s;
    // Another process may have written until the lock was ours.
    std::optional<Metadata> now;
    s = ReadMetadata(opened_.database.get(), path(), &now);
    if (!s.ok()) return s;
    if (!now || now->store != found_.metadata->store ||
        now->families != found_.metadata->families ||
        now->dropped != found_.metadata->dropped) {
      return Status::TryAgain("the store at " + path() +
                              " was changed by another process while it was "
                              "being opened");
    }
    found_.metadata = std::move(now);
    return s;
  }

  // Drops what was being dropped when the store was last open.
  Status CompleteDrops() {
    if (!found_.metadata) return Status::OK();
    for (const auto& [name, kept] : found_.metadata->dropped) {
      Status s = CompleteDrop(name, &opened_.database);
      if (!s.ok()) return s;
      found_.column_families->erase(name);
    }
    return Status::OK();
  }

  // Writes the records and creates the column families that are missing.
  Status CompleteStore() {
    std::map<std::string, FamilyOptions> missing;
    for (const auto& [name, kept] : found_.Families()) {
      if (!IsComplete(name)) missing.emplace(name, kept);
    }
    rocksdb::WriteBatch batch;
    Status s;
    StoreRecord record = found_.metadata ? found_.metadata->store
                                         : StoreRecord{.row_deletes = false};
    record.key_layout = *options_.key_layout;
    record.row_aligned_files = *options_.row_aligned_files;
    if (!found_.metadata || found_.metadata->store != record) {
      s = PutStoreRecord(record, &batch);
    }
    for (const FamilyDescriptor& family : families_) {
      if (!s.ok()) return s;
      if (IsComplete(family.name)) continue;
      missing.insert_or_assign(family.name, family.options);
      s = PutFamilyRecord(family.name, family.options, &batch);
    }
    if (s.ok() && batch.Count() > 0) {
      rocksdb::WriteOptions synced;
      synced.sync = true;
      s = opened_.database->Write(synced, &batch);
    }
    if (!s.ok()) return s;
    for (const auto& [name, options] : missing) {
      FamilySetup setup;
      s = SetUp(name, options, &setup);
      if (s.ok()) s = opened_.database.CreateColumnFamily(setup.descriptor);
      if (!s.ok()) return s;
    }
    if (found_.creation_mark) s = surroundings_.env->DeleteFile(MarkPath());
    return s;
  }

  Status MakeSetup(const std::string& name, const FamilyOptions& options,
                   FamilySetup* setup) {
    return MakeFamilySetup(name, options, options_, opened_.block_cache,
                           opened_.shared, setup);
  }

  // Makes a family of the open store, but for its column family.
  Status SetUp(const std::string& name, const FamilyOptions& options,
               FamilySetup* setup) {
    Status s = MakeSetup(name, options, setup);
    if (s.ok()) store_families_[name] = setup->family;
    return s;
  }

  // Connects the families with the open column families.
  Status OpenFamilies() {
    for (auto& [name, family] : store_families_) {
      family.column_family = opened_.database.Find(name);
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

  StoreOptions options_;
  const std::vector<FamilyDescriptor>& families_;
  const Surroundings& surroundings_;
  Findings found_;
  OpenedStore opened_;
  FamilyMap store_families_;  // of opened_, until they are all there
};

// Opening for reading beside a writer, which deletes logs and files once they
// are no longer needed: when it does so between two looks of RocksDB at the
// directory, something is missing, or, of a log, nobody notices what is.
class ReadOnlyOpener {
 public:
  ReadOnlyOpener(const StoreOptions& options, const std::string& path,
                 const std::vector<FamilyDescriptor>& families,
                 const Surroundings& surroundings)
      : options_(options),
        path_(path),
        families_(families),
        surroundings_(surroundings) {}

  Status Run(std::unique_ptr<Store>* store) {
    Status s;
    for (int tries = 0; tries < kMaxTries; ++tries) {
      const std::set<std::string> before = Files();
      std::unique_ptr<Store> opened;
      s = Opener(options_, path_, families_, surroundings_).Run(&opened);
      const std::set<std::string> after = Files();
      const auto vanished = [&](const std::string& name) {
        return !after.contains(name) && (!s.ok() || name.ends_with(".log"));
      };
      if (std::none_of(before.begin(), before.end(), vanished)) {
        if (s.ok()) *store = std::move(opened);
        return s;
      }
    }
    // Not for want of a file each time.
    if (s.IsInvalidArgument() || s.IsNotSupported()) return s;
    return Status::TryAgain("the store at " + path_ +
                            " could not be opened for reading: its writer "
                            "deleted files of it meanwhile, each of " +
                            std::to_string(kMaxTries) + " times");
  }

 private:
  static constexpr int kMaxTries = 20;

  // Those that RocksDB reads; those that cannot be listed it complains about.
  std::set<std::string> Files() const {
    std::vector<std::string> names;
    surroundings_.env->GetChildren(path_, &names).PermitUncheckedError();
    std::erase_if(names, [](const std::string& name) {
      return !name.ends_with(".log") && !name.ends_with(".sst") &&
             !name.starts_with("MANIFEST-");
    });
    return {names.begin(), names.end()};
  }

  const StoreOptions& options_;
  const std::string& path_;
  const std::vector<FamilyDescriptor>& families_;
  const Surroundings& surroundings_;
};

}  // namespace

Status OpenStore(const StoreOptions& options, const std::string& path,
                 const std::vector<FamilyDescriptor>& families,
                 const Surroundings& surroundings,
                 std::unique_ptr<Store>* store) {
  return options.read_only
             ? ReadOnlyOpener(options, path, families, surroundings).Run(store)
             : Opener(options, path, families, surroundings).Run(store);
}

Status Store::Open(const StoreOptions& options, const std::string& path,
                   const std::vector<FamilyDescriptor>& families,
                   std::unique_ptr<Store>* store) {
  try {
    return OpenStore(options, path, families, Surroundings(), store);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("out of memory");
  } catch (const std::exception& error) {
    return Status::Aborted(error.what());
  }
}

}  // namespace rowbloom
