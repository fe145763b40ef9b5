#include "tools/sst_inspect/database_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/metadata.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst_inspect {
namespace {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOStatus;
using rocksdb::Status;

using Families = std::vector<rocksdb::ColumnFamilyDescriptor>;

// A file system through which RocksDB reads CURRENT, the MANIFEST and OPTIONS
// alone. It refuses to open SSTs and logs, so that neither damage nor a long
// log matters.
class MetadataFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  static const char* kClassName() { return "MetadataFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& name,
                             const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* debug) override {
    return name.ends_with(".log")
               ? IOStatus::NotSupported(name, "not read")
               : target()->NewSequentialFile(name, options, file, debug);
  }
  IOStatus NewRandomAccessFile(
      const std::string& name, const rocksdb::FileOptions& /*options*/,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* /*file*/,
      IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported(name, "not read through RocksDB");
  }
};

// Discards RocksDB's info log.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// Gives the families that the MANIFEST names, with their options in OPTIONS,
// and its directory of the logs. If OPTIONS cannot be used, *unusable is the
// error, and families have the defaults.
Status LoadFamilies(const std::string& path, const rocksdb::DBOptions& reading,
                    Families* families, std::string* wal_dir,
                    Status* unusable) {
  Status status = RegisterRowbloom();
  if (!status.ok()) return status;
  rocksdb::ConfigOptions config;
  config.env = reading.env;
  config.ignore_unknown_options = true;
  config.sanity_level = rocksdb::ConfigOptions::kSanityLevelNone;
  rocksdb::DBOptions of_all;
  Families configured;
  status = rocksdb::LoadLatestOptions(config, path, &of_all, &configured);
  if (!status.ok()) configured.clear();
  *wal_dir = of_all.wal_dir;
  if (!status.ok() && !status.IsNotFound()) {
    *unusable = Prefixed("OPTIONS cannot be used: ", status);
  }
  std::vector<std::string> names;
  status = rocksdb::DB::ListColumnFamilies(reading, path, &names);
  for (const std::string& name : names) {
    const auto found = std::ranges::find(
        configured, name, &rocksdb::ColumnFamilyDescriptor::name);
    families->emplace_back(name, found == configured.end()
                                     ? rocksdb::ColumnFamilyOptions()
                                     : found->options);
  }
  return status;
}

void AddNames(const rocksdb::ColumnFamilyOptions& options, TreeFamily* family) {
  family->comparator = options.comparator->Name();
  family->key_order = sst::KeyOrderOf(family->comparator);
  if (options.prefix_extractor != nullptr) {
    family->prefix_extractor = options.prefix_extractor->GetId();
  }
  // The factory is null if OPTIONS names one that is not known here.
  const auto* table = options.table_factory == nullptr
                          ? nullptr
                          : options.table_factory
                                ->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table != nullptr && table->filter_policy != nullptr) {
    family->filter_policy = table->filter_policy->Name();
  }
}

// The limit of levels of a family: RocksDB takes time and memory for each.
constexpr int kMaxLevels = 1000;

// Returns the options that the reading of the MANIFEST depends on. All others
// keep their defaults, whatever OPTIONS has.
Families ToRead(const Families& families) {
  Families reading;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    rocksdb::ColumnFamilyOptions options;
    options.comparator = family.options.comparator;
    options.num_levels = std::min(family.options.num_levels, kMaxLevels);
    options.compaction_style = family.options.compaction_style;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    options.persist_user_defined_timestamps =
        family.options.persist_user_defined_timestamps;
#endif
    reading.emplace_back(family.name, options);
  }
  return reading;
}

void AddFiles(const rocksdb::ColumnFamilyMetaData& listing,
              const std::vector<std::string>& directories, TreeFamily* family) {
  // Bounds of files have timestamps, also where the files' keys have none.
  const auto user_key = [family](std::string key) {
    key.resize(key.size() -
               std::min(key.size(), sst::TimestampBytesOf(family->comparator)));
    return key;
  };
  for (const rocksdb::LevelMetaData& level : listing.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto in = [&file](const std::string& directory) {
        return (fs::path(directory) / file.relative_filename).string();
      };
      std::string hidden;  // in a directory that cannot be searched
      const auto found =
          std::ranges::find_if(directories, [&](const std::string& one) {
            std::error_code error;
            const bool exists = fs::exists(in(one), error);
            if (error) hidden = in(one);
            return exists;
          });
      const bool is_found = found != directories.end();
      TreeFile& added = family->files.emplace_back();
      added.path = is_found ? in(*found) : hidden;
      added.missing = !is_found && hidden.empty();
      if (added.missing) added.path = in(directories[0]);
      added.level = level.level;
      added.sums.files = added.sums.unread_files = 1;
      added.sums.bytes = file.size;
      added.smallest = user_key(file.smallestkey);
      added.largest = user_key(file.largestkey);
    }
  }
}

Status ReadOnce(const std::string& path,
                const std::vector<std::string>& directories,
                DatabaseTree* tree) {
  *tree = {.path = path};
  // Even an opening for reading deletes obsolete files, so the file system must
  // be read-only.
  std::shared_ptr<rocksdb::FileSystem> read_only;
  Status status = rocksdb::FileSystem::CreateFromString(
      {}, "ReadOnlyFileSystem", &read_only);
  if (!status.ok()) return status;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<MetadataFileSystem>(read_only));
  rocksdb::DBOptions options;
  options.env = env.get();
  options.info_log = std::make_shared<NoLog>();
  options.paranoid_checks = false;  // so refused files do not fail the opening
  // RocksDB (7.8.3 to 11.8.1) follows a null pointer in a database that tracks
  // its logs, unless it compares them, too.
  options.track_and_verify_wals_in_manifest = true;
  options.skip_stats_update_on_db_open = true;
  options.max_open_files = 20;  // without a limit the opening opens each file
  options.max_file_opening_threads = 1;  // each file is refused
  Families families;
  std::string wal_dir;
  status = LoadFamilies(path, options, &families, &wal_dir, &tree->options);
  if (!status.ok()) return status;

  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto open_db = [&] {
    return rocksdb::DB::OpenForReadOnly(options, path, ToRead(families),
                                        &handles, Into(&db));
  };
  status = open_db();
  // A database that tracks its logs is Corruption without them. A copy may have
  // them beside its files, and in OPTIONS the directory of the original's.
  std::vector<std::string> logs;
  if (status.IsCorruption() && env->GetChildren(wal_dir, &logs).ok()) {
    options.wal_dir = wal_dir;
    status = open_db();
  }
  // So it refuses another order of keys, or more levels, than are assumed.
  if (status.IsInvalidArgument() && !tree->options.ok()) return tree->options;
  if (!status.ok()) return status;
  for (size_t i = 0; i < handles.size(); ++i) {
    TreeFamily& family = tree->families.emplace_back();
    family.name = families[i].name;
    AddNames(families[i].options, &family);
    if (!tree->options.ok()) {
      family.filter_policy = family.prefix_extractor = "unknown";
    }
    rocksdb::ColumnFamilyMetaData listing;
    db->GetColumnFamilyMetaData(handles[i], &listing);
    AddFiles(listing, directories, &family);
    status = db->DestroyColumnFamilyHandle(handles[i]);
    if (!status.ok()) return status;
  }
  return db->Close();
}

void CountUnlisted(const std::vector<std::string>& directories,
                   DatabaseTree* tree) {
  std::set<fs::path> seen;
  for (const TreeFamily& family : tree->families) {
    for (const TreeFile& file : family.files) {
      seen.insert(fs::path(file.path).filename());
    }
  }
  for (const std::string& directory : directories) {
    // An error ends the loop: what cannot be listed is not counted.
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      const fs::path& path = it->path();
      // A directory may be given twice.
      if (path.extension() != ".sst" || !seen.insert(path.filename()).second) {
        continue;
      }
      std::error_code gone;
      const uint64_t bytes = fs::file_size(path, gone);
      if (gone) continue;
      ++tree->unlisted_files;
      tree->unlisted_bytes += bytes;
    }
  }
}

bool IsComplete(const DatabaseTree& tree) {
  return std::ranges::all_of(tree.families, [](const TreeFamily& family) {
    return std::ranges::none_of(family.files, &TreeFile::missing);
  });
}

}  // namespace

TreeSums& TreeSums::operator+=(const TreeSums& more) {
  files += more.files;
  unread_files += more.unread_files;
  bytes += more.bytes;
  entries += more.entries;
  deletions += more.deletions;
  data_bytes += more.data_bytes;
  filter_bytes += more.filter_bytes;
  filters.insert(more.filters.begin(), more.filters.end());
  return *this;
}

void TreeSums::AddRead(const TableFacts& facts) {
  --unread_files;
  entries += facts.entries.value_or(0);
  deletions += facts.deletions.value_or(0);
  data_bytes += facts.data_bytes.value_or(0);
  filter_bytes += facts.filter_bytes.value_or(0);
  filters.insert(
      facts.filter_form == "none" ? "none" : ToPrintable(facts.filter_policy));
}

void TreeSums::AddTo(Record* record) const {
  constexpr size_t kMostNames = 2;
  const std::string names = fmt::format("{}", fmt::join(filters, ", "));
  record->Count("bytes", bytes)
      .Count("entries", entries)
      .Count("deletions", deletions)
      .Count("data_bytes", data_bytes)
      .Count("filter_bytes", filter_bytes)
      .Text("filters", names)
      .As(filters.size() <= kMostNames
              ? names
              : fmt::format("{} different", filters.size()));
}

void TreeSums::AddWithFilesTo(Record* record) const {
  record->Count("files", files);
  if (unread_files > 0) {
    record->As(
        fmt::format("{} ({} NOT READ)", Grouped(files), Grouped(unread_files)));
  }
  record->Count("unread_files", unread_files);
  AddTo(record);
}

std::string NameOrNone(const std::string& name) {
  return name.empty() ? "none, or not known here" : ToPrintable(name);
}

TreeSums SumOf(std::span<const TreeFile> files) {
  TreeSums sums;
  for (const TreeFile& file : files) sums += file.sums;
  return sums;
}

void ForEachLevel(
    const TreeFamily& family,
    const std::function<void(std::span<const TreeFile> files)>& use) {
  for (auto first = family.files.begin(); first != family.files.end();) {
    const auto end = std::find_if(
        first, family.files.end(),
        [first](const TreeFile& file) { return file.level != first->level; });
    use({first, end});
    first = end;
  }
}

bool IsDatabase(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / "CURRENT", ignored);
}

Status ReadTree(const std::string& path,
                const std::vector<std::string>& other_directories,
                DatabaseTree* tree) {
  std::error_code error;
  const fs::path current = fs::path(path) / "CURRENT";
  // Another user's, for example, is no mistake in the path.
  if (fs::status(current, error).type() == fs::file_type::none) {
    return IOError(current.string(), ": ", error.message());
  }
  if (!IsDatabase(path)) {
    return Status::InvalidArgument(
        path + ": no database: expected a directory with a file CURRENT");
  }
  std::vector<std::string> directories = {path};
  directories.insert(directories.end(), other_directories.begin(),
                     other_directories.end());
  // A process that has the database open replaces files, also the MANIFEST and
  // OPTIONS, and deletes the old ones. The next try reads the new ones.
  constexpr int kTries = 3;
  Status status;
  for (int i = 0; i < kTries; ++i) {
    status = ReadOnce(path, directories, tree);
    if (status.ok() && tree->options.ok() && IsComplete(*tree)) break;
  }
  if (status.ok()) CountUnlisted(directories, tree);
  tree->options = Prefixed(path + ": ", tree->options);
  // RocksDB does not name the database.
  return Prefixed(path + ": ", status);
}

}  // namespace rowbloom::sst_inspect
