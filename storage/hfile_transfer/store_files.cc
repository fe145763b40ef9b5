#include "storage/hfile_transfer/store_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

// The directory in a family's where HBase 2.5 and later keep the list of its
// store files, if `hbase.store.file-tracker.impl` is FILE or MIGRATION.
constexpr char kFileList[] = ".filelist";
// The directory in a region's for writes that HBase finds in the logs of a
// server that died. It puts them into HFiles when it opens the region.
constexpr char kRecoveredEdits[] = "recovered.edits";

Status CannotRead(const std::string& directory, const std::error_code& error) {
  return Status::IOError(directory +
                         ": cannot read the directory: " + error.message());
}

// Names that HBase and its jobs give to other things than HFiles and families.
bool IsPassedOver(const std::string& name, bool is_directory,
                  const std::function<bool(const std::string&)>& is_family) {
  if (name.starts_with('_')) return !is_directory || !is_family(name);
  return name.starts_with('.') || name == kRecoveredEdits;
}

// Tells whether a directory has others in it, as HBase's `data` has those of
// namespaces. That of an exported family named `data` has files alone.
bool HasDirectories(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) return true;
  }
  return false;
}

// Tells whether the directory has more than the cells of tables. The archive
// keeps files that were compacted away, with what was deleted since, as do the
// files of MOB values.
bool HoldsArchive(const fs::path& path) {
  std::error_code error;
  bool has_archive = fs::exists(path / ".hbase-snapshot", error);
  for (const char* name : {"archive", "mobdir"}) {
    has_archive = has_archive || fs::exists(path / name / "data", error) ||
                  (path.filename() == name && HasDirectories(path / "data"));
    // archive/data, .../NAMESPACE, .../TABLE, .../REGION and .../FAMILY
    constexpr int kLevels = 5;
    fs::path data = path;
    for (int level = 0; level < kLevels; ++level, data = data.parent_path()) {
      const fs::path archive = data.parent_path();
      const fs::path root = archive.parent_path();
      has_archive = has_archive ||
                    (data.filename() == "data" && archive.filename() == name &&
                     (fs::exists(root / ".hbase-snapshot", error) ||
                      fs::exists(root / "data", error)));
    }
  }
  return has_archive;
}

// InvalidArgument: the directory holds the archive, or is a link into it.
Status CheckNoArchive(const std::string& directory) {
  fs::path path = fs::absolute(directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "archive/"
  std::error_code error;
  const fs::path target = fs::canonical(directory, error);
  if (!HoldsArchive(path) && (error || !HoldsArchive(target))) {
    return Status::OK();
  }
  return InvalidArgument(
      directory,
      ": holds HBase's archive or MOB directory, with cells that a table has "
      "no more; expected a table's directory (data/NAMESPACE/TABLE), or a "
      "snapshot's name");
}

// Tells whether the file is in a region and HBase does not read it there: of
// the names with '-' it takes those of links and references alone
// (StoreFileInfo).
bool IsNoStoreFile(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.find('-') == name.npos || TargetInName(name)) return false;
  const fs::path family = fs::absolute(file).lexically_normal().parent_path();
  std::error_code error;
  return fs::exists(family.parent_path() / ".regioninfo", error);
}

// NotSupported: the directory has writes that are in no HFile. HBase names a
// file of writes by the number of its last one, and notes in the name of an
// empty file (`7.seqid`, old: `7_seqid`) up to which number it had put all into
// HFiles when it opened or closed the region.
Status CheckNoWrites(const fs::path& recovered_edits) {
  uint64_t last_write = 0;
  uint64_t last_in_files = 0;
  fs::path writes;
  std::error_code error;
  fs::directory_iterator entry(recovered_edits, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const size_t digits = name.find_first_not_of("0123456789");
    uint64_t number = 0;
    if (!ParseNumber(std::string_view(name).substr(0, digits), &number)) {
      continue;
    }
    std::error_code ignored;
    if (name.ends_with("seqid")) {
      last_in_files = std::max(last_in_files, number);
    } else if (digits == name.npos && number > last_write &&
               entry->file_size(ignored) > 0) {
      last_write = number;
      writes = entry->path();
    }
  }
  if (error) return CannotRead(recovered_edits.string(), error);
  if (last_write <= last_in_files) return Status::OK();
  return NotSupported(
      writes.string(),
      " has writes that HBase has not put into HFiles yet: enable the table, "
      "let it open, and disable it again, or remove the file to import without "
      "them");
}

// NotSupported: the directory has writes that are in no HFile, or the list of
// the HFiles that count. `name` is the last part of its path.
Status CheckDirectory(const fs::path& directory, const std::string& name) {
  if (name == kRecoveredEdits) return CheckNoWrites(directory);
  if (name != kFileList) return Status::OK();
  return NotSupported(
      directory.string(),
      " says which of the files beside it are in use (HBase's file tracker "
      "FILE), which is not read: others may hold what was deleted. Import a "
      "snapshot of the table");
}

// Adds the names of the files in a directory, in their order.
Status Search(const std::string& directory,
              const std::function<bool(const std::string&)>& is_family,
              std::vector<std::string>* files, PassedOver* passed_over) {
  Status s = CheckNoArchive(directory);
  if (!s.ok()) return s;
  std::error_code error;
  fs::recursive_directory_iterator entry(
      directory, fs::directory_options::follow_directory_symlink, error);
  std::vector<std::string> found;
  std::string last = directory;  // an error is of it
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    last = entry->path().string();
    const bool is_directory = entry->is_directory(error);
    // A link that leads nowhere is read as a file.
    if (error == std::errc::no_such_file_or_directory) error.clear();
    if (error) break;
    const std::string name = entry->path().filename().string();
    if (is_directory) s = CheckDirectory(entry->path(), name);
    if (!s.ok()) return s;
    if (IsPassedOver(name, is_directory, is_family)) {
      if (is_directory) entry.disable_recursion_pending();
      ++(*passed_over)[name];
    } else if (!is_directory && IsNoStoreFile(entry->path())) {
      ++(*passed_over)[kOtherFiles];
    } else if (!is_directory) {
      found.push_back(entry->path().string());
    } else if (entry->is_symlink()) {
      s = CheckNoArchive(entry->path().string());
      if (!s.ok()) return s;
    }
  }
  if (error) return CannotRead(last, error);
  std::sort(found.begin(), found.end());
  files->insert(files->end(), found.begin(), found.end());
  return Status::OK();
}

// A file's place in a table, by the directories that it is in.
struct Place {
  explicit Place(const std::string& file)
      : family(fs::absolute(file).lexically_normal().parent_path()),
        region(family.parent_path()),
        table(region.parent_path()),
        name_space(table.parent_path()) {
    const fs::path data = name_space.parent_path();
    if (data.filename() != "data") return;
    root = data.parent_path();
    if (root.filename() == "archive") root = root.parent_path();
  }

  fs::path family;
  fs::path region;
  fs::path table;
  fs::path name_space;
  // The directory of the HBase; empty: the others are not in its `data`.
  fs::path root;
};

struct Region {
  fs::path directory;
  RegionInfo info;
};

// The regions of a table that tell their rows, ordered by the first one. HBase
// goes by hbase:meta.
struct Regions {
  const Region* Find(const fs::path& directory) const {
    const auto found = std::find_if(regions.begin(), regions.end(),
                                    [&directory](const Region& region) {
                                      return region.directory == directory;
                                    });
    return found == regions.end() ? nullptr : &*found;
  }

  std::vector<Region> regions;
  // False if a directory may be a region's and has no `.regioninfo`.
  bool are_all = true;
};

// Reads the `.regioninfo` of each region of a table. Corruption, IOError: one
// that is there and cannot be read.
Status ReadRegions(const fs::path& table, Regions* regions) {
  std::error_code error;
  fs::directory_iterator entry(table, error);
  // A single file may be in directories that cannot be read.
  if (error) return Status::OK();
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& directory = entry->path();
    const fs::path file = directory / ".regioninfo";
    std::error_code none;
    if (fs::exists(file, none)) {
      RegionInfo info;
      Status s = ReadRegionInfo(file.string(), &info);
      if (!s.ok()) return s;
      regions->regions.push_back({directory, std::move(info)});
    } else if (entry->is_directory(none) &&
               !directory.filename().string().starts_with('.')) {
      regions->are_all = false;
    }
  }
  if (error) return CannotRead(table.string(), error);
  std::sort(regions->regions.begin(), regions->regions.end(),
            [](const Region& a, const Region& b) {
              return a.info.rows.start_row < b.info.rows.start_row;
            });
  return Status::OK();
}

// Tells whether newer regions have all rows of this one.
bool IsReplaced(const RegionInfo& region, const std::vector<Region>& regions) {
  const std::string& stop = region.rows.stop_row;
  std::string reached = region.rows.start_row;  // the first row not seen yet
  for (const auto& [directory, other] : regions) {
    if (other.id <= region.id || other.rows.start_row > reached) continue;
    if (other.rows.stop_row.empty()) return true;
    reached = std::max(reached, other.rows.stop_row);
    if (!stop.empty() && reached >= stop) return true;
  }
  return false;
}

// Corruption: the regions that are not replaced leave out rows of the table, or
// have some twice. A gap may be a region that does not tell its rows.
Status CheckRows(const fs::path& table, const Regions& regions,
                 const std::set<fs::path>& replaced) {
  std::string reached;  // the first row not seen yet
  const Region* before = nullptr;
  const Region* after = nullptr;
  for (const Region& region : regions.regions) {
    if (replaced.contains(region.directory)) continue;
    const std::string& start = region.info.rows.start_row;
    if (before != nullptr && (reached.empty() || start < reached)) {
      return Corruption(
          region.directory.string(), ": has the rows from \"",
          ToPrintable(start), "\" on, as ", before->directory.string(),
          " has, by their .regioninfo; HBase uses only one of them. Remove the "
          "other from the copy, or name the directories of the regions to "
          "import");
    }
    if (start != reached && regions.are_all) {
      after = &region;
      break;
    }
    before = &region;
    reached = region.info.rows.stop_row;
  }
  const bool has_last_row = before != nullptr && reached.empty();
  if (!regions.are_all || (after == nullptr && has_last_row)) {
    return Status::OK();
  }
  std::string sources;
  for (const Region* region : {before, after}) {
    if (region == nullptr) continue;
    sources += (sources.empty() ? ", by the .regioninfo of " : " and ") +
               region->directory.filename().string();
  }
  return Corruption(
      table.string(), ": no region has the rows from \"", ToPrintable(reached),
      "\" ",
      after == nullptr
          ? "on"
          : "to \"" + ToPrintable(after->info.rows.start_row) + "\"",
      sources,
      "; a copy of a table needs all its regions. To import a part, name the "
      "directories of its regions");
}

// Tells whether the path is the directory, or in it.
bool IsIn(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(),
                       path.end())
             .first == directory.end();
}

// InvalidArgument: regions of several tables are in the directory. A delete in
// one table would take the cells of the others.
Status CheckOneTable(const fs::path& directory,
                     const std::map<fs::path, Regions>& tables) {
  const Region* first = nullptr;
  for (const auto& [table, regions] : tables) {
    if (!IsIn(table, directory)) continue;
    for (const Region& region : regions.regions) {
      if (first == nullptr) first = &region;
      if (region.info.table == first->info.table) continue;
      return InvalidArgument(
          directory.string(), ": has regions of table ",
          ToPrintable(first->info.table), " (", first->directory.string(),
          ") and of table ", ToPrintable(region.info.table), " (",
          region.directory.string(), "); name the directory of one table");
    }
  }
  return Status::OK();
}

// The tables whose files were found.
struct Tables {
  std::map<fs::path, Regions> regions;  // by the table's directory
  std::set<fs::path> replaced;  // directories of split and merged regions
};

// Notes the regions of a file's table. Regions are replaced if newer ones have
// their rows, or if a reference or link leads to them.
Status NoteRegions(const Place& place,
                   const std::optional<StoreFileTarget>& target,
                   Tables* tables) {
  const auto [table, is_new] = tables->regions.try_emplace(place.table);
  if (is_new) {
    Status s = ReadRegions(place.table, &table->second);
    if (!s.ok()) return s;
    for (const auto& [directory, info] : table->second.regions) {
      if (IsReplaced(info, table->second.regions)) {
        tables->replaced.insert(directory);
      }
    }
  }
  if (!target) return Status::OK();
  for (const std::string& region : {target->region, target->parent}) {
    const fs::path directory = place.table / region;
    if (!region.empty() && directory != place.region) {
      tables->replaced.insert(directory);
    }
  }
  return Status::OK();
}

// Checks the tables in a directory that was searched.
Status CheckTables(const fs::path& directory, const Tables& tables) {
  Status s = CheckOneTable(directory, tables.regions);
  for (const auto& [table, regions] : tables.regions) {
    if (!s.ok()) break;
    if (IsIn(table, directory)) s = CheckRows(table, regions, tables.replaced);
  }
  return s;
}

// The directories that may have the regions of the target's table.
std::vector<std::string> TableDirectoriesOf(const Place& place,
                                            const StoreFileTarget& target) {
  const bool is_own = target.table.empty();
  // Names of regions are unique: one of another table is not found here.
  std::vector<std::string> directories = {place.table.string()};
  if (!place.root.empty()) {
    for (const std::string& below : TableDirectories(
             place.root.string(),
             is_own ? place.name_space.filename().string() : target.name_space,
             is_own ? place.table.filename().string() : target.table)) {
      if (below != directories.front()) directories.push_back(below);
    }
  } else if (!is_own) {
    directories.push_back((place.name_space / target.table).string());
  }
  return directories;
}

// The file that the path is, or leads to.
StoreFile Follow(const std::string& path,
                 const std::optional<StoreFileTarget>& target,
                 const Regions& regions) {
  const Place place(path);
  StoreFile file;
  file.name = path;
  // The same for one file, however its path is spelled.
  file.in_store = (place.family / fs::path(path).filename()).string();
  file.root = place.root.string();
  if (!target) {
    file.path = path;
    return file;
  }
  if (target->is_reference()) {
    file.problem = ReadReference(path, &file.rows);
    file.is_upper = file.rows.stop_row.empty();
    // A directory without a description may be a copy.
    const Region* const region = regions.Find(place.region);
    if (file.problem.ok() && region != nullptr) {
      file.problem =
          Prefixed(path + ": ", FitHalf(region->info.rows, &file.rows));
    }
    if (!file.problem.ok()) return file;
  }
  file.problem = Prefixed(
      path + ": ", FindTarget(TableDirectoriesOf(place, *target), *target,
                              place.family.filename().string(), &file.path));
  return file;
}

}  // namespace

std::vector<std::string> TableDirectories(const std::string& root,
                                          const std::string& name_space,
                                          const std::string& table) {
  const std::string of_table = "/data/" + name_space + "/" + table;
  return {root + of_table, root + "/archive" + of_table};
}

Status FindTarget(const std::vector<std::string>& table_directories,
                  const StoreFileTarget& target, const std::string& family,
                  std::string* path) {
  std::string places;
  for (const std::string& directory : table_directories) {
    *path =
        Concat(directory, "/", target.region, "/", family, "/", target.file);
    std::error_code error;
    const fs::file_type type = fs::status(*path, error).type();
    if (type == fs::file_type::regular) return Status::OK();
    if (type == fs::file_type::none) {
      return Status::IOError(*path + ": " + error.message());
    }
    places += (places.empty() ? "" : ", ") + directory;
  }
  return NotSupported(
      target.is_reference() ? "a reference to a half of " : "a link to ",
      Describe(target), ", which is in none of ", places,
      "; copy it there from HBase's data or archive directory, or export a "
      "snapshot of the table and import that");
}

Status FindStoreFiles(const std::vector<std::string>& paths,
                      const std::function<bool(const std::string&)>& is_family,
                      std::vector<StoreFile>* files, PassedOver* passed_over) {
  std::vector<std::string> found;
  std::vector<fs::path> searched;
  for (const std::string& path : paths) {
    if (path.empty()) return InvalidArgument("the path of HFiles is empty");
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      found.push_back(path);
      continue;
    }
    Status s = Search(path, is_family, &found, passed_over);
    if (!s.ok()) return s;
    searched.push_back(fs::absolute(path).lexically_normal());
    if (!searched.back().has_filename()) {  // "orders/"
      searched.back() = searched.back().parent_path();
    }
  }
  Tables tables;
  std::set<fs::path> known;
  for (const std::string& path : found) {
    const Place place(path);
    if (!known.insert(place.family / fs::path(path).filename()).second) {
      continue;
    }
    const auto target = TargetInName(fs::path(path).filename().string());
    Status s = NoteRegions(place, target, &tables);
    if (!s.ok()) return s;
    files->push_back(Follow(path, target, tables.regions.at(place.table)));
  }
  for (const fs::path& directory : searched) {
    Status s = CheckTables(directory, tables);
    if (!s.ok()) return s;
  }
  const std::set<fs::path>& replaced = tables.replaced;
  const auto is_replaced = [&replaced](const StoreFile& file) {
    const Place place(file.name);
    // REGION/FAMILY/recovered.hfiles has files from the logs of a server.
    return replaced.contains(place.region) || replaced.contains(place.table);
  };
  if (const uint64_t count = std::erase_if(*files, is_replaced); count > 0) {
    (*passed_over)[kFilesOfSplitRegions] += count;
  }
  return Status::OK();
}

}  // namespace rowbloom::hfile_transfer
