#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rowbloom/hfile_transfer.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/hfile_transfer/cell_loader.h"
#include "storage/hfile_transfer/hbase_limits.h"
#include "storage/hfile_transfer/merged_cells.h"
#include "storage/hfile_transfer/progress_meter.h"
#include "storage/hfile_transfer/store_file_name.h"

namespace rowbloom {
namespace hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

using Families = std::map<std::string, FamilyOptions>;

// Names that HBase and its jobs give to other things than HFiles and families.
// A family may have a name with '_' all the same.
bool IsSkipped(const std::string& name, bool is_directory,
               const Families& families) {
  if (name.starts_with('_')) {
    return !is_directory || !families.contains(name);
  }
  return name.starts_with('.') || name == "recovered.edits";
}

// Adds the HFiles in a directory, by name.
Status FindFiles(const std::string& directory, const Families& families,
                 std::vector<std::string>* files) {
  std::error_code error;
  fs::recursive_directory_iterator entry(
      directory, fs::directory_options::follow_directory_symlink, error);
  std::vector<std::string> found;
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    const bool is_directory = entry->is_directory(error);
    if (error) break;
    const std::string name = entry->path().filename().string();
    if (IsSkipped(name, is_directory, families)) {
      if (is_directory) entry.disable_recursion_pending();
    } else if (!is_directory) {
      found.push_back(entry->path().string());
    }
  }
  if (error) {
    return Status::IOError(directory +
                           ": cannot read the directory: " + error.message());
  }
  std::sort(found.begin(), found.end());
  files->insert(files->end(), found.begin(), found.end());
  return Status::OK();
}

Status FindFiles(const std::vector<std::string>& paths,
                 const Families& families, std::vector<std::string>* files) {
  Status s;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      s = FindFiles(path, families, files);
    } else {
      files->push_back(path);
    }
    if (!s.ok()) return s;
  }
  return s;
}

// The number that HBase gave the file's contents; -1 where there is none.
int64_t MaxSequenceId(const HFileReader& file) {
  const auto found = file.file_info().find("MAX_SEQ_ID_KEY");
  if (found == file.file_info().end() ||
      found->second.size() != sizeof(uint64_t)) {
    return -1;
  }
  uint64_t number = 0;
  for (const char byte : found->second) {
    number = number << 8 | static_cast<uint8_t>(byte);
  }
  return static_cast<int64_t>(number);
}

// Cells of some bulk-loaded files keep their own numbers.
bool KeepsSequenceIds(const HFileReader& file) {
  const auto found = file.file_info().find("SKIP_RESET_SEQ_ID");
  return found != file.file_info().end() && !found->second.empty() &&
         found->second[0] != 0;
}

// One import, from paths to a load that is complete.
class Importer {
 public:
  Importer(const HFileImportOptions& options, Store* store,
           HFileImportReport* report)
      : options_(options),
        store_(store),
        report_(report),
        families_(store->Families()),
        meter_(options.progress) {
    reader_options_ = options.reader;
    if (reader_options_.block_cache == nullptr) {
      reader_options_.block_cache =
          NewHFileBlockCache(reader_options_.block_cache_bytes);
    }
  }

  Status Run(const std::vector<std::string>& paths);

 private:
  // Opens and closes a file that may be loaded, and notes where it goes.
  Status Look(const std::string& path, size_t place);
  Status CheckFamily(const std::string& path, const std::string& name) const;
  Status LoadFamily(const std::string& name, std::vector<SourceFile> files,
                    BulkLoad* load);

  const HFileImportOptions& options_;
  Store* const store_;
  HFileImportReport* const report_;
  const Families families_;
  HFileReaderOptions reader_options_;
  ProgressMeter meter_;
  std::map<std::string, std::vector<SourceFile>> files_;  // by target
};

Status Importer::Run(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  Status s = FindFiles(paths, families_, &files);
  for (size_t i = 0; s.ok() && i < files.size(); ++i) s = Look(files[i], i);
  std::unique_ptr<BulkLoad> load;
  if (s.ok()) s = store_->NewBulkLoad({}, &load);
  for (auto& [name, of_family] : files_) {
    if (s.ok()) s = LoadFamily(name, std::move(of_family), load.get());
  }
  return s.ok() ? load->Finish() : s;
}

Status Importer::Look(const std::string& path, size_t place) {
  const std::string name = fs::path(path).filename().string();
  std::unique_ptr<HFileReader> reader;
  Status s = HFileReader::Open(reader_options_, path, &reader);
  if (s.IsCorruption()) {
    // Neither is an HFile.
    const std::string reference = DescribeReference(name);
    if (!reference.empty()) return NotSupported(path, ": ", reference);
  }
  if (s.ok()) s = reader->CellsStatus();
  std::optional<int64_t> bulk_load;
  if (s.ok()) s = Prefixed(path + ": ", SequenceIdInName(name, &bulk_load));
  if (!s.ok()) return s;
  ++report_->files;
  if (reader->trailer().entry_count == 0) return meter_.CountFile();
  meter_.Expect(reader->trailer().entry_count);
  const std::optional<HFileKey> first = reader->FirstKey();
  if (!first) return Status::Corruption(path + ": cells without a first key");
  SourceFile file;
  file.path = path;
  file.family = first->family;
  file.first_row = first->row;
  file.place = place;
  file.sequence_id = bulk_load.value_or(MaxSequenceId(*reader));
  if (!KeepsSequenceIds(*reader)) file.mvcc = bulk_load;
  const std::string& target =
      options_.family.empty() ? file.family : options_.family;
  s = CheckFamily(path, target);
  if (s.ok()) files_[target].push_back(std::move(file));
  return s;
}

Status Importer::CheckFamily(const std::string& path,
                             const std::string& name) const {
  const auto family = families_.find(name);
  if (family == families_.end()) {
    return Status::InvalidArgument(path + ": cells of family \"" +
                                   ToPrintable(name) +
                                   "\", which is not in the store");
  }
  if (family->second.KeepsLatest() && !options_.latest_as_new) {
    return Status::InvalidArgument(
        path + ": family \"" + name +
        "\" keeps the latest version only, by the store's timestamps; "
        "latest_as_new takes the newest version of each cell, in place of "
        "what the store has");
  }
  return Status::OK();
}

Status Importer::LoadFamily(const std::string& name,
                            std::vector<SourceFile> files, BulkLoad* load) {
  MergedCells cells(reader_options_, std::move(files));
  CellLoader loader(options_, load, name, families_.at(name), report_);
  uint64_t files_read = 0;
  Status s = cells.Start();
  while (s.ok() && cells.Valid()) {
    const HFileCellView& cell = cells.cell();
    s = loader.Add(cell);
    if (!s.ok()) {
      return Prefixed(cells.file().path + ": " + DescribeCell(cell) + ": ", s);
    }
    s = meter_.CountCell(cell.row.size() + cell.qualifier.size() +
                         cell.value.size());
    if (s.ok()) s = cells.Next();
    for (; s.ok() && files_read < cells.files_read(); ++files_read) {
      s = meter_.CountFile();
    }
  }
  return s;
}

}  // namespace
}  // namespace hfile_transfer

rocksdb::Status ImportHFiles(const HFileImportOptions& options,
                             const std::vector<std::string>& paths,
                             Store* store, HFileImportReport* report) {
  *report = {};
  rocksdb::Status s = CatchExceptions([&] {
    return hfile_transfer::Importer(options, store, report).Run(paths);
  });
  if (!s.ok()) report->puts = report->deletes = report->skipped = 0;
  return s;
}

}  // namespace rowbloom
