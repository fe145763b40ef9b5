// A disk that a process dies on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/store/open_store.h"

namespace rowbloom::test {

// Counts what changes files and, from one such call on, lets nothing change any
// more: the disk as it is when the process dies there. Nothing waits for the
// disk, since it is processes that die here, not machines.
class PowerSwitch {
 public:
  explicit PowerSwitch(uint64_t calls_until_off)
      : calls_left_(calls_until_off) {}

  rocksdb::IOStatus Allow() {
    if (calls_left_ == 0) {
      was_off_ = true;
      return rocksdb::IOStatus::IOError("power is off");
    }
    --calls_left_;
    return rocksdb::IOStatus::OK();
  }
  void TurnOffAfter(uint64_t calls) { calls_left_ = calls; }
  bool was_off() const { return was_off_; }

 private:
  std::atomic<uint64_t> calls_left_;
  std::atomic<bool> was_off_{false};
};

class MortalDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  MortalDirectory(std::unique_ptr<rocksdb::FSDirectory> directory,
                  PowerSwitch* power)
      : FSDirectoryWrapper(std::move(directory)), power_(power) {}

  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&,
                          rocksdb::IODebugContext*) override {
    return power_->Allow();
  }
  rocksdb::IOStatus FsyncWithDirOptions(
      const rocksdb::IOOptions&, rocksdb::IODebugContext*,
      const rocksdb::DirFsyncOptions&) override {
    return power_->Allow();
  }

 private:
  PowerSwitch* const power_;
};

class MortalFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  MortalFile(std::unique_ptr<rocksdb::FSWritableFile> file, PowerSwitch* power)
      : FSWritableFileOwnerWrapper(std::move(file)), power_(power) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data,
                           const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = power_->Allow();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug)
                  : s;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data,
                           const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& verification,
                           rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = power_->Allow();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options,
                                                       verification, debug)
                  : s;
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&,
                         rocksdb::IODebugContext*) override {
    return power_->Allow();
  }

 private:
  PowerSwitch* const power_;
};

class MortalFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit MortalFileSystem(PowerSwitch* power)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), power_(power) {}

  const char* Name() const override { return "MortalFileSystem"; }

  rocksdb::IOStatus NewWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus s = power_->Allow();
    if (!s.ok()) return s;
    std::unique_ptr<rocksdb::FSWritableFile> target;
    s = FileSystemWrapper::NewWritableFile(name, options, &target, debug);
    if (s.ok()) {
      *file = std::make_unique<MortalFile>(std::move(target), power_);
    }
    return s;
  }
  rocksdb::IOStatus NewDirectory(
      const std::string& name, const rocksdb::IOOptions& options,
      std::unique_ptr<rocksdb::FSDirectory>* directory,
      rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> target;
    const rocksdb::IOStatus s =
        FileSystemWrapper::NewDirectory(name, options, &target, debug);
    if (s.ok()) {
      *directory = std::make_unique<MortalDirectory>(std::move(target), power_);
    }
    return s;
  }
  rocksdb::IOStatus CreateDirIfMissing(
      const std::string& name, const rocksdb::IOOptions& options,
      rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::CreateDirIfMissing(name, options, debug)
                  : s;
  }
  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::DeleteFile(name, options, debug) : s;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::RenameFile(from, to, options, debug) : s;
  }

 private:
  PowerSwitch* const power_;
};

// A disk whose power goes after that many changes.
struct MortalDisk {
  explicit MortalDisk(uint64_t calls_until_off) : power(calls_until_off) {}

  PowerSwitch power;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<MortalFileSystem>(&power));
  const Surroundings surroundings = {.env = env.get()};
};

constexpr uint64_t kNever = UINT64_MAX;

}  // namespace rowbloom::test
