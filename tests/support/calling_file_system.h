// A file system that tells a test what is done with its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"

namespace rowbloom::test {

// A call that CallingFileSystem tells a test of.
enum class FileCall {
  kOpen,    // a file is opened to be read from its beginning to its end
  kRead,    // a part of a file is read
  kMake,    // a file is made
  kLink,    // the file gets another name
  kRename,  // something gets this name
  kList,    // a directory is listed
  kDelete,  // a file is deleted
  kSync,    // a file or a directory was synced
  kFolder,  // a directory is opened to be synced
};

// The default file system, which calls handlers before its calls, but after a
// sync. Thread-safe; the handlers may be called by several threads at one time,
// and may use the database.
class CallingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  // RocksDB syncs a file beside writes to it only with `syncs_in_any_thread`.
  explicit CallingFileSystem(bool syncs_in_any_thread = true)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        syncs_in_any_thread_(syncs_in_any_thread) {}
  const char* Name() const override { return "CallingFileSystem"; }

  // The handler gets the path. If it returns an error, so does the call, which
  // is not done then; a renaming and a sync are done all the same.
  template <typename Function>
  void On(FileCall call, const Function& function) {
    const std::lock_guard lock(mutex_);
    handlers_[call] = [function](const std::string& path) {
      using Result = std::invoke_result_t<const Function&, const std::string&>;
      if constexpr (std::is_void_v<Result>) {
        function(path);
        return rocksdb::IOStatus::OK();
      } else {
        return function(path);
      }
    };
  }
  // Makes the directory one that cannot be opened.
  void CloseFolder(const std::string& directory) {
    On(FileCall::kFolder, [directory](const std::string& path) {
      return path == directory
                 ? rocksdb::IOStatus::IOError(path, "Permission denied")
                 : rocksdb::IOStatus::OK();
    });
  }
  void Off(FileCall call) {
    const std::lock_guard lock(mutex_);
    handlers_.erase(call);
  }

  rocksdb::IOStatus NewSequentialFile(
      const std::string& path, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* file,
      rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = Call(FileCall::kOpen, path);
    return s.ok() ? FileSystemWrapper::NewSequentialFile(path, options, file,
                                                         context)
                  : s;
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
    rocksdb::IOStatus s = Call(FileCall::kMake, path);
    if (!s.ok()) return s;
    s = FileSystemWrapper::NewWritableFile(path, options, file, context);
    if (s.ok()) *file = std::make_unique<File>(std::move(*file), this, path);
    return s;
  }

  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = Call(FileCall::kLink, from);
    return s.ok() ? FileSystemWrapper::LinkFile(from, to, options, context) : s;
  }

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus handled = Call(FileCall::kRename, to);
    const rocksdb::IOStatus s =
        FileSystemWrapper::RenameFile(from, to, options, context);
    return s.ok() ? handled : s;
  }

  rocksdb::IOStatus GetChildren(const std::string& path,
                                const rocksdb::IOOptions& options,
                                std::vector<std::string>* names,
                                rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = Call(FileCall::kList, path);
    return s.ok()
               ? FileSystemWrapper::GetChildren(path, options, names, context)
               : s;
  }

  rocksdb::IOStatus DeleteFile(const std::string& path,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus s = Call(FileCall::kDelete, path);
    return s.ok() ? FileSystemWrapper::DeleteFile(path, options, context) : s;
  }

  rocksdb::IOStatus NewDirectory(
      const std::string& path, const rocksdb::IOOptions& options,
      std::unique_ptr<rocksdb::FSDirectory>* directory,
      rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus s = Call(FileCall::kFolder, path);
    if (!s.ok()) return s;
    s = FileSystemWrapper::NewDirectory(path, options, directory, context);
    if (s.ok()) {
      *directory =
          std::make_unique<Directory>(std::move(*directory), this, path);
    }
    return s;
  }

 private:
  using Handler = std::function<rocksdb::IOStatus(const std::string&)>;

  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file,
         CallingFileSystem* system, std::string path)
        : FSWritableFileOwnerWrapper(std::move(file)),
          system_(system),
          path_(std::move(path)) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* context) override {
      const rocksdb::IOStatus s =
          FSWritableFileOwnerWrapper::Sync(options, context);
      const rocksdb::IOStatus handled = system_->Call(FileCall::kSync, path_);
      return s.ok() ? handled : s;
    }
    bool IsSyncThreadSafe() const override {
      return system_->syncs_in_any_thread_ &&
             FSWritableFileOwnerWrapper::IsSyncThreadSafe();
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
      const rocksdb::IOStatus s = system_->Call(FileCall::kRead, path_);
      return s.ok() ? FSRandomAccessFileOwnerWrapper::Read(
                          offset, bytes, options, read, scratch, context)
                    : s;
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
      const rocksdb::IOStatus s =
          FSDirectoryWrapper::FsyncWithDirOptions(options, context, what);
      const rocksdb::IOStatus handled = system_->Call(FileCall::kSync, path_);
      return s.ok() ? handled : s;
    }

   private:
    CallingFileSystem* const system_;
    const std::string path_;
  };

  rocksdb::IOStatus Call(FileCall call, const std::string& path) {
    Handler handler;
    {
      const std::lock_guard lock(mutex_);
      handler = handlers_[call];
    }
    return handler ? handler(path) : rocksdb::IOStatus::OK();
  }

  const bool syncs_in_any_thread_;
  std::mutex mutex_;
  std::map<FileCall, Handler> handlers_;
};

}  // namespace rowbloom::test
