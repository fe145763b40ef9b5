#include "storage/store/found_store.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "rocksdb/sst_file_reader.h"
#include "storage/format/directory.h"
#include "storage/format/status_text.h"
#include "storage/store/database.h"
#include "storage/store/record_files.h"

namespace rowbloom {
namespace {

using rocksdb::Env;
using rocksdb::Status;

Status NotOurs(const std::string& path, const std::string& why) {
  return InvalidArgument(
      path, " is a RocksDB database but not a rowbloom store: ", why);
}

Status LookIntoDatabase(Env* env, const std::string& path, FoundStore* found) {
  rocksdb::DBOptions options;
  options.env = env;
  std::vector<std::string> names;
  Status s = rocksdb::DB::ListColumnFamilies(options, path, &names);
  if (!s.ok()) return NamingDamagedFile(env, path, s);
  found->column_families = {names.begin(), names.end()};
  found->column_families.erase(rocksdb::kDefaultColumnFamilyName);
  Database database;
  s = OpenRecords(env, path, found->column_families, found->creation_mark,
                  &database);
  // The options do not fit the database.
  if (s.IsInvalidArgument()) return NotOurs(path, s.ToString());
  if (s.ok()) s = ReadMetadata(database.get(), path, &found->metadata);
  if (!s.ok() || found->exists() || found->creation_mark) return s;
  return NotOurs(path, "its column family \"default\" has no record \"store\"");
}

}  // namespace

uint64_t LeadingNumber(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Status FindStore(Env* env, const std::string& path, FoundStore* found) {
  *found = {};
  Status s = FileExists(env, path);
  if (s.IsNotFound()) return Status::OK();
  std::vector<std::string> entries;
  if (s.ok()) s = ListDirectory(env, path, &entries);
  if (!s.ok()) return s;
  const auto has = [&entries](std::string_view name) {
    return std::find(entries.begin(), entries.end(), name) != entries.end();
  };
  found->creation_mark = has(kCreationMark);
  found->table_files = static_cast<size_t>(std::ranges::count_if(
      entries, [](const std::string& name) { return name.ends_with(".sst"); }));
  if (has("CURRENT")) return LookIntoDatabase(env, path, found);
  // A creation takes the lock before it writes its mark.
  std::erase(entries, "LOCK");
  if (entries.empty() || found->creation_mark) return s;
  const bool was_database =
      std::ranges::any_of(entries, [](const std::string& name) {
        return name.starts_with(kManifestPrefix);
      });
  return InvalidArgument(
      path, was_database ? " has a MANIFEST, but its file CURRENT is missing"
                         : " is not a rowbloom store: it has files, but none "
                           "named CURRENT");
}

Status FindWrittenFiles(Env* env, const std::string& path,
                        WrittenFiles* files) {
  files->clear();
  std::vector<std::string> names;
  Status s = ListDirectory(env, path, &names);
  std::ranges::sort(names);  // logs before MANIFESTs
  for (const std::string& name : names) {
    if (IsLog(name) || name.starts_with(kManifestPrefix)) {
      const std::string file = path + "/" + name;
      uint64_t bytes = 0;
      const Status size = env->GetFileSize(file, &bytes);
      if (size.ok()) {
        files->emplace(name, bytes);
      } else if (s.ok() && !FileExists(env, file).IsNotFound()) {
        s = size;
      }
    } else if (name.ends_with(".sst") || name.ends_with(".blob") ||
               name.starts_with("OPTIONS-")) {
      files->emplace(name, 0);
    }
  }
  return s;
}

std::optional<uint64_t> StoreCut::EndOf(const std::string& name) const {
  const bool is_manifest = name.starts_with(kManifestPrefix);
  if (manifest.empty() || !(is_manifest || IsLog(name))) return UINT64_MAX;
  if (is_manifest && name != manifest) return std::nullopt;
  // A log does not grow once there is a newer one. Archived logs are not among
  // the files.
  const auto is_newer = [&](const auto& file) {
    return IsLog(file.first) && LeadingNumber(file.first) > LeadingNumber(name);
  };
  if (!is_manifest && std::ranges::any_of(files, is_newer)) return UINT64_MAX;
  const auto found = files.find(name);
  return found == files.end() ? 0 : found->second;
}

Status FindCut(Env* env, const std::string& path, StoreCut* cut) {
  std::string manifest;
  std::string later;
  uint64_t bytes = 0;
  Status s = ReadCurrent(env, path, &manifest);
  Status sized;
  if (s.ok()) sized = env->GetFileSize(path + "/" + manifest, &bytes);
  const Status listed = FindWrittenFiles(env, path, &cut->files);
  if (s.ok()) s = listed;
  if (s.ok()) s = ReadCurrent(env, path, &later);
  if (!s.ok()) return s;
  const auto found = cut->files.find(manifest);
  if (later != manifest) return TryAgain("there is a new MANIFEST");
  if (!sized.ok()) return sized;
  if (found == cut->files.end() || !manifest.starts_with(kManifestPrefix)) {
    return Corruption(path, "/CURRENT: expected the name of a MANIFEST");
  }
  if (found->second != bytes) return TryAgain("the MANIFEST grew");
  cut->manifest = std::move(manifest);
  return s;
}

Status NamingDamagedFile(Env* env, const std::string& path,
                         const Status& error) {
  constexpr std::string_view kSuffix = ".sst";
  constexpr std::string_view kOldSuffix = ".ldb";
  if (!error.IsCorruption()) return error;
  // Some of RocksDB's errors have no message.
  std::string message = error.getState() == nullptr ? "" : error.getState();
  if (const size_t at = message.find(kOldSuffix); at != message.npos) {
    return Status::Corruption(message.replace(at, kOldSuffix.size(), kSuffix));
  }
  std::vector<std::string> entries;
  if (message.find(kSuffix) != message.npos ||
      !ListDirectory(env, path, &entries).ok()) {
    return error;
  }
  rocksdb::Options options;
  options.env = env;
  for (const std::string& entry : entries) {
    if (!entry.ends_with(kSuffix) || LeadingNumber(entry) == 0) continue;
    const std::string file = path + "/" + entry;
    const Status s = rocksdb::SstFileReader(options).Open(file);
    if (!s.ok()) return Prefixed(file + ": ", s);
  }
  // RocksDB's message about CURRENT lacks its path.
  return message.find(path) == message.npos ? Prefixed(path + ": ", error)
                                            : error;
}

}  // namespace rowbloom
