// The records that HBase keeps beside its HFiles, and the tags of a cell: each
// input is read as every kind of them.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "storage/hfile_transfer/cell_tags.h"
#include "storage/hfile_transfer/family_settings.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/mob_files.h"
#include "storage/hfile_transfer/store_file_name.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::fuzz {
namespace {

using namespace hfile_transfer;  // NOLINT(google-build-using-namespace)
using rocksdb::Status;

// A snapshot's directory, with a file of any bytes and one that is as it should
// be.
class Snapshot {
 public:
  explicit Snapshot(const MemoryFile& memory) {
    std::ofstream(of_manifest_.File(".snapshotinfo")) << "\n\001s(\002";
    std::filesystem::create_symlink(memory.Path(),
                                    of_manifest_.File("data.manifest"));
    std::filesystem::create_symlink(memory.Path(),
                                    of_description_.File(".snapshotinfo"));
    std::ofstream(of_description_.File("data.manifest")).flush();
  }

  std::string of_manifest() const { return of_manifest_.path().string(); }
  std::string of_description() const { return of_description_.path().string(); }

 private:
  test::TempDir of_manifest_;
  test::TempDir of_description_;
};

void CheckError(const Status& status, const std::string& path) {
  Check(status.IsCorruption() || status.IsNotSupported(),
        "bytes that cannot be read are corrupt or not supported");
  Check(status.ToString().find(path) != std::string::npos,
        "an error names the file");
}

bool IsOneName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

void CheckHalf(const RowRange& rows) {
  Check(rows.start_row.empty() || rows.stop_row.empty(),
        "a half has one end of its own");
}

void CheckRegions(const MemoryFile& memory) {
  RowRange half;
  Status status = ReadReference(memory.Path(), &half);
  if (!status.ok()) CheckError(status, memory.Path());
  if (status.ok()) CheckHalf(half);
  RegionInfo region;
  status = ReadRegionInfo(memory.Path(), &region);
  if (!status.ok()) CheckError(status, memory.Path());
}

void CheckFamily(const FamilySchema& family) {
  FamilyOptions options;
  const Status status = ToFamilyOptions(family, &options);
  Check(status.ok() || status.IsInvalidArgument() || status.IsNotSupported() ||
            status.IsCorruption(),
        "a setting is taken or refused");
  if (!status.ok()) return;
  Check(options.timestamps == Timestamps::kClient, "cells keep their time");
  Check(options.block_size_bytes >= 1024 &&
            options.block_size_bytes <= size_t{16} << 20,
        "a block has a size that a store takes");
}

void CheckName(const std::string& name) {
  std::optional<int64_t> number;
  const Status status = SequenceIdInName(name, &number);
  Check(status.ok() || status.IsInvalidArgument(), "a number is one or none");
  Check(number.value_or(0) >= 0, "bulk loads have no negative numbers");
  const auto target = TargetInName(name);
  if (!target || !IsOneName(name)) return;
  Check(IsOneName(target->file) && IsOneName(target->region),
        "a reference names a file in a region");
  Check(target->table.empty() ||
            (IsOneName(target->table) && IsOneName(target->name_space)),
        "a link leads to a table");
}

void CheckSnapshots(const Snapshot& snapshot) {
  SnapshotManifest manifest;
  Status status = ReadSnapshotManifest(snapshot.of_description(), &manifest);
  Check(!status.ok(), "an empty manifest has no table");
  CheckError(status, snapshot.of_description());
  manifest = {};
  status = ReadSnapshotManifest(snapshot.of_manifest(), &manifest);
  if (!status.ok()) {
    CheckError(status, snapshot.of_manifest() + "/data.manifest");
    return;
  }
  Check(IsOneName(manifest.table) && IsOneName(manifest.name_space),
        "a snapshot is of a table");
  for (const FamilySchema& family : manifest.families) CheckFamily(family);
  for (const SnapshotRegion& region : manifest.regions) {
    for (const SnapshotFile& file : region.files) {
      Check(IsOneName(file.name) && IsOneName(file.family),
            "a file is in a family");
      if (file.half) CheckHalf(*file.half);
      CheckName(file.name);
    }
  }
}

void CheckTags(std::string_view bytes) {
  CellTags tags;
  Status status = ParseTags(bytes, &tags);
  Check(status.ok() || status.IsInvalidArgument(), "bytes are tags or are not");
  Check(!tags.is_mob_reference || !bytes.empty(), "a tag takes bytes");
  const HFileCellView cell = {.row = "r", .family = "f", .value = bytes};
  MobReference reference;
  status =
      ParseMobReference(cell, status.ok() ? tags.mob_table : bytes, &reference);
  Check(status.ok() || status.IsInvalidArgument(),
        "a cell refers to a MOB file or does not");
  if (!status.ok()) return;
  Check(IsOneName(reference.file) && IsOneName(reference.table) &&
            IsOneName(reference.name_space),
        "a reference leads to a file of a table");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const rowbloom::fuzz::MemoryFile memory;
  static const rowbloom::fuzz::Snapshot snapshot(memory);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  memory.Write(bytes);
  rowbloom::fuzz::CheckRegions(memory);
  rowbloom::fuzz::CheckSnapshots(snapshot);
  rowbloom::fuzz::CheckTags(bytes);
  rowbloom::fuzz::CheckName(bytes);
  return 0;
}
