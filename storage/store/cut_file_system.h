// The files of a store that is open for reading, as they were when the opening
// began, beside a writer that goes on.
//
// RocksDB reads the MANIFEST before the log. If a writer loaded a file and
// wrote in between, the database would have the write without the load.
// RocksDB's iterator over logs stops with an assertion (7.8.3 with assertions,
// as Debian's) at a record that is newer than the database, which it meets
// where numbers before that one are missing in the logs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/file_system.h"
#include "storage/store/found_store.h"

namespace rowbloom {

// Thread-safe. Tables and blob files are as they are; RocksDB never changes
// one.
class CutFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  CutFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target,
                StoreCut cut)
      : FileSystemWrapper(target), cut_(std::move(cut)) {}
  const char* Name() const override { return "rowbloom.CutFileSystem"; }

  // Busy: a MANIFEST that came after the cut.
  rocksdb::IOStatus NewSequentialFile(
      const std::string& file, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSSequentialFile>* opened,
      rocksdb::IODebugContext* debug) override {
    const std::string_view name =
        std::string_view(file).substr(file.rfind('/') + 1);
    uint64_t end = UINT64_MAX;
    if (IsLog(name)) {
      end = cut_.EndOfLog(name);
    } else if (name.starts_with(kManifestPrefix) && !cut_.manifest.empty()) {
      if (name != cut_.manifest) {
        return rocksdb::IOStatus::Busy("CURRENT names a new MANIFEST");
      }
      end = cut_.files.at(cut_.manifest);
    }
    rocksdb::IOStatus s =
        FileSystemWrapper::NewSequentialFile(file, options, opened, debug);
    if (s.ok() && end != UINT64_MAX) {
      *opened = std::make_unique<CutFile>(std::move(*opened), end);
    }
    return s;
  }

 private:
  class CutFile final : public rocksdb::FSSequentialFileOwnerWrapper {
   public:
    CutFile(std::unique_ptr<rocksdb::FSSequentialFile>&& file, uint64_t bytes)
        : FSSequentialFileOwnerWrapper(std::move(file)), left_(bytes) {}

    rocksdb::IOStatus Read(size_t bytes, const rocksdb::IOOptions& options,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* debug) override {
      const rocksdb::IOStatus s = FSSequentialFileOwnerWrapper::Read(
          std::min<uint64_t>(bytes, left_), options, result, scratch, debug);
      if (s.ok()) left_ -= result->size();
      return s;
    }
    rocksdb::IOStatus Skip(uint64_t bytes) override {
      bytes = std::min(bytes, left_);
      left_ -= bytes;
      return FSSequentialFileOwnerWrapper::Skip(bytes);
    }

   private:
    uint64_t left_;
  };

  const StoreCut cut_;
};

}  // namespace rowbloom
