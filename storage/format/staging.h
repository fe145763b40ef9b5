// A staging directory: contents are put together in it, and are renamed to
// their own path as the last step.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"
#include "storage/format/held_lock.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// The directory has a file of this name while it has contents. A directory with
// contents and without this file was made by others, and is kept.
inline constexpr char kStagingMark[] = "ROWBLOOM_UNFINISHED";

// For one thread. The destructor removes the directory, with contents that were
// not committed. If it cannot, the next Begin empties the directory.
class Staging {
 public:
  // `path` is the final path of the contents, which are put together below
  // `path` + `suffix`.
  Staging(rocksdb::Env* env, std::string path, const std::string& suffix)
      : env_(env), path_(std::move(path)), directory_(path_ + suffix) {}
  ~Staging() {
    if (!lock_) return;
    CatchExceptions([this] { return Remove(); }).PermitUncheckedError();
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Makes the directory, or empties one that was left by an interruption. No
  // other user may read it. InvalidArgument: it exists and was made by others,
  // or is another user's; or the final path is a link, which the contents could
  // not replace. Busy: it is in use.
  rocksdb::Status Begin() {
    std::error_code ignored;
    if (std::filesystem::is_symlink(path_, ignored)) {
      return InvalidArgument(path_, " is a link: choose a new directory");
    }
    rocksdb::Status s = env_->CreateDir(directory_);
    const bool is_new = s.ok();
    if (!is_new) s = env_->CreateDirIfMissing(directory_);
    if (!s.ok()) return s;
    // Its owner could read and replace the contents. Some network file systems
    // have one owner for all, so one that is new is accepted.
    struct stat found {};
    if (!is_new && lstat(directory_.c_str(), &found) == 0 &&
        found.st_uid != geteuid()) {
      return InvalidArgument(directory_, " exists, and is another user's");
    }
    std::vector<std::string> names;
    s = ListDirectory(env_, directory_, &names);
    const auto has = [&names](const char* name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool is_ours = names.empty() || has(kStagingMark) ||
                         (names.size() == 1 && has(kLockFile));
    if (s.ok() && !is_ours) {
      return InvalidArgument(directory_,
                             " exists, and was not left by an interruption: it "
                             "has no file ",
                             kStagingMark);
    }
    const std::string in_use = directory_ + " is in use";
    auto lock = std::make_unique<HeldLock>(env_);
    if (s.ok()) s = lock->Take(Lock(), in_use);
    if (s.ok()) lock_ = std::move(lock);
    // The user of the directory has just removed it.
    if (!s.ok() && FileExists(env_, directory_).IsNotFound()) {
      return rocksdb::Status::Busy(in_use);
    }
    if (!s.ok()) return s;
    SetPermissions(directory_, std::filesystem::perms::owner_all);
    s = rocksdb::WriteStringToFile(env_, "", Mark());
    return s.ok() ? RemoveContents() : s;
  }

  // The path at which the caller creates a file or directory.
  std::string contents() const { return directory_ + "/contents"; }

  // Moves the contents, which are synced, to their path. The destructor removes
  // the directory, which is empty now.
  rocksdb::Status Commit() {
    rocksdb::Status s = env_->RenameFile(contents(), path_);
    if (s.ok()) s = SyncDirectory(env_, ParentOf(path_));
    // A failure leaves nothing at the path, even if the renaming was done.
    if (!s.ok() && FileExists(env_, contents()).IsNotFound()) {
      env_->RenameFile(path_, contents()).PermitUncheckedError();
    }
    return s;
  }

 private:
  static constexpr char kLockFile[] = "LOCK";

  std::string Mark() const { return directory_ + "/" + kStagingMark; }
  std::string Lock() const { return directory_ + "/" + kLockFile; }

  // Removes all but the mark and the lock: the contents, and anything that
  // RocksDB makes beside them.
  rocksdb::Status RemoveContents() {
    std::vector<std::string> names;
    rocksdb::Status s = ListDirectory(env_, directory_, &names);
    for (const std::string& name : names) {
      const std::string path = directory_ + "/" + name;
      if (!s.ok() || path == Mark() || path == Lock()) continue;
      s = RemoveTree(env_, path);
    }
    return s;
  }

  // No other caller gets the lock before its file and the mark are removed.
  rocksdb::Status Remove() {
    rocksdb::Status s = RemoveContents();
    for (const std::string& file : {Mark(), Lock()}) {
      // Begin may not have made the mark.
      if (s.ok() && !FileExists(env_, file).IsNotFound()) {
        s = env_->DeleteFile(file);
      }
    }
    lock_.reset();
    return s.ok() ? env_->DeleteDir(directory_) : s;
  }

  rocksdb::Env* const env_;
  const std::string path_;
  const std::string directory_;
  std::unique_ptr<HeldLock> lock_;  // nullptr: others may have it
};

}  // namespace rowbloom
