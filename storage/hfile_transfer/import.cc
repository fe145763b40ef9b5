#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/hfile_transfer.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/format/coding.h"
#include "storage/format/family_name.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/format/wall_clock.h"
#include "storage/hfile_transfer/cell_loader.h"
#include "storage/hfile_transfer/family_settings.h"
#include "storage/hfile_transfer/hbase_limits.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/merged_cells.h"
#include "storage/hfile_transfer/mob_files.h"
#include "storage/hfile_transfer/progress_meter.h"
#include "storage/hfile_transfer/snapshot.h"
#include "storage/hfile_transfer/store_file_name.h"
#include "storage/hfile_transfer/store_files.h"

namespace rowbloom {
namespace hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

using Families = std::map<std::string, FamilyOptions>;

// The number in the file info; `absent` where there is none of this name.
int64_t NumberIn(const HFileReader& file, const char* name, int64_t absent) {
  const auto found = file.file_info().find(name);
  if (found == file.file_info().end() ||
      found->second.size() != sizeof(uint64_t)) {
    return absent;
  }
  return static_cast<int64_t>(LoadBig<uint64_t>(found->second.data()));
}

// Cells of some bulk-loaded files keep their own numbers.
bool KeepsSequenceIds(const HFileReader& file) {
  const auto found = file.file_info().find("SKIP_RESET_SEQ_ID");
  return found != file.file_info().end() && !found->second.empty() &&
         found->second[0] != 0;
}

Status InCell(const SourceFile& file, const HFileCellView& cell,
              const Status& problem) {
  return Prefixed(file.path + ": " + DescribeCell(cell) + ": ", problem);
}

std::string DirectoryOf(const HFileSnapshot& snapshot) {
  return snapshot.directory + "/.hbase-snapshot/" + snapshot.name;
}

// One import, from files to a load that is complete.
class Importer {
 public:
  Importer(const HFileImportOptions& options, Store* store,
           HFileImportReport* report)
      : options_(options),
        taken_(options.families.begin(), options.families.end()),
        store_(store),
        report_(report),
        families_(store == nullptr ? Families() : store->Families()),
        meter_(options.progress) {
    reader_options_ = options.reader;
    if (reader_options_.block_cache == nullptr) {
      reader_options_.block_cache =
          NewHFileBlockCache(reader_options_.block_cache_bytes);
    }
    mob_files_.emplace(reader_options_);
  }

  Status RunPaths(const std::vector<std::string>& paths);
  Status RunSnapshot(const HFileSnapshot& snapshot);

 private:
  bool Takes(const std::string& family) const {
    return taken_.empty() || taken_.contains(family);
  }
  // Finds the families of the table that the store is to get.
  Status PlanFamilies(const SnapshotManifest& manifest);
  // Creates them, loads the files, and drops them if that fails.
  Status Run(const std::vector<StoreFile>& files);
  // Tells the meter how many cells will be read.
  void ExpectCells();
  // Checks that the families that are to be taken exist.
  Status CheckTaken() const;
  // Returns `why`, with the names of families that could not be dropped.
  Status DropNewFamilies(Status why);
  Status Load(BulkLoad* load);

  // Opens and closes a file that may be loaded, and notes where it goes.
  Status Look(const StoreFile& found, size_t place);
  Status NoteReplaced(const HFileReader& reader, SourceFile* file);
  bool IsReplaced(const SourceFile& file) const {
    const auto found = replaced_.find(file.in_store);
    return found != replaced_.end() && found->second > 0;
  }
  // Leaves the files of a target that are to be loaded: passes over those that
  // a compaction has replaced and, to keep going, reads the others and leaves
  // out those with an error. The files that a refused one has replaced are not
  // passed over. nullptr: there is no load in a dry run.
  Status ChooseFiles(const std::string& name, std::vector<SourceFile>* files,
                     BulkLoad* load);
  // The error that an import of the file would have after those that were kept,
  // but for the values of its cells in MOB files. *kept changes only without an
  // error: a file that is left out has no part in the checks of the others.
  Status ReadThrough(const SourceFile& file, std::optional<CellLoader>* kept);
  // Counts the files that are to be loaded, and those that were replaced.
  Status CountChosen(const std::vector<SourceFile>& chosen, size_t replaced);
  // Leaves out the files with a cell whose value cannot be read in its MOB
  // file. The cells that need none, because others delete or replace them, are
  // known only where all files are merged.
  Status LeaveOutLacking(const std::string& name, BulkLoad* load,
                         std::vector<SourceFile>* files, bool* some_are_out);
  void LeaveOut(const SourceFile& file, Status why);
  Status CheckFamily(const std::string& path, const std::string& name) const;
  Status LoadFamily(const std::string& name, std::vector<SourceFile> files,
                    BulkLoad* load);
  Status CountCell(const HFileCellView& cell) {
    return meter_.CountCell(cell.row.size() + cell.qualifier.size() +
                            cell.value.size());
  }

  const HFileImportOptions& options_;
  const std::set<std::string> taken_;  // families; empty: all
  Store* const store_;
  HFileImportReport* const report_;
  // The time by which each reading of the files leaves out what has run out.
  const uint64_t wall_ms_ = SystemWallClock();
  Families families_;  // the store's, and the new ones
  HFileReaderOptions reader_options_;
  std::optional<MobFiles> mob_files_;
  ProgressMeter meter_;
  std::map<std::string, std::vector<SourceFile>> files_;  // by target
  // The number of files that say they replaced each of the files, by its
  // in_store.
  std::map<std::string, uint64_t> replaced_;
  // The families of the snapshot's table and of the files that have cells.
  std::set<std::string> found_families_;
};

Status Importer::RunPaths(const std::vector<std::string>& paths) {
  std::vector<StoreFile> files;
  Status s = FindStoreFiles(
      paths,
      [this](const std::string& name) { return families_.contains(name); },
      &files, &report_->passed_over);
  return s.ok() ? Run(files) : s;
}

Status Importer::RunSnapshot(const HFileSnapshot& snapshot) {
  SnapshotManifest manifest;
  Status s = ReadSnapshotManifest(DirectoryOf(snapshot), &manifest);
  if (s.ok() && options_.family.empty()) s = PlanFamilies(manifest);
  for (const FamilySchema& schema : manifest.families) {
    found_families_.insert(schema.name);
  }
  std::vector<StoreFile> files;
  if (s.ok()) {
    s = FindSnapshotFiles(
        snapshot.directory, manifest,
        [this](const std::string& name) { return Takes(name); }, &files,
        &report_->passed_over);
  }
  return s.ok() ? Run(files) : s;
}

Status Importer::PlanFamilies(const SnapshotManifest& manifest) {
  const std::string table = manifest.name_space + ":" + manifest.table;
  std::set<std::string> missing = taken_;
  for (const FamilySchema& schema : manifest.families) {
    missing.erase(schema.name);
    if (!Takes(schema.name) || families_.contains(schema.name)) continue;
    Status s = rowbloom::CheckFamilyName(schema.name);
    if (!s.ok()) {
      return InvalidArgument(
          "table ", ToPrintable(table), ": ", s.getState(),
          "; load it alone, into a family of another name, or leave it out");
    }
    FamilyOptions family;
    s = ToFamilyOptions(schema, &family);
    if (!s.ok()) {
      return Prefixed(
          Concat("family \"", ToPrintable(schema.name), "\" of table ",
                 ToPrintable(table),
                 ", which the store does not have; create it before with other "
                 "options, or leave it out: "),
          s);
    }
    families_.emplace(schema.name, family);
    report_->new_families.push_back({schema.name, family});
  }
  if (!missing.empty()) {
    return InvalidArgument("table ", ToPrintable(table), " has no family \"",
                           ToPrintable(*missing.begin()), "\"");
  }
  return Status::OK();
}

Status Importer::Run(const std::vector<StoreFile>& files) {
  Status s;
  for (const StoreFile& file : files) replaced_.emplace(file.in_store, 0);
  for (size_t i = 0; s.ok() && i < files.size(); ++i) {
    s = Look(files[i], i);
    if (options_.keep_going && !s.ok() && !s.IsIncomplete()) {
      report_->left_out.push_back(std::exchange(s, Status::OK()));
    }
  }
  ExpectCells();
  if (s.ok()) s = CheckTaken();
  if (options_.dry_run) {
    for (auto& [name, of_family] : files_) {
      if (s.ok()) s = ChooseFiles(name, &of_family, nullptr);
    }
    return s;
  }
  if (s.ok()) s = store_->CreateFamilies(report_->new_families);
  if (!s.ok()) return s;
  std::unique_ptr<BulkLoad> load;
  s = CatchExceptions([&] {
    const Status begun = store_->NewBulkLoad({}, &load);
    return begun.ok() ? Load(load.get()) : begun;
  });
  report_->may_be_loaded = !s.ok() && load != nullptr && load->MayBeLoaded();
  // New families may have cells of the load, too.
  if (s.ok() || report_->may_be_loaded) return s;
  return DropNewFamilies(std::move(s));
}

void Importer::ExpectCells() {
  const uint64_t readings =
      (options_.keep_going ? 1U : 0U) + (options_.dry_run ? 0U : 1U);
  for (const auto& [name, of_family] : files_) {
    for (const SourceFile& file : of_family) {
      if (!IsReplaced(file)) meter_.Expect(readings * file.entries);
    }
  }
}

Status Importer::CheckTaken() const {
  // A file that was left out might have had the family.
  if (!report_->left_out.empty()) return Status::OK();
  for (const std::string& name : options_.families) {
    if (families_.contains(name) || found_families_.contains(name)) continue;
    return InvalidArgument("family \"", ToPrintable(name),
                           "\", which is to be taken, is neither in the files "
                           "nor in the store");
  }
  return Status::OK();
}

Status Importer::DropNewFamilies(Status why) {
  for (const FamilyDescriptor& family : report_->new_families) {
    const Status dropped = store_->DropFamily(family.name);
    if (!dropped.ok()) {
      why = Aborted(why.ToString(), "; family \"", ToPrintable(family.name),
                    "\" was created and stays: ", dropped.ToString());
    }
  }
  return why;
}

Status Importer::Load(BulkLoad* load) {
  Status s;
  for (auto& [name, of_family] : files_) {
    if (s.ok()) s = ChooseFiles(name, &of_family, load);
    if (s.ok()) s = LoadFamily(name, std::move(of_family), load);
  }
  return s.ok() ? load->Finish() : s;
}

Status Importer::Look(const StoreFile& found, size_t place) {
  if (!found.problem.ok()) return found.problem;
  SourceFile file;
  file.in_store = found.in_store;
  file.path = found.path;
  file.root = found.root;
  file.place = place;
  file.rows = found.rows;
  file.rows.ClipTo({options_.start_row, options_.stop_row});
  std::unique_ptr<HFileReader> reader;
  Status s = HFileReader::Open(reader_options_, file.path, &reader);
  if (s.ok()) s = reader->CellsStatus();
  std::optional<int64_t> bulk_load;
  if (s.ok()) {
    s = Prefixed(
        file.path + ": ",
        SequenceIdInName(fs::path(file.path).filename().string(), &bulk_load));
  }
  if (!s.ok()) return s;
  file.entries = reader->trailer().entry_count;
  const std::optional<HFileKey> first = reader->FirstKey();
  if (file.entries > 0 && !first) {
    return Status::Corruption(file.path + ": cells without a first key");
  }
  s = NoteReplaced(*reader, &file);
  if (!s.ok()) return s;
  ++report_->files;
  if (file.entries == 0) return meter_.CountFile();
  file.family = first->family;
  found_families_.insert(file.family);
  if (!reader->KeyRangeMayContain(file.rows.start_row, file.rows.stop_row)) {
    return meter_.CountFile();
  }
  if (!Takes(file.family)) {
    ++report_->passed_over["files of other families"];
    return meter_.CountFile();
  }
  file.first_row = std::max(std::string_view(file.rows.start_row), first->row);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  file.sequence_id =
      bulk_load.value_or(NumberIn(*reader, "MAX_SEQ_ID_KEY", -1));
  if (file.sequence_id >= 0) {
    file.file_bytes = static_cast<int64_t>(reader->file_bytes());
    file.load_time_ms = NumberIn(*reader, "BULKLOAD_TIMESTAMP", kMost);
    // HBase does so, too (HStoreFile.open), and not for a link to a whole file.
    if (found.is_upper && file.sequence_id < kMost) ++file.sequence_id;
  }
  const bool is_bulk_loaded =
      bulk_load || reader->file_info().contains("BULKLOAD_TIMESTAMP");
  if (is_bulk_loaded && !KeepsSequenceIds(*reader)) {
    file.mvcc = file.sequence_id;
  } else if (is_bulk_loaded && file.sequence_id < kMost) {
    // HBase does so, too: the load has the number of the flush before it, and
    // its cells have those of the cells that they replace.
    ++file.sequence_id;
  }
  const std::string& target =
      options_.family.empty() ? file.family : options_.family;
  s = CheckFamily(file.path, target);
  if (s.ok()) files_[target].push_back(std::move(file));
  return s;
}

// HBase deletes the inputs of a compaction some time after its output is there,
// or when it opens the region, by the names in the output. Until then the
// inputs have cells whose deletes may be gone from the output.
Status Importer::NoteReplaced(const HFileReader& reader, SourceFile* file) {
  const auto compaction = reader.file_info().find("COMPACTION_EVENT_KEY");
  if (compaction == reader.file_info().end()) return Status::OK();
  std::vector<std::string> names;
  Status s = ReadCompactedFiles(compaction->second, &names);
  if (!s.ok()) return Prefixed(file->path + ": ", s);
  const std::string store =
      file->in_store.substr(0, file->in_store.rfind('/') + 1);
  for (const std::string& name : names) {
    const auto found = replaced_.find(store + name);
    if (found == replaced_.end()) continue;
    if (file->replaced.insert(found->first).second) ++found->second;
  }
  return s;
}

Status Importer::ChooseFiles(const std::string& name,
                             std::vector<SourceFile>* files, BulkLoad* load) {
  std::vector<SourceFile> left = std::exchange(*files, {});
  const CellLoader none(CellLoader::Mode::kTry, options_, wall_ms_, load, name,
                        families_.at(name), &*mob_files_, report_);
  std::optional<CellLoader> kept(none);
  for (bool again = true; again;) {
    again = false;
    std::vector<SourceFile> replaced;
    for (SourceFile& file : left) {
      if (IsReplaced(file)) {
        replaced.push_back(std::move(file));
        continue;
      }
      Status s = options_.keep_going ? ReadThrough(file, &kept) : Status::OK();
      if (s.IsIncomplete()) return s;
      if (s.ok()) {
        files->push_back(std::move(file));
        continue;
      }
      LeaveOut(file, std::move(s));
      again = true;
    }
    left = std::move(replaced);
    if (again || !kept->has_references()) continue;
    Status s = LeaveOutLacking(name, load, files, &again);
    if (!s.ok()) return s;
    if (!again) continue;
    // The checks begin anew, without the files that are out.
    kept.emplace(none);
    for (const SourceFile& file : *files) meter_.Expect(file.entries);
    files->insert(files->end(), std::move_iterator(left.begin()),
                  std::move_iterator(left.end()));
    left = std::exchange(*files, {});
  }
  return CountChosen(*files, left.size());
}

Status Importer::CountChosen(const std::vector<SourceFile>& chosen,
                             size_t replaced) {
  if (options_.dry_run) {
    for (const SourceFile& file : chosen) {
      report_->cells += file.entries;
      if (!options_.keep_going) continue;  // it was not read
      if (Status s = meter_.CountFile(); !s.ok()) return s;
    }
  }
  for (; replaced > 0; --replaced) {
    ++report_->passed_over["files that a compaction replaced"];
    --report_->files;
    if (Status s = meter_.CountFile(); !s.ok()) return s;
  }
  return Status::OK();
}

Status Importer::LeaveOutLacking(const std::string& name, BulkLoad* load,
                                 std::vector<SourceFile>* files,
                                 bool* some_are_out) {
  HFileImportReport ignored;
  CellLoader loader(CellLoader::Mode::kTry, options_, wall_ms_, load, name,
                    families_.at(name), &*mob_files_, &ignored);
  std::map<size_t, Status> lacking;  // by the file's place
  for (const SourceFile& file : *files) meter_.Expect(file.entries);
  MergedCells cells(reader_options_, *files);
  Status s = cells.Start();
  while (s.ok() && cells.Valid()) {
    const HFileCellView& cell = cells.cell();
    const SourceFile& file = cells.file();
    const Status why = loader.Add(cell, file.root);
    if (!why.ok()) lacking.try_emplace(file.place, InCell(file, cell, why));
    s = CountCell(cell);
    if (s.ok()) s = cells.Next();
  }
  if (!s.ok()) return s;
  *some_are_out = std::erase_if(*files, [&](const SourceFile& file) {
                    const auto found = lacking.find(file.place);
                    if (found == lacking.end()) return false;
                    LeaveOut(file, std::move(found->second));
                    return true;
                  }) > 0;
  return s;
}

void Importer::LeaveOut(const SourceFile& file, Status why) {
  report_->left_out.push_back(std::move(why));
  for (const std::string& input : file.replaced) --replaced_[input];
}

Status Importer::ReadThrough(const SourceFile& file,
                             std::optional<CellLoader>* kept) {
  CellLoader loader = **kept;
  MergedCells cells(reader_options_, {file});
  Status s = cells.Start();
  while (s.ok() && cells.Valid()) {
    const HFileCellView& cell = cells.cell();
    s = loader.Check(cell);
    if (!s.ok()) return InCell(file, cell, s);
    s = CountCell(cell);
    if (s.ok()) s = cells.Next();
  }
  if (s.ok()) kept->emplace(std::move(loader));
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
        path + ": family \"" + ToPrintable(name) +
        "\" keeps the latest version only, by the store's timestamps; "
        "latest_as_new takes the newest version of each cell, in place of "
        "what the store has");
  }
  return Status::OK();
}

Status Importer::LoadFamily(const std::string& name,
                            std::vector<SourceFile> files, BulkLoad* load) {
  MergedCells cells(reader_options_, std::move(files));
  CellLoader loader(CellLoader::Mode::kLoad, options_, wall_ms_, load, name,
                    families_.at(name), &*mob_files_, report_);
  uint64_t files_read = 0;
  if (Status s = cells.Start(); !s.ok()) return s;
  while (true) {
    for (; files_read < cells.files_read(); ++files_read) {
      if (Status s = meter_.CountFile(); !s.ok()) return s;
    }
    if (!cells.Valid()) return Status::OK();
    const HFileCellView& cell = cells.cell();
    if (Status s = loader.Add(cell, cells.file().root); !s.ok()) {
      return InCell(cells.file(), cell, s);
    }
    if (Status s = CountCell(cell); !s.ok()) return s;
    if (Status s = cells.Next(); !s.ok()) return s;
  }
}

// Fills the report of an import that `run` is.
Status Report(const std::function<Status(Importer*)>& run,
              const HFileImportOptions& options, Store* store,
              HFileImportReport* report) {
  *report = {};
  Status s = CatchExceptions([&] {
    Importer importer(options, store, report);
    return run(&importer);
  });
  if (!s.ok() && !report->may_be_loaded) {
    report->puts = report->deletes = report->skipped = 0;
    report->new_families.clear();
  }
  return s;
}

}  // namespace
}  // namespace hfile_transfer

rocksdb::Status ImportHFiles(const HFileImportOptions& options,
                             const std::vector<std::string>& paths,
                             Store* store, HFileImportReport* report) {
  return hfile_transfer::Report(
      [&](hfile_transfer::Importer* importer) {
        return importer->RunPaths(paths);
      },
      options, store, report);
}

rocksdb::Status CheckHFileSnapshot(const HFileSnapshot& snapshot) {
  return CatchExceptions([&] {
    hfile_transfer::SnapshotManifest manifest;
    return hfile_transfer::ReadSnapshotManifest(
        hfile_transfer::DirectoryOf(snapshot), &manifest);
  });
}

rocksdb::Status ImportHFileSnapshot(const HFileImportOptions& options,
                                    const HFileSnapshot& snapshot, Store* store,
                                    HFileImportReport* report) {
  return hfile_transfer::Report(
      [&](hfile_transfer::Importer* importer) {
        return importer->RunSnapshot(snapshot);
      },
      options, store, report);
}

}  // namespace rowbloom
