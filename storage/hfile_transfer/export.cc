#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "rowbloom/hfile_transfer.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/wall_clock.h"
#include "storage/hfile_transfer/cell_tags.h"
#include "storage/hfile_transfer/export_directory.h"
#include "storage/hfile_transfer/hbase_limits.h"
#include "storage/hfile_transfer/progress_meter.h"

namespace rowbloom {
namespace hfile_transfer {
namespace {

using rocksdb::Status;

// Both have HBase's numbers.
HFileCellType TypeOf(ChangeType type) {
  return static_cast<HFileCellType>(type);
}

// The writer's options: what HFileOutputFormat2 says of its files, and what is
// true of ours.
HFileWriterOptions WriterOptions(const HFileExportOptions& options,
                                 const FamilyOptions& family, bool has_tags,
                                 rocksdb::Env* env) {
  HFileWriterOptions writer = options.file;
  writer.env = env;
  writer.tags |= has_tags;
  writer.bloom_type = family.bloom_type;
  // Rows of HBase have no longer prefixes.
  writer.bloom_prefix_bytes = std::min(
      family.row_prefix_length, static_cast<uint32_t>(kHFileMaxRowBytes));
  // The error rates that a float, and chunks of HBase's size, have room for.
  writer.bloom_error_rate =
      static_cast<float>(std::clamp(family.false_positive_rate, 1e-7, 0.5));
  writer.major_compaction = options.deletes == HFileDeletes::kApplied;
  if (!writer.exclude_from_minor_compaction) {
    writer.exclude_from_minor_compaction = false;
  }
  if (!writer.bulk_load_time_ms) {
    writer.bulk_load_time_ms = static_cast<int64_t>(SystemWallClock());
  }
  if (!writer.bulk_load_task) writer.bulk_load_task = "rowbloom";
  return writer;
}

// One export, from families to files out of sight.
class Exporter {
 public:
  Exporter(const HFileExportOptions& options, Store* store,
           ExportDirectory* directory, HFileExportReport* report)
      : options_(options),
        store_(store),
        directory_(directory),
        report_(report),
        meter_(options.progress),
        region_start_rows_(options.region_start_rows) {
    std::sort(region_start_rows_.begin(), region_start_rows_.end());
  }

  Status Run(const std::map<std::string, FamilyOptions>& families,
             const Snapshot* snapshot);

 private:
  Status ExportFamily(const std::string& name, const FamilyOptions& options,
                      const Snapshot* snapshot);
  // Makes file_ one that takes the row, which begins.
  Status BeginRow(const std::string& family, const FamilyOptions& options,
                  std::string_view row);
  Status OpenFile(const std::string& family, const FamilyOptions& options,
                  std::string_view row);
  Status FinishFile();

  const HFileExportOptions& options_;
  Store* const store_;
  ExportDirectory* const directory_;
  HFileExportReport* const report_;
  ProgressMeter meter_;
  std::vector<std::string> region_start_rows_;
  bool has_tags_ = false;  // those of TTLs

  std::unique_ptr<HFileWriter> file_;  // that of report_->files.back()
  std::string row_;                    // the last one in it
  size_t regions_begun_ = 0;           // count of region_start_rows_
  uint64_t files_in_region_ = 0;
};

Status Exporter::Run(const std::map<std::string, FamilyOptions>& families,
                     const Snapshot* snapshot) {
  StoreStats stats;
  Status s = store_->Stats(&stats);
  has_tags_ = stats.cell_ttls;
  for (const auto& [name, options] : families) {
    meter_.Expect(stats.families[name].estimated_cells);
  }
  for (const auto& [name, options] : families) {
    if (s.ok()) s = ExportFamily(name, options, snapshot);
  }
  return s;
}

Status Exporter::ExportFamily(const std::string& name,
                              const FamilyOptions& options,
                              const Snapshot* snapshot) {
  std::unique_ptr<CellIterator> cells;
  Status s =
      store_->NewCellIterator({name, options_.deletes == HFileDeletes::kKept,
                               snapshot, options_.start_row, options_.stop_row},
                              &cells);
  if (!s.ok()) return s;
  row_.clear();
  regions_begun_ = 0;
  files_in_region_ = 0;
  for (; cells->Valid(); cells->Next()) {
    const CellView& from = cells->cell();
    // HBase knows no places of versions that have run out.
    if (from.ttl_ms == 0) continue;
    HFileCellView cell;
    cell.row = from.row;
    cell.family = name;
    cell.qualifier = from.qualifier;
    cell.timestamp_ms = static_cast<int64_t>(from.timestamp_ms);
    cell.type = TypeOf(from.type);
    cell.value = from.value;
    // HBase adds both times as signed numbers.
    const std::string tag =
        from.ttl_ms ? EncodeTtlTag(std::min(
                          *from.ttl_ms, kMaxTimestampMs - from.timestamp_ms))
                    : "";
    cell.tags = tag;
    s = CheckCell(cell);
    if (s.ok() && cell.row != row_) s = BeginRow(name, options, cell.row);
    if (s.ok()) s = file_->Append(cell);
    if (s.ok()) {
      ++report_->files.back().cells;
      if (from.type != ChangeType::kPut) ++report_->files.back().deletes;
      s = meter_.CountCell(cell.row.size() + cell.qualifier.size() +
                           cell.value.size());
    }
    if (!s.ok()) return s;
  }
  s = cells->status();
  return s.ok() ? FinishFile() : s;
}

Status Exporter::BeginRow(const std::string& family,
                          const FamilyOptions& options, std::string_view row) {
  bool new_region = false;
  for (; regions_begun_ < region_start_rows_.size() &&
         region_start_rows_[regions_begun_] <= row;
       ++regions_begun_) {
    new_region = true;
  }
  Status s;
  if (new_region || (file_ && file_->file_bytes() >= options_.max_file_bytes)) {
    s = FinishFile();
  }
  if (new_region) files_in_region_ = 0;
  if (s.ok() && file_ == nullptr) s = OpenFile(family, options, row);
  row_ = row;
  return s;
}

Status Exporter::OpenFile(const std::string& family,
                          const FamilyOptions& options, std::string_view row) {
  const std::string name = NewFileName();
  std::string path;
  Status s = directory_->StagedPath(family, name, &path);
  if (s.ok()) {
    s = HFileWriter::Open(
        WriterOptions(options_, options, has_tags_, store_->GetEnv()), path,
        &file_);
  }
  if (!s.ok()) return s;
  HFileExported file;
  file.family = family;
  file.path = directory_->FinalPath(family, name);
  file.first_row = row;
  report_->files.push_back(std::move(file));
  ++files_in_region_;
  report_->most_files_per_region =
      std::max(report_->most_files_per_region, files_in_region_);
  return s;
}

Status Exporter::FinishFile() {
  if (file_ == nullptr) return Status::OK();
  Status s = file_->Finish();
  if (!s.ok()) return s;
  HFileExported& file = report_->files.back();
  file.last_row = row_;
  file.file_bytes = file_->file_bytes();
  file_.reset();
  return meter_.CountFile();
}

// Takes a snapshot, and finds the families of its time to export, by name.
Status ChooseFamilies(const HFileExportOptions& options, Store* store,
                      std::unique_ptr<const Snapshot>* snapshot,
                      std::map<std::string, FamilyOptions>* chosen) {
  do {
    *chosen = store->Families();
    if (Status s = store->GetSnapshot(snapshot); !s.ok()) return s;
  } while (*chosen != store->Families());
  if (!options.families.empty()) {
    std::map<std::string, FamilyOptions> all;
    all.swap(*chosen);
    for (const std::string& name : options.families) {
      const auto found = all.find(name);
      if (found == all.end()) {
        return Status::InvalidArgument("family \"" + ToPrintable(name) +
                                       "\" is not in the store");
      }
      chosen->insert(*found);
    }
  }
  for (const auto& [name, family] : *chosen) {
    if (Status s = CheckFamilyName(name); !s.ok()) return s;
  }
  return Status::OK();
}

Status CheckOptions(const HFileExportOptions& options) {
  if (options.max_file_bytes == 0) {
    return Status::InvalidArgument("max_file_bytes is 0, expected at least 1");
  }
  for (const std::string& row : options.region_start_rows) {
    if (row.size() <= kHFileMaxRowBytes) continue;
    return Status::InvalidArgument(
        "a region that starts with a row of " + std::to_string(row.size()) +
        " bytes, HBase takes up to " + std::to_string(kHFileMaxRowBytes));
  }
  return Status::OK();
}

Status Export(const HFileExportOptions& options, Store* store,
              const std::string& path, HFileExportReport* report) {
  *report = {};
  std::map<std::string, FamilyOptions> families;
  std::unique_ptr<const Snapshot> snapshot;
  Status s = CheckOptions(options);
  if (s.ok()) s = ChooseFamilies(options, store, &snapshot, &families);
  std::unique_ptr<ExportDirectory> directory;
  if (s.ok()) s = ExportDirectory::Create(store->GetEnv(), path, &directory);
  if (s.ok()) {
    s = CatchExceptions([&] {
      Exporter exporter(options, store, directory.get(), report);
      const Status written = exporter.Run(families, snapshot.get());
      return written.ok() ? directory->Commit() : written;
    });
  }
  if (!s.ok()) {
    std::erase_if(report->files, [&](const HFileExported& file) {
      return directory == nullptr ||
             !directory->families_in_place().contains(file.family);
    });
  }
  return s;
}

}  // namespace
}  // namespace hfile_transfer

rocksdb::Status ExportHFiles(const HFileExportOptions& options, Store* store,
                             const std::string& directory,
                             HFileExportReport* report) {
  return CatchExceptions([&] {
    return hfile_transfer::Export(options, store, directory, report);
  });
}

}  // namespace rowbloom
