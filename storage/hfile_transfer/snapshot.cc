#include "storage/hfile_transfer/snapshot.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

// The path of each file of a table, by "FAMILY/FILE": names of HBase's files
// are unique, whatever their region.
using TableFiles = std::map<std::string, std::string>;

Status ListTable(const std::vector<std::string>& table_directories,
                 TableFiles* files) {
  std::error_code error;
  for (const std::string& directory : table_directories) {
    if (!fs::exists(directory, error) && !error) continue;
    fs::recursive_directory_iterator entry(directory, error);
    std::string last = directory;  // an error is of it
    for (; !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
      last = entry->path().string();
      constexpr int kFileDepth = 2;  // below region and family
      if (entry.depth() < kFileDepth) continue;
      entry.disable_recursion_pending();
      const fs::path& path = entry->path();
      files->emplace(path.parent_path().filename() / path.filename(),
                     path.string());
    }
    if (error) {
      return Status::IOError(last +
                             ": cannot read the directory: " + error.message());
    }
  }
  return Status::OK();
}

class Finder {
 public:
  Finder(const std::string& root, const SnapshotManifest& manifest)
      : root_(root),
        table_directories_(
            TableDirectories(root, manifest.name_space, manifest.table)) {}

  Status Start() { return ListTable(table_directories_, &table_files_); }

  StoreFile Find(const SnapshotFile& of_region) const {
    StoreFile file;
    file.root = root_;
    file.name = root_ + ": " + of_region.family + "/" + of_region.name;
    if (of_region.half) {
      file.rows = *of_region.half;
      file.is_upper = file.rows.stop_row.empty();
    }
    Status s = FindPath(of_region, &file.path);
    if (s.ok()) s = CheckSize(of_region, file.path);
    if (!s.ok()) file.problem = Prefixed(file.name + ": ", s);
    return file;
  }

 private:
  Status FindPath(const SnapshotFile& file, std::string* path) const {
    if (const auto target = TargetInName(file.name)) {
      if (target->is_reference() != file.half.has_value()) {
        return Corruption("the manifest has ", file.half ? "a" : "no",
                          " half, and its name none of it");
      }
      return FindTarget(
          target->table.empty()
              ? table_directories_
              : TableDirectories(root_, target->name_space, target->table),
          *target, file.family, path);
    }
    const auto found = table_files_.find(file.family + "/" + file.name);
    if (found == table_files_.end()) {
      return Corruption("expected in a region below ",
                        table_directories_.front(), " or ",
                        table_directories_.back(), ", found in none");
    }
    *path = found->second;
    return Status::OK();
  }

  static Status CheckSize(const SnapshotFile& file, const std::string& path) {
    std::error_code error;
    const uint64_t bytes = fs::file_size(path, error);
    if (error) return Status::IOError(path + ": " + error.message());
    if (!file.file_bytes || bytes == *file.file_bytes) return Status::OK();
    return Corruption(path, ": ", bytes, " bytes, expected ", *file.file_bytes,
                      " by the manifest");
  }

  const std::string root_;
  const std::vector<std::string> table_directories_;
  TableFiles table_files_;
};

}  // namespace

Status FindSnapshotFiles(
    const std::string& root, const SnapshotManifest& manifest,
    const std::function<bool(const std::string&)>& takes_family,
    std::vector<StoreFile>* files, PassedOver* passed_over) {
  Finder finder(root, manifest);
  Status s = finder.Start();
  if (!s.ok()) return s;
  for (const SnapshotRegion& region : manifest.regions) {
    const char* why = region.is_mob     ? kMobFiles
                      : region.is_split ? kFilesOfSplitRegions
                                        : nullptr;
    for (const SnapshotFile& file : region.files) {
      if (!takes_family(file.family)) continue;
      if (why != nullptr) {
        ++(*passed_over)[why];
      } else {
        files->push_back(finder.Find(file));
        files->back().in_store = Concat(&region - manifest.regions.data(), "/",
                                        file.family, "/", file.name);
      }
    }
  }
  return s;
}

}  // namespace rowbloom::hfile_transfer
