// A file system that tells a test what is done with its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"

namespace rowbloom::test {

// The default file system, which calls back before a file is made, read, linked
// or renamed, and after one, or a directory, was synced. Thread-safe; the
// callbacks may be called by several threads at one time, and may use the
// database.
class CallingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using Callback = std::function<void(const std::string& path)>;

  CallingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "CallingFileSystem"; }

  // Before a file is opened that is read from its beginning to its end.
  void OnOpened(Callback opened) {
    const std::lock_guard lock(mutex_);
    opened_ = std::move(opened);
  }
  // Before a part of a file is read.
  void OnRead(Callback read) {
    const std::lock_guard lock(mutex_);
    read_ = std::move(read);
  }
  void OnMade(Callback made) {
    OnMaking(made == nullptr ? Refusal()
                             : [made = std::move(made)](const auto& path) {
                                 made(path);
                                 return rocksdb::IOStatus::OK();
                               });
  }
  // The file is not made if this returns an error.
  using Refusal = std::function<rocksdb::IOStatus(const std::string& path)>;
  void OnMaking(Refusal making) {
    const std::lock_guard lock(mutex_);
    making_ = std::move(making);
  }
  void OnLinked(Callback linked) {
    const std::lock_guard lock(mutex_);
    linked_ = std::move(linked);
  }
  // The callback gets the new name.
  void OnRenamed(Callback renamed) {
    const std::lock_guard lock(mutex_);
    renamed_ = std::move(renamed);
  }
  void OnSynced(Callback synced) {
    const std::lock_guard lock(mutex_);
    synced_ = std::move(synced);
  }
  // The calls "list", "delete", "rename" (to `path`) and "sync", of a
  // directory, have the error that this returns; a renaming is done all the
  // same.
  using Judge = std::function<rocksdb::IOStatus(std::string_view call,
                                                const std::string& path)>;
  void OnCall(Judge judge) {
    const std::lock_guard lock(mutex_);
    judge_ = std::move(judge);
  }

  rocksdb::IOStatus NewSequentialFile(
      const std::string& path, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* file,
      rocksdb::IODebugContext* context) override {
    Call(&CallingFileSystem::opened_, path);
    return FileSystemWrapper::NewSequentialFile(path, options, file, context);
  }

  rocksdb::IOStatus NewRandomAccessFile(
      const std::string& path, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
      rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s =
        FileSystemWrapper::NewRandomAccessFile(path, options, file, context);
    if (s.ok()) {
      *file = std::make_unique<RandomAccessFile>(std::move(*file), this, path);
    }
    return s;
  }

  rocksdb::IOStatus NewWritableFile(
      const std::string& path, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* context) override {
    Refusal making;
    {
      const std::lock_guard lock(mutex_);
      making = making_;
    }
    rocksdb::IOStatus s = making ? making(path) : rocksdb::IOStatus::OK();
    if (!s.ok()) return s;
    s = FileSystemWrapper::NewWritableFile(path, options, file, context);
    if (s.ok()) *file = std::make_unique<File>(std::move(*file), this, path);
    return s;
  }

  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override {
    Call(&CallingFileSystem::linked_, from);
    return FileSystemWrapper::LinkFile(from, to, options, context);
  }

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    Call(&CallingFileSystem::renamed_, to);
    const rocksdb::IOStatus s =
        FileSystemWrapper::RenameFile(from, to, options, context);
    return s.ok() ? ErrorOf("rename", to) : s;
  }

  rocksdb::IOStatus GetChildren(const std::string& path,
                                const rocksdb::IOOptions& options,
                                std::vector<std::string>* names,
                                rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = ErrorOf("list", path);
    return s.ok()
               ? FileSystemWrapper::GetChildren(path, options, names, context)
               : s;
  }

  rocksdb::IOStatus DeleteFile(const std::string& path,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = ErrorOf("delete", path);
    return s.ok() ? FileSystemWrapper::DeleteFile(path, options, context) : s;
  }

  rocksdb::IOStatus NewDirectory(
      const std::string& path, const rocksdb::IOOptions& options,
      std::unique_ptr<rocksdb::FSDirectory>* directory,
      rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus s =
        FileSystemWrapper::NewDirectory(path, options, directory, context);
    if (s.ok()) {
      *directory =
          std::make_unique<Directory>(std::move(*directory), this, path);
    }
    return s;
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file,
         CallingFileSystem* system, std::string path)
        : FSWritableFileOwnerWrapper(std::move(file)),
          system_(system),
          path_(std::move(path)) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* context) override {
      rocksdb::IOStatus s = FSWritableFileOwnerWrapper::Sync(options, context);
      system_->Call(&CallingFileSystem::synced_, path_);
      return s;
    }

   private:
    CallingFileSystem* const system_;
    const std::string path_;
  };

  class RandomAccessFile final
      : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    RandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file,
                     CallingFileSystem* system, std::string path)
        : FSRandomAccessFileOwnerWrapper(std::move(file)),
          system_(system),
          path_(std::move(path)) {}
    rocksdb::IOStatus Read(uint64_t offset, size_t bytes,
                           const rocksdb::IOOptions& options,
                           rocksdb::Slice* read, char* scratch,
                           rocksdb::IODebugContext* context) const override {
      system_->Call(&CallingFileSystem::read_, path_);
      return FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, read,
                                                  scratch, context);
    }

   private:
    CallingFileSystem* const system_;
    const std::string path_;
  };

  class Directory final : public rocksdb::FSDirectoryWrapper {
   public:
    Directory(std::unique_ptr<rocksdb::FSDirectory> directory,
              CallingFileSystem* system, std::string path)
        : FSDirectoryWrapper(std::move(directory)),
          system_(system),
          path_(std::move(path)) {}
    // Env's Fsync calls this one, too.
    rocksdb::IOStatus FsyncWithDirOptions(
        const rocksdb::IOOptions& options, rocksdb::IODebugContext* context,
        const rocksdb::DirFsyncOptions& what) override {
      rocksdb::IOStatus s = system_->ErrorOf("sync", path_);
      if (s.ok()) {
        s = FSDirectoryWrapper::FsyncWithDirOptions(options, context, what);
      }
      system_->Call(&CallingFileSystem::synced_, path_);
      return s;
    }

   private:
    CallingFileSystem* const system_;
    const std::string path_;
  };

  void Call(Callback CallingFileSystem::*callback, const std::string& path) {
    Callback call;
    {
      const std::lock_guard lock(mutex_);
      call = this->*callback;
    }
    if (call) call(path);
  }

  rocksdb::IOStatus ErrorOf(std::string_view call, const std::string& path) {
    Judge judge;
    {
      const std::lock_guard lock(mutex_);
      judge = judge_;
    }
    return judge ? judge(call, path) : rocksdb::IOStatus::OK();
  }

  std::mutex mutex_;
  Judge judge_;
  Callback opened_;
  Callback read_;
  Refusal making_;
  Callback linked_;
  Callback renamed_;
  Callback synced_;
};

}  // namespace rowbloom::test
