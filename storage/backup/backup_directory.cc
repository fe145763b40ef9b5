#include "storage/backup/backup_directory.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/format/directory.h"
#include "storage/format/held_lock.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/rocksdb_version.h"
#include "storage/format/staging.h"
#include "storage/format/status_text.h"

namespace rowbloom {
namespace {

using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupEngineReadOnly;
using rocksdb::Env;
using rocksdb::Status;

constexpr char kLockFile[] = "LOCK";
// The folder in which RocksDB keeps the lists of the backups' files.
constexpr char kListsDirectory[] = "meta";

Status NoBackups(const std::string& directory) {
  return NotFound("no directory of backups at ", directory);
}

Status NoBackup(const std::string& directory, uint32_t id) {
  return NotFound("no backup ", id, " in ", directory);
}

// The prefix of messages about a backup.
std::string InBackup(const std::string& directory, uint32_t id) {
  return Concat(directory, ": backup ", id, ": ");
}

// False: there is no backup `id`. It may have been deleted since it was opened:
// its list is deleted before its files.
bool IsListed(Env* env, const std::string& directory, uint32_t id) {
  return !FileExists(env, Concat(directory, "/", kListsDirectory, "/", id))
              .IsNotFound();
}

// Tells whether the name is that of a list: N for backup N, and .N.tmp while
// RocksDB writes it.
bool IsListName(std::string_view name) {
  if (name.starts_with('.') && name.ends_with(".tmp")) {
    name = name.substr(1, name.size() - 5);
  }
  return !name.empty() &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns NotFound if there is no directory or it has no finished backup.
// Returns InvalidArgument if others made it: RocksDB might delete their files.
// Sets *lists to the names of the lists.
Status CheckDirectory(Env* env, const std::string& directory,
                      std::vector<std::string>* lists) {
  lists->clear();
  if (directory.empty()) {
    return Status::InvalidArgument("the path of the backups is empty");
  }
  Status s = FileExists(env, directory);
  if (s.IsNotFound()) return NoBackups(directory);
  std::vector<std::string> names;
  if (s.ok()) s = ListDirectory(env, directory, &names);
  if (!s.ok()) return s;
  const auto is_there = [&names](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (names.empty()) return NoBackups(directory);
  const bool has_lists = is_there(kListsDirectory);
  if (has_lists) {
    s = ListDirectory(env, directory + "/" + kListsDirectory, lists);
  }
  if (!s.ok()) return s;
  // NFS and file managers leave hidden files, which RocksDB leaves alone here.
  std::erase_if(*lists, [](const std::string& name) {
    return name.starts_with('.') && !IsListName(name);
  });
  std::sort(lists->begin(), lists->end());
  const bool is_locked = is_there(kLockFile);
  for (const char* made :
       {kLockFile, kListsDirectory, "private", "shared", "shared_checksum"}) {
    std::erase(names, made);
  }
  // An interrupted first backup has created the lock before other files.
  if (std::all_of(lists->begin(), lists->end(), IsListName) &&
      (!lists->empty() || (is_locked && (has_lists || names.empty())))) {
    return has_lists ? s : NoBackups(directory);
  }
  return InvalidArgument(directory,
                         " is no directory of backups: it has files, "
                         "but no list of a backup's in \"",
                         kListsDirectory, "\"");
}

// Calls read(BackupEngineReadOnly*) on a directory of backups. An error of
// RocksDB's counts only if no list was created or deleted meanwhile: it reads
// the lists that it has found.
template <typename Read>
Status ReadBackups(Env* env, const std::string& directory, Read read) {
  return CatchExceptions([&]() -> Status {
    if (Status s = CheckRocksDbVersion(); !s.ok()) return s;
    std::vector<std::string> lists;
    std::vector<std::string> before;
    Status failed;
    while (true) {
      Status s = CheckDirectory(env, directory, &lists);
      if (!s.ok()) return s;
      if (!failed.ok() && lists == before) return failed;
      before.swap(lists);
      BackupEngineReadOnly* opened = nullptr;
      failed = BackupEngineReadOnly::Open(BackupEngineOptions(directory), env,
                                          &opened);
      const std::unique_ptr<BackupEngineReadOnly> engine(opened);
      if (failed.ok()) return read(engine.get());
    }
  });
}

// Keeps the files of a backup on disk while its list exists: the list is
// written after them and deleted before them. RocksDB (7.8.3 to 11.8.1) syncs
// both directories at the end of a backup, and none when it deletes one. A
// power cut in between could leave a list of missing files. Thread-safe.
class BackupEnv final : public rocksdb::EnvWrapper {
 public:
  // Unless it is null, `check` checks the backup that is added.
  BackupEnv(Env* target, const std::string& directory, const CheckBackup& check)
      : EnvWrapper(target), directory_(directory), check_(check) {}
  const char* Name() const override { return "rowbloom.BackupEnv"; }

  // Prevents the deletion of files that a backup may have which is damaged, or
  // whose list cannot be deleted. RocksDB collects garbage when a backup fails,
  // after one was interrupted, and with each deletion.
  void KeepFiles() { keeps_files_ = true; }

  Status NewWritableFile(const std::string& file,
                         std::unique_ptr<rocksdb::WritableFile>* opened,
                         const rocksdb::EnvOptions& options) override {
    const Status s = NoteMade(file);
    return s.ok() ? EnvWrapper::NewWritableFile(file, opened, options) : s;
  }

  Status RenameFile(const std::string& from, const std::string& to) override {
    Status s = NoteMade(to);
    if (IsList(to)) {
      const std::string id = to.substr(to.find_last_of('/'));
      for (const std::string& holder :
           {directory_ + "/private" + id, directory_ + "/private",
            directory_ + "/shared_checksum", directory_}) {
        if (s.ok()) s = SyncDirectory(target(), holder);
      }
      if (s.ok() && check_) s = check_(directory_ + "/private" + id);
    }
    return s.ok() ? EnvWrapper::RenameFile(from, to) : s;
  }

  Status FileExists(const std::string& file) override {
    return rowbloom::FileExists(target(), file);
  }
  Status DeleteFile(const std::string& file) override {
    if (IsKept(file)) return Status::OK();
    Status s = EnvWrapper::DeleteFile(file);
    if (!IsList(file)) return s;
    if (s.ok()) s = SyncDirectory(target(), ParentOf(file));
    if (s.ok()) return s;
    // RocksDB would go on with the files of the list, also if the backup is the
    // one that has failed. The list may be on the disk.
    KeepFiles();
    const std::lock_guard lock(mutex_);
    made_.clear();
    return s;
  }
  Status DeleteDir(const std::string& directory) override {
    return IsKept(directory) ? Status::OK() : EnvWrapper::DeleteDir(directory);
  }

 private:
  // RocksDB calls this in its threads, in which nothing may throw.
  Status NoteMade(const std::string& file) {
    return CatchExceptions([&] {
      const std::lock_guard lock(mutex_);
      made_.insert(file);
      return Status::OK();
    });
  }

  bool IsKept(const std::string& file) {
    if (IsList(file)) return false;
    const std::string of_all = directory_ + "/private";
    // A link leads to files that are in no backup.
    for (const std::string& holder : {of_all, ParentOf(file)}) {
      std::error_code ignored;
      if (std::filesystem::is_symlink(holder, ignored)) return true;
    }
    if (file.starts_with(of_all + "/")) {
      // RocksDB (7.8.3 to 11.8.1) deletes those of backup 1 as garbage if there
      // is a file private/1.tmp.
      const std::string id = file.substr(of_all.size() + 1);
      return FileExists(Concat(directory_, "/", kListsDirectory, "/",
                               id.substr(0, id.find('/'))))
          .ok();
    }
    const std::lock_guard lock(mutex_);
    return keeps_files_ && !made_.contains(file);
  }

  bool IsList(const std::string& file) const {
    return ParentOf(file) == directory_ + "/" + kListsDirectory;
  }

  const std::string directory_;
  // RocksDB uses these in the thread that calls it.
  const CheckBackup& check_;
  bool keeps_files_ = false;
  std::mutex mutex_;
  std::set<std::string> made_;  // guarded by mutex_
};

// Calls change(BackupEngine*) on a directory of backups, which no other caller
// changes meanwhile. With a `check` of what is added, creates the directory.
template <typename Change>
Status ChangeBackups(Env* env, const std::string& given_directory,
                     const CheckBackup& check, Change change) {
  return CatchExceptions([&]() -> Status {
    if (Status s = CheckRocksDbVersion(); !s.ok()) return s;
    const bool create = check != nullptr;
    const std::string directory = WithoutTrailingSlashes(given_directory);
    const bool is_new = FileExists(env, directory).IsNotFound();
    std::vector<std::string> ignored;
    Status s = CheckDirectory(env, directory, &ignored);
    if (create && s.IsNotFound()) s = env->CreateDirIfMissing(directory);
    // RocksDB syncs only what it creates inside of the directory.
    if (s.ok()) s = SyncParent(env, directory, is_new);
    HeldLock lock(env);
    if (s.ok()) {
      s = lock.Take(directory + "/" + kLockFile,
                    "the backups in " + directory +
                        " are being changed by somebody else");
    }
    // Until this sync, a deleted list may reappear.
    const std::string lists = directory + "/" + kListsDirectory;
    if (s.ok() && FileExists(env, lists).ok()) s = SyncDirectory(env, lists);
    // By the lock, CheckDirectory recognizes what RocksDB creates now.
    if (s.ok() && create) s = SyncDirectory(env, directory);
    if (!s.ok()) return s;
    BackupEnv backup_env(env, directory, check);
    BackupEngineOptions options(directory, &backup_env);
    BackupEngine* opened = nullptr;
    s = BackupEngine::Open(options, env, &opened);
    const std::unique_ptr<BackupEngine> engine(opened);
    if (s.ok() && create) {
      std::vector<rocksdb::BackupID> damaged;
      engine->GetCorruptedBackups(&damaged);
      if (!damaged.empty()) backup_env.KeepFiles();
    }
    return s.ok() ? change(engine.get()) : s;
  });
}

BackupInfo InfoOf(const rocksdb::BackupInfo& backup) {
  return {.id = backup.backup_id,
          .timestamp_s =
              static_cast<uint64_t>(std::max<int64_t>(backup.timestamp, 0)),
          .bytes = backup.size,
          .files = backup.number_files};
}

std::vector<BackupInfo> BackupsOf(const BackupEngineReadOnly& engine) {
  std::vector<BackupInfo> backups;
  std::vector<rocksdb::BackupInfo> whole;
  engine.GetBackupInfo(&whole);
  for (const rocksdb::BackupInfo& backup : whole) {
    backups.push_back(InfoOf(backup));
  }
  std::vector<rocksdb::BackupID> damaged;
  engine.GetCorruptedBackups(&damaged);
  for (const rocksdb::BackupID id : damaged) {
    backups.push_back({.id = id, .damaged = true});
  }
  std::ranges::sort(backups, {}, &BackupInfo::id);
  return backups;
}

// Returns Corruption if backups are damaged and `given_up` is none of them.
// When RocksDB collects garbage, it deletes the files that only damaged backups
// have. With these files, a backup is whole again once a missing file is back.
Status CheckNoneDamaged(const BackupEngine& engine,
                        const std::string& directory,
                        std::optional<uint32_t> given_up = std::nullopt) {
  std::vector<rocksdb::BackupID> damaged;
  engine.GetCorruptedBackups(&damaged);
  std::string ids;
  for (const rocksdb::BackupID id : damaged) {
    if (id == given_up) return Status::OK();
    ids += Concat(" ", id);
  }
  if (ids.empty()) return Status::OK();
  return Corruption(directory,
                    ": nothing was deleted, as backups are damaged:", ids,
                    ". Their files would be deleted, too. Bring back what is "
                    "missing, or delete them by their numbers first");
}

// Checks that a store can be created at `path`. Sets *is_there if there is an
// empty directory.
Status CheckTarget(Env* env, const std::string& path, bool* is_there) {
  *is_there = false;
  if (path.empty()) {
    return Status::InvalidArgument("the path of the store is empty");
  }
  Status s = FileExists(env, path);
  if (s.IsNotFound()) return Status::OK();
  bool is_directory = false;
  if (s.ok()) s = env->IsDirectory(path, &is_directory);
  std::vector<std::string> names;
  if (s.ok() && is_directory) s = ListDirectory(env, path, &names);
  if (s.ok() && (!is_directory || !names.empty())) {
    return InvalidArgument(
        path, " exists: a store is restored to a new or an empty directory");
  }
  *is_there = s.ok();
  return s;
}

// Replaces the empty directory at `path` by a new one, as the finished store
// will. This fails for a mount point and ".".
Status ReplaceDirectory(Env* env, const std::string& made,
                        const std::string& path) {
  Status s = env->CreateDir(made);
  if (!s.ok()) return s;
  SetPermissions(made, PermissionsOf(path));
  s = env->RenameFile(made, path);
  if (s.ok()) return s;
  return InvalidArgument(path, " cannot be replaced: choose a new directory (",
                         s.ToString(), ")");
}

// Sets *chosen to the backup with this id or, without one, to the newest that
// is not damaged. If all are damaged, the newest tells the error.
Status ChooseBackup(const BackupEngineReadOnly& engine,
                    const std::string& directory, std::optional<uint32_t> id,
                    uint32_t* chosen) {
  const std::vector<BackupInfo> backups = BackupsOf(engine);
  const auto found = std::find_if(
      backups.rbegin(), backups.rend(), [&id](const BackupInfo& backup) {
        return id ? backup.id == *id : !backup.damaged;
      });
  if (found == backups.rend()) {
    if (id) return NoBackup(directory, *id);
    if (backups.empty()) return NotFound("no backup in ", directory);
  }
  *chosen = found != backups.rend() ? found->id : backups.back().id;
  return Status::OK();
}

}  // namespace

Status CreateBackup(rocksdb::DB* db, const std::string& directory,
                    const CheckBackup& check, BackupInfo* info) {
  const auto add = [&](BackupEngine* engine) -> Status {
    rocksdb::CreateBackupOptions options;
    options.flush_before_backup = true;
    rocksdb::BackupID id = 0;
    rocksdb::BackupInfo backup;
    Status s = engine->CreateNewBackup(options, db, &id);
    if (!s.ok() || info == nullptr) return s;
    s = engine->GetBackupInfo(id, &backup);
    if (s.ok()) *info = InfoOf(backup);
    return s;
  };
  return ChangeBackups(db->GetEnv(), directory, check, add);
}

Status ListBackups(const std::string& directory,
                   std::vector<BackupInfo>* backups, Env* env) {
  if (env == nullptr) env = Env::Default();
  backups->clear();
  return ReadBackups(env, directory, [&](BackupEngineReadOnly* engine) {
    *backups = BackupsOf(*engine);
    return Status::OK();
  });
}

Status VerifyBackup(const std::string& directory, uint32_t id, Env* env) {
  if (env == nullptr) env = Env::Default();
  return ReadBackups(env, directory, [&](BackupEngineReadOnly* engine) {
    const Status s = engine->VerifyBackup(id, /*verify_with_checksum=*/true);
    if (!s.ok() && !IsListed(env, directory, id)) {
      return NoBackup(directory, id);
    }
    // RocksDB returns NotFound for a missing file, and names it. It does not
    // name a damaged list.
    return Prefixed(InBackup(directory, id),
                    s.IsNotFound() && s.getState() != nullptr
                        ? Status::Corruption(s.getState())
                        : s);
  });
}

Status RestoreBackup(const std::string& directory, std::optional<uint32_t> id,
                     const std::string& given_path, Env* env) {
  if (env == nullptr) env = Env::Default();
  return CatchExceptions([&]() -> Status {
    const std::string path = WithoutTrailingSlashes(given_path);
    Staging staging(env, path, ".restoring");
    const auto restore = [&](BackupEngineReadOnly* engine) -> Status {
      uint32_t chosen = 0;
      bool is_there = false;
      Status s = ChooseBackup(*engine, directory, id, &chosen);
      if (s.ok()) s = CheckTarget(env, path, &is_there);
      if (s.ok()) s = staging.Begin();
      if (s.ok() && is_there) {
        s = ReplaceDirectory(env, staging.contents(), path);
      }
      if (!s.ok()) return s;
      s = engine->RestoreDBFromBackup(chosen, staging.contents(),
                                      staging.contents());
      SetPermissions(staging.contents(), PermissionsOf(path));
      if (!s.ok() && !IsListed(env, directory, chosen)) {
        return NoBackup(directory, chosen);
      }
      if (!s.IsCorruption()) return s;
      // RocksDB does not name the damaged file here.
      const Status named =
          engine->VerifyBackup(chosen, /*verify_with_checksum=*/true);
      return Prefixed(InBackup(directory, chosen),
                      named.IsCorruption() ? named : s);
    };
    const Status s = ReadBackups(env, directory, restore);
    return s.ok() ? staging.Commit() : s;
  });
}

Status DeleteBackup(const std::string& directory, uint32_t id, Env* env) {
  if (env == nullptr) env = Env::Default();
  return ChangeBackups(env, directory, /*check=*/nullptr,
                       [&](BackupEngine* engine) {
                         Status s = CheckNoneDamaged(*engine, directory, id);
                         if (s.ok()) s = engine->DeleteBackup(id);
                         return s.IsNotFound() ? NoBackup(directory, id) : s;
                       });
}

Status PurgeBackups(const std::string& directory, uint32_t keep, Env* env) {
  if (env == nullptr) env = Env::Default();
  return ChangeBackups(env, directory, /*check=*/nullptr,
                       [&](BackupEngine* engine) {
                         Status s = CheckNoneDamaged(*engine, directory);
                         if (s.ok()) s = engine->PurgeOldBackups(keep);
                         return s.ok() ? engine->GarbageCollect() : s;
                       });
}

}  // namespace rowbloom
