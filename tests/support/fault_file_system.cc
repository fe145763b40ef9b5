#include "tests/support/fault_file_system.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "rocksdb/system_clock.h"

namespace rowbloom::test {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

// The head and the tail of a filter block, by lib/block/FORMAT.md.
constexpr std::string_view kHead = "ROWBLOOM";
constexpr std::string_view kTail = "\x9cRWBL";
constexpr size_t kBlockTrailerBytes = 5;  // RocksDB's, behind each block

using Effect = FaultPlan::Effect;

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
                     std::string path, FaultPlan* plan, Disk* disk,
                     Disk::File on_disk)
      : FSWritableFileOwnerWrapper(std::move(file)),
        path_(std::move(path)),
        plan_(plan),
        disk_(disk),
        on_disk_(std::move(on_disk)) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    IOStatus s = Call("append", Effect::kTakesSpace);
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
    // Without power it promises nothing, and RocksDB 7.8.3 with assertions may
    // stop when that of a log fails
    // (MemTable::ConstructFragmentedRangeTombstones).
    if (plan_->is_power_cut()) return IOStatus::OK();
    const IOStatus s = Call("flush", Effect::kTakesSpace);
    return s.ok() ? FSWritableFileOwnerWrapper::Flush(options, debug) : s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return SyncAs("sync", options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return SyncAs("fsync", options, debug);
  }
  // Promises nothing.
  IOStatus RangeSync(uint64_t /*offset*/, uint64_t /*bytes*/, const IOOptions&,
                     IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    IOStatus s = Call("truncate", Effect::kChange);
    if (s.ok()) s = FSWritableFileOwnerWrapper::Truncate(size, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->Truncated(on_disk_, size);
    return s;
  }
  // Compactions ask for these priorities, and flushes for others unless writes
  // are held up. Files of a compaction do not fail: when all keys of its output
  // are gone (taken by range tombstones) and writing it fails, RocksDB 7.8.3
  // asks for the smallest key of the output and stops with an assertion
  // (CompactionJob::UpdateCompactionJobStats).
  void SetIOPriority(rocksdb::Env::IOPriority priority) override {
    is_of_compaction_ =
        priority == rocksdb::Env::IO_LOW || priority == rocksdb::Env::IO_USER;
    FSWritableFileOwnerWrapper::SetIOPriority(priority);
  }
  // Closes in any case, and syncs nothing.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    const IOStatus s = Call("close");
    const IOStatus closed = FSWritableFileOwnerWrapper::Close(options, debug);
    return s.ok() ? closed : s;
  }

 private:
  IOStatus Call(const char* what, Effect effect = Effect::kNone) {
    return is_of_compaction_ ? IOStatus::OK() : plan_->Call(what, effect);
  }

  IOStatus SyncAs(const char* what, const IOOptions& options,
                  IODebugContext* debug) {
    // Appends that go on meanwhile may be synced, or not. What others can read
    // is, although RocksDB may not have added it to its own size yet.
    std::error_code ignored;
    const auto readable = std::filesystem::file_size(path_, ignored);
    const uint64_t bytes = std::max<uint64_t>(GetFileSize(options, debug),
                                              ignored ? 0 : uint64_t{readable});
    IOStatus s = Call(what, Effect::kTakesSpace);
    if (s.ok() && disk_ != nullptr) disk_->Synced(on_disk_, path_, bytes);
    return s;
  }

  const std::string path_;
  FaultPlan* const plan_;
  Disk* const disk_;  // may be nullptr
  const Disk::File on_disk_;
  bool is_of_compaction_ = false;
};

class FaultyDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(std::unique_ptr<rocksdb::FSDirectory> directory,
                  std::string path, FaultPlan* plan, Disk* disk)
      : FSDirectoryWrapper(std::move(directory)),
        path_(std::move(path)),
        plan_(plan),
        disk_(disk) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    IOStatus s = plan_->Call("sync of a directory", Effect::kTakesSpace);
    if (s.ok() && disk_ != nullptr) disk_->SyncedDirectory(path_);
    return s;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  const std::string path_;
  FaultPlan* const plan_;
  Disk* const disk_;  // may be nullptr
};

// All calls but the one that gives up the lock, without which the process could
// not open the database again.
class FaultFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultFileSystem(FaultPlan* plan, Disk* disk)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        plan_(plan),
        disk_(disk) {}

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
    IOStatus s = plan_->Call("create", Effect::kTakesSpace);
    // Without power a log is created that the disk does not have. When a log
    // cannot be created, and two threads flush, RocksDB 7.8.3 with assertions
    // stops (MemTable::ConstructFragmentedRangeTombstones).
    const bool is_lost = !s.ok() && disk_ != nullptr && name.ends_with(".log");
    if (!s.ok() && !is_lost) return s;
    std::unique_ptr<rocksdb::FSWritableFile> target;
    s = FileSystemWrapper::NewWritableFile(name, options, &target, debug);
    if (!s.ok()) return s;
    *file = std::make_unique<FaultyWritableFile>(
        std::move(target), name, plan_, disk_,
        disk_ == nullptr || is_lost ? nullptr : disk_->OpenedNew(name));
    return s;
  }
  IOStatus ReopenWritableFile(const std::string& name,
                              const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    IOStatus s = plan_->Call("open to append", Effect::kChange);
    std::unique_ptr<rocksdb::FSWritableFile> target;
    if (s.ok()) {
      s = FileSystemWrapper::ReopenWritableFile(name, options, &target, debug);
    }
    if (!s.ok()) return s;
    *file = std::make_unique<FaultyWritableFile>(
        std::move(target), name, plan_, disk_,
        disk_ == nullptr ? nullptr : disk_->OpenedToAppend(name));
    return s;
  }
  // A disk is not told of what they do.
  IOStatus ReuseWritableFile(const std::string& name,
                             const std::string& old_name,
                             const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* debug) override {
    if (disk_ != nullptr) return IOStatus::NotSupported("reuse of " + old_name);
    return FileSystemWrapper::ReuseWritableFile(name, old_name, options, file,
                                                debug);
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                           IODebugContext* debug) override {
    if (disk_ != nullptr) return IOStatus::NotSupported("update of " + name);
    return FileSystemWrapper::NewRandomRWFile(name, options, file, debug);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext* debug) override {
    IOStatus s = plan_->Call("open a directory");
    std::unique_ptr<rocksdb::FSDirectory> target;
    if (s.ok()) {
      s = FileSystemWrapper::NewDirectory(name, options, &target, debug);
    }
    if (s.ok()) {
      *directory = std::make_unique<FaultyDirectory>(std::move(target), name,
                                                     plan_, disk_);
    }
    return s;
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
    IOStatus s = plan_->Call("delete", Effect::kChange);
    if (s.ok()) s = FileSystemWrapper::DeleteFile(name, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->Deleted(name);
    return s;
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    IOStatus s = plan_->Call("delete a directory", Effect::kChange);
    if (s.ok()) s = FileSystemWrapper::DeleteDir(name, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->Deleted(name);
    return s;
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
    IOStatus s = plan_->Call("create a directory", Effect::kTakesSpace);
    if (s.ok()) s = FileSystemWrapper::CreateDir(name, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->MadeDirectory(name);
    return s;
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    IOStatus s = plan_->Call("create a directory", Effect::kTakesSpace);
    if (s.ok()) s = FileSystemWrapper::CreateDirIfMissing(name, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->MadeDirectory(name);
    return s;
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
    IOStatus s = plan_->Call("rename", Effect::kTakesSpace);
    if (s.ok()) s = FileSystemWrapper::RenameFile(from, to, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->Renamed(from, to);
    return s;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to,
                    const IOOptions& options, IODebugContext* debug) override {
    IOStatus s = plan_->Call("link", Effect::kTakesSpace);
    if (s.ok()) s = FileSystemWrapper::LinkFile(from, to, options, debug);
    if (s.ok() && disk_ != nullptr) disk_->Linked(from, to);
    return s;
  }
  IOStatus LockFile(const std::string& name, const IOOptions& options,
                    rocksdb::FileLock** lock, IODebugContext* debug) override {
    const IOStatus s = plan_->Call("lock");
    return s.ok() ? FileSystemWrapper::LockFile(name, options, lock, debug) : s;
  }

 private:
  template <typename Faulty, typename File, typename OpenTarget>
  IOStatus Open(std::unique_ptr<File>* file, const char* what,
                OpenTarget open_target) {
    IOStatus s = plan_->Call(what);
    if (!s.ok()) return s;
    std::unique_ptr<File> target;
    s = open_target(&target);
    if (s.ok()) *file = std::make_unique<Faulty>(std::move(target), plan_);
    return s;
  }

  FaultPlan* const plan_;
  Disk* const disk_;  // may be nullptr
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

// Env's own calls have to go through the file system, too: those of an
// EnvWrapper of the default Env would not.
class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  explicit FaultEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system)
      : EnvWrapper(rocksdb::NewCompositeEnv(file_system)) {
    file_system_ = file_system;
    system_clock_ = std::make_shared<ImpatientClock>(
        rocksdb::Env::Default()->GetSystemClock());
  }
  const char* Name() const override { return "FaultEnv"; }
};

}  // namespace

void FaultPlan::FailNoCall() {
  fail_to_ = UINT64_MAX;  // nothing between the two stores
  fail_from_ = UINT64_MAX;
}

void FaultPlan::FailCall(uint64_t call, bool for_good, Kind kind) {
  kind_ = kind;
  FailNoCall();
  const uint64_t from = calls_ + call;
  fail_to_ = for_good ? UINT64_MAX : from + 1;
  fail_from_ = from;
}

IOStatus FaultPlan::Call(const char* what, Effect effect) {
  const Kind kind = kind_;
  if (kind == Kind::kNoSpace && effect != Effect::kTakesSpace) {
    return IOStatus::OK();
  }
  const bool counts = kind != Kind::kPowerCut || effect != Effect::kNone;
  const uint64_t call = counts ? ++calls_ : calls_.load();
  if (call < fail_from_ || call >= fail_to_) return IOStatus::OK();
  ++faults_;
  const std::string message = std::string("injected at ") + what;
  IOStatus s = kind == Kind::kNoSpace ? IOStatus::NoSpace(message)
                                      : IOStatus::IOError(message);
  s.SetRetryable(kind == Kind::kRetryable);
  return s;
}

IOStatus FaultPlan::Read() {
  if (OneIn(fail_reads_one_in_)) {
    ++faults_;
    return IOStatus::IOError("injected at a read");
  }
  return is_power_cut() ? IOStatus::OK() : Call("read");
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
    // Damage that would hit the rest of a longer read is for reads of the block
    // alone.
    const bool is_alone = bytes.size() == size + kBlockTrailerBytes;
    switch (Below(is_alone ? 5 : 3)) {
      case 0: {
        // The zeros go from somewhere behind the head to the end: without both
        // head and tail it would not be a block of rowbloom's.
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

std::unique_ptr<rocksdb::Env> NewFaultEnv(FaultPlan* plan, Disk* disk) {
  return std::make_unique<FaultEnv>(
      std::make_shared<FaultFileSystem>(plan, disk));
}

}  // namespace rowbloom::test
