#include "tests/stress/fault_file_system.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/system_clock.h"

namespace rowbloom::stress {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

// How a filter block starts and ends, by lib/block/FORMAT.md.
constexpr std::string_view kHead = "ROWBLOOM";
constexpr std::string_view kTail = "\x9cRWBL";
constexpr size_t kBlockTrailerBytes = 5;  // RocksDB's, behind each block

constexpr bool kTakesSpace = true;  // of a call: a full disk may refuse it

class FaultySequentialFile final
    : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  FaultySequentialFile(std::unique_ptr<rocksdb::FSSequentialFile> file,
                       FaultPlan* plan)
      : FSSequentialFileOwnerWrapper(std::move(file)), plan_(plan) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result,
                char* scratch, IODebugContext* debug) override {
    const IOStatus s = plan_->Read();
    return s.ok() ? FSSequentialFileOwnerWrapper::Read(n, options, result,
                                                       scratch, debug)
                  : s;
  }

 private:
  FaultPlan* const plan_;
};

class FaultyRandomAccessFile final
    : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyRandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file,
                         FaultPlan* plan)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), plan_(plan) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options,
                Slice* result, char* scratch,
                IODebugContext* debug) const override {
    IOStatus s = plan_->Read();
    if (!s.ok()) return s;
    s = FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result,
                                             scratch, debug);
    return s.ok() ? plan_->Damage(result, scratch) : s;
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count,
                     const IOOptions& options, IODebugContext* debug) override {
    const IOStatus s = FSRandomAccessFileOwnerWrapper::MultiRead(
        requests, count, options, debug);
    for (size_t i = 0; i < count && s.ok(); ++i) {
      if (!requests[i].status.ok()) continue;
      requests[i].status = plan_->Read();
      if (requests[i].status.ok()) {
        requests[i].status =
            plan_->Damage(&requests[i].result, requests[i].scratch);
      } else {
        requests[i].result.clear();
      }
    }
    return s;
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* debug) override {
    const IOStatus s = plan_->Read();
    return s.ok() ? FSRandomAccessFileOwnerWrapper::Prefetch(offset, n, options,
                                                             debug)
                  : s;
  }

 private:
  FaultPlan* const plan_;
};

class FaultyWritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyWritableFile(std::unique_ptr<rocksdb::FSWritableFile> file,
                     FaultPlan* plan)
      : FSWritableFileOwnerWrapper(std::move(file)), plan_(plan) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    IOStatus s = plan_->Call("append", kTakesSpace);
    if (s.ok()) {
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    FSWritableFileOwnerWrapper::Append({data.data(), data.size() / 2}, options,
                                       debug)
        .PermitUncheckedError();
    return s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*verification*/,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("flush", kTakesSpace);
    return s.ok() ? FSWritableFileOwnerWrapper::Flush(options, debug) : s;
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return plan_->Call("sync", kTakesSpace);
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return plan_->Call("fsync", kTakesSpace);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    const IOStatus s = plan_->Call("truncate");
    return s.ok() ? FSWritableFileOwnerWrapper::Truncate(size, options, debug)
                  : s;
  }
  // Closes in any case.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("close");
    const IOStatus closed = FSWritableFileOwnerWrapper::Close(options, debug);
    return s.ok() ? closed : s;
  }

 private:
  FaultPlan* const plan_;
};

class FaultyDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(std::unique_ptr<rocksdb::FSDirectory> directory,
                  FaultPlan* plan)
      : FSDirectoryWrapper(std::move(directory)), plan_(plan) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return plan_->Call("sync of a directory", kTakesSpace);
  }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*,
                               const rocksdb::DirFsyncOptions&) override {
    return plan_->Call("sync of a directory", kTakesSpace);
  }

 private:
  FaultPlan* const plan_;
};

// All calls but the one that gives up the lock, without which the process could
// not open the database again.
class FaultFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultFileSystem(FaultPlan* plan)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), plan_(plan) {}

  const char* Name() const override { return "FaultFileSystem"; }

  IOStatus NewSequentialFile(const std::string& name,
                             const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* debug) override {
    return Open<FaultySequentialFile>(file, "open to read", [&](auto* target) {
      return FileSystemWrapper::NewSequentialFile(name, options, target, debug);
    });
  }
  IOStatus NewRandomAccessFile(
      const std::string& name, const FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
      IODebugContext* debug) override {
    return Open<FaultyRandomAccessFile>(
        file, "open to read at random", [&](auto* target) {
          return FileSystemWrapper::NewRandomAccessFile(name, options, target,
                                                        debug);
        });
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    return Open<FaultyWritableFile>(
        file, "create",
        [&](auto* target) {
          return FileSystemWrapper::NewWritableFile(name, options, target,
                                                    debug);
        },
        kTakesSpace);
  }
  IOStatus ReopenWritableFile(const std::string& name,
                              const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    return Open<FaultyWritableFile>(file, "open to append", [&](auto* target) {
      return FileSystemWrapper::ReopenWritableFile(name, options, target,
                                                   debug);
    });
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext* debug) override {
    return Open<FaultyDirectory>(
        directory, "open a directory", [&](auto* target) {
          return FileSystemWrapper::NewDirectory(name, options, target, debug);
        });
  }
  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus s = plan_->Call("exists");
    return s.ok() ? FileSystemWrapper::FileExists(name, options, debug) : s;
  }
  IOStatus GetChildren(const std::string& name, const IOOptions& options,
                       std::vector<std::string>* children,
                       IODebugContext* debug) override {
    const IOStatus s = plan_->Call("list");
    return s.ok()
               ? FileSystemWrapper::GetChildren(name, options, children, debug)
               : s;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus s = plan_->Call("delete");
    return s.ok() ? FileSystemWrapper::DeleteFile(name, options, debug) : s;
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    const IOStatus s = plan_->Call("delete a directory");
    return s.ok() ? FileSystemWrapper::DeleteDir(name, options, debug) : s;
  }
  IOStatus IsDirectory(const std::string& name, const IOOptions& options,
                       bool* is_directory, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("look for a directory");
    return s.ok() ? FileSystemWrapper::IsDirectory(name, options, is_directory,
                                                   debug)
                  : s;
  }
  IOStatus CreateDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    const IOStatus s = plan_->Call("create a directory", kTakesSpace);
    return s.ok() ? FileSystemWrapper::CreateDir(name, options, debug) : s;
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    const IOStatus s = plan_->Call("create a directory", kTakesSpace);
    return s.ok() ? FileSystemWrapper::CreateDirIfMissing(name, options, debug)
                  : s;
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions& options,
                       uint64_t* size, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("size");
    return s.ok() ? FileSystemWrapper::GetFileSize(name, options, size, debug)
                  : s;
  }
  IOStatus GetFileModificationTime(const std::string& name,
                                   const IOOptions& options, uint64_t* time,
                                   IODebugContext* debug) override {
    const IOStatus s = plan_->Call("time");
    return s.ok() ? FileSystemWrapper::GetFileModificationTime(name, options,
                                                               time, debug)
                  : s;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to,
                      const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus s = plan_->Call("rename", kTakesSpace);
    return s.ok() ? FileSystemWrapper::RenameFile(from, to, options, debug) : s;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to,
                    const IOOptions& options, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("link", kTakesSpace);
    return s.ok() ? FileSystemWrapper::LinkFile(from, to, options, debug) : s;
  }
  IOStatus LockFile(const std::string& name, const IOOptions& options,
                    rocksdb::FileLock** lock, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("lock");
    return s.ok() ? FileSystemWrapper::LockFile(name, options, lock, debug) : s;
  }

 private:
  template <typename Faulty, typename File, typename OpenTarget>
  IOStatus Open(std::unique_ptr<File>* file, const char* what,
                OpenTarget open_target, bool takes_space = false) {
    IOStatus s = plan_->Call(what, takes_space);
    if (!s.ok()) return s;
    std::unique_ptr<File> target;
    s = open_target(&target);
    if (s.ok()) *file = std::make_unique<Faulty>(std::move(target), plan_);
    return s;
  }

  FaultPlan* const plan_;
};

// RocksDB sleeps for a second after background work that failed.
class ImpatientClock final : public rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "ImpatientClock"; }
  void SleepForMicroseconds(int micros) override {
    SystemClockWrapper::SleepForMicroseconds(std::min(micros, 1000));
  }
};

class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  explicit FaultEnv(FaultPlan* plan) : EnvWrapper(rocksdb::Env::Default()) {
    file_system_ = std::make_shared<FaultFileSystem>(plan);
    system_clock_ = std::make_shared<ImpatientClock>(
        rocksdb::Env::Default()->GetSystemClock());
  }
  const char* Name() const override { return "FaultEnv"; }
};

}  // namespace

void FaultPlan::FailCall(uint64_t call, bool for_good, Kind kind) {
  kind_ = kind;
  fail_to_ = UINT64_MAX;  // nothing between the two stores
  fail_from_ = UINT64_MAX;
  const uint64_t from = calls_ + call;
  fail_to_ = for_good ? UINT64_MAX : from + 1;
  fail_from_ = from;
}

IOStatus FaultPlan::Call(const char* what, bool takes_space) {
  if (kind_ == Kind::kNoSpace && !takes_space) return IOStatus::OK();
  const uint64_t call = ++calls_;
  if (call < fail_from_ || call >= fail_to_) return IOStatus::OK();
  ++faults_;
  const std::string message = std::string("injected at ") + what;
  return kind_ == Kind::kNoSpace ? IOStatus::NoSpace(message)
                                 : IOStatus::IOError(message);
}

IOStatus FaultPlan::Read() {
  if (OneIn(fail_reads_one_in_)) {
    ++faults_;
    return IOStatus::IOError("injected at a read");
  }
  return Call("read");
}

bool FaultPlan::OneIn(uint64_t n) { return n > 0 && Below(n) == 0; }

uint64_t FaultPlan::Below(uint64_t bound) {
  const std::scoped_lock lock(mutex_);
  return random_.Below(bound);
}

IOStatus FaultPlan::Damage(Slice* result, char* scratch) {
  if (damage_one_in_ == 0) return IOStatus::OK();
  std::string_view bytes(result->data(), result->size());
  for (size_t begin = bytes.find(kHead); begin != bytes.npos;
       begin = bytes.find(kHead, begin + 1)) {
    const size_t tail = bytes.find(kTail, begin);
    if (tail == bytes.npos) break;
    const size_t end = tail + kTail.size();
    if (!OneIn(damage_one_in_)) continue;
    ++damages_;
    if (result->data() != scratch) {  // the bytes may not be ours to change
      std::memcpy(scratch, bytes.data(), bytes.size());
      *result = Slice(scratch, bytes.size());
      bytes = {scratch, result->size()};
    }
    const size_t size = end - begin;
    // What would hit the rest of a longer read is for reads of the block alone.
    const bool is_alone = bytes.size() == size + kBlockTrailerBytes;
    switch (Below(is_alone ? 5 : 3)) {
      case 0: {
        // From somewhere behind the head to the end: without both head and
        // tail it would not be a block of rowbloom's.
        const size_t from = kHead.size() + Below(size - kHead.size());
        std::memset(scratch + begin + from, 0, size - from);
        break;
      }
      case 3:
        *result = Slice(scratch, Below(bytes.size()));
        return IOStatus::OK();
      case 4:
        return IOStatus::IOError("injected at a filter block");
      default:
        scratch[begin + Below(size)] ^= static_cast<char>(1 << Below(8));
    }
  }
  return IOStatus::OK();
}

std::unique_ptr<rocksdb::Env> NewFaultEnv(FaultPlan* plan) {
  return std::make_unique<FaultEnv>(plan);
}

}  // namespace rowbloom::stress
