// A directory in which something is put together that becomes another directory
// as the last step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/format/directory.h"
#include "storage/format/held_lock.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// The directory has a file of this name from its beginning to its end. A
// directory that lacks it was made by others, and stays.
inline constexpr char kStagingMark[] = "ROWBLOOM_UNFINISHED";

// For one thread. Contents that are not committed go with this object.
class Staging {
 public:
  // `path` is where the contents will be; they are put together below
  // `path` + `suffix`.
  Staging(rocksdb::Env* env, std::string path, const std::string& suffix)
      : env_(env), path_(std::move(path)), directory_(path_ + suffix) {}
  ~Staging() {
    if (lock_) Remove().PermitUncheckedError();
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Makes the directory, or empties one that was left by an interruption.
  // InvalidArgument: it exists and was made by others. Busy: it is in use.
  rocksdb::Status Begin() {
    rocksdb::Status s = env_->FileExists(directory_);
    if (s.IsNotFound()) s = env_->CreateDir(directory_);
    std::vector<std::string> names;
    if (s.ok()) s = ListDirectory(env_, directory_, &names);
    if (s.ok() && !names.empty() && !env_->FileExists(Mark()).ok()) {
      return InvalidArgument(directory_,
                             " exists, and was not left by an interruption: it "
                             "has no file ",
                             kStagingMark);
    }
    if (s.ok()) s = rocksdb::WriteStringToFile(env_, "", Mark());
    if (!s.ok()) return s;
    lock_.emplace(env_);
    s = lock_->Take(Lock(), directory_ + " is in use");
    if (!s.ok()) lock_.reset();
    return s.ok() ? RemoveContents() : s;
  }

  // The path at which a file or directory is to be made.
  std::string contents() const { return directory_ + "/contents"; }

  // Moves the contents, which are synced, to their place. An empty directory
  // that cannot be removed now is used by the next Begin.
  rocksdb::Status Commit() {
    rocksdb::Status s = env_->RenameFile(contents(), path_);
    if (s.ok()) s = SyncDirectory(env_, ParentOf(path_));
    if (s.ok()) Remove().PermitUncheckedError();
    return s;
  }

 private:
  std::string Mark() const { return directory_ + "/" + kStagingMark; }
  std::string Lock() const { return directory_ + "/LOCK"; }

  // Removes all but the mark and the lock: the contents, and what RocksDB makes
  // beside them, are directories.
  rocksdb::Status RemoveContents() {
    std::vector<std::string> names;
    rocksdb::Status s = ListDirectory(env_, directory_, &names);
    for (const std::string& name : names) {
      const std::string path = directory_ + "/" + name;
      if (!s.ok() || path == Mark() || path == Lock()) continue;
      s = RemoveDirectory(env_, path);
    }
    return s;
  }

  // The mark goes last, so that what is left after an interruption is known.
  // The lock is held until its file is gone, so that nobody takes one that is
  // about to go.
  rocksdb::Status Remove() {
    rocksdb::Status s = RemoveContents();
    for (const std::string& file : {Lock(), Mark()}) {
      if (s.ok()) s = env_->DeleteFile(file);
    }
    lock_.reset();
    return s.ok() ? env_->DeleteDir(directory_) : s;
  }

  rocksdb::Env* const env_;
  const std::string path_;
  const std::string directory_;
  std::optional<HeldLock> lock_;
};

}  // namespace rowbloom
