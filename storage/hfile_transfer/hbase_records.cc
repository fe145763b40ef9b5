#include "storage/hfile_transfer/hbase_records.h"

#include <md5.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "hbase.pb.h"
#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/format/input_file.h"
#include "storage/format/parse_message.h"
#include "storage/format/status_text.h"
#include "storage/hfile_transfer/store_file_name.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr std::string_view kMagic = "PBUF";
// The key of a split: after the row, an empty family, the latest timestamp and
// the type that sorts first.
constexpr std::string_view kFirstOfRow("\0\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
                                       10);
// The version of snapshots that have a manifest.
constexpr int32_t kManifestVersion = 2;

Status ReadAll(const std::string& path, std::string* bytes) {
  std::unique_ptr<InputFile> file;
  Status s = InputFile::Open(path, &file);
  if (!s.ok()) return s;
  const uint64_t size = file->size_bytes();
  if (size > kMaxRecordBytes) {
    return Corruption(path, ": ", size, " bytes, expected at most ",
                      kMaxRecordBytes);
  }
  bytes->resize(size);
  return file->ReadAt(0, size, bytes->data());
}

// The bytes after those that tell a record.
Status ReadWithMagic(const std::string& path, std::string* bytes) {
  Status s = ReadAll(path, bytes);
  if (!s.ok()) return s;
  if (!bytes->starts_with(kMagic)) {
    return Corruption(path, ": offset 0: expected \"", kMagic,
                      "\" and a record of HBase, found \"",
                      ToPrintable(bytes->substr(0, kMagic.size())), "\"");
  }
  bytes->erase(0, kMagic.size());
  return s;
}

template <typename Message>
Status Parse(const std::string& path, std::string_view bytes, const char* what,
             Message* message) {
  if (ParseMessage(bytes, message)) return Status::OK();
  return Corruption(path, ": expected ", what, ", found ", bytes.size(),
                    " bytes that are none");
}

// Errors come without a path.
Status ToRowRange(const proto::Reference& reference, RowRange* rows) {
  std::string_view key = reference.split_key();
  uint16_t row_bytes = 0;
  if (!GetBig(&key, &row_bytes) ||
      key.size() != row_bytes + kFirstOfRow.size() ||
      key.substr(row_bytes) != kFirstOfRow) {
    return Corruption("split key \"", ToPrintable(reference.split_key()),
                      "\", expected the first key of a row");
  }
  const std::string_view row = key.substr(0, row_bytes);
  *rows = {};
  if (reference.range() == proto::Reference::TOP) {
    // All of the file where the row is empty: a merge makes such references.
    rows->start_row = row;
  } else if (row.empty()) {
    return Corruption("the half before the empty row, which has no rows");
  } else {
    rows->stop_row = row;
  }
  return Status::OK();
}

template <typename Schema>
Settings SettingsOf(const Schema& schema) {
  Settings settings;
  for (const proto::Pair& pair : schema.attributes()) {
    settings.emplace(pair.first(), pair.second());
  }
  for (const proto::Pair& pair : schema.configuration()) {
    settings.emplace(pair.first(), pair.second());
  }
  return settings;
}

// A message with a field that HBase does not have may be one whose other fields
// are damaged. Errors come without a path.
template <typename Message>
Status CheckFields(const Message& message, const char* what) {
  if (message.unknown_fields().empty()) return Status::OK();
  return Corruption(what, " with ", message.unknown_fields().size(),
                    " bytes of fields that HBase does not have");
}

// The table's name as HBase writes it: with its namespace, unless that is
// `default`.
std::string NameOf(const proto::TableName& table) {
  return table.name_space() == "default"
             ? table.qualifier()
             : Concat(table.name_space(), ":", table.qualifier());
}

// The name that HBase gives the region's directory, as RegionInfo's
// createRegionName makes it.
std::string DirectoryNameOf(const proto::RegionInfo& info) {
  std::string name = Concat(NameOf(info.table_name()), ",", info.start_key(),
                            ",", info.region_id());
  if (info.replica_id() > 0) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, "_%04X",
                  static_cast<unsigned>(info.replica_id()));
    name += suffix;
  }
  char digits[MD5_DIGEST_STRING_LENGTH];
  MD5Data(reinterpret_cast<const uint8_t*>(name.data()), name.size(), digits);
  return digits;
}

// Corruption: the directory has the name of another region. Names that are no
// MD5 are those of old versions and of hbase:meta, and may be any.
Status CheckDirectoryName(const std::string& directory,
                          const proto::RegionInfo& info) {
  if (directory.size() != MD5_DIGEST_STRING_LENGTH - 1 || !IsHex(directory)) {
    return Status::OK();
  }
  const std::string name = DirectoryNameOf(info);
  if (directory == name) return Status::OK();
  return Corruption("a region that HBase names ", name,
                    ", expected that of the directory");
}

// Errors come without a path.
Status CheckRegionFields(const proto::RegionInfo& info) {
  Status s = CheckFields(info, "a region's description");
  if (s.ok()) s = CheckFields(info.table_name(), "a region's table");
  // Each half of a file in the region gets a copy of its first row.
  for (const std::string* row : {&info.start_key(), &info.end_key()}) {
    if (s.ok() && row->size() > kMaxRowBytes) {
      s = Corruption("a region with a bound of ", row->size(),
                     " bytes, expected at most ", kMaxRowBytes,
                     ", as a row has");
    }
  }
  return s.ok() ? CheckDirectoryName(info.region_encoded_name(), info) : s;
}

// Errors come without a path.
Status ToRegion(const proto::SnapshotRegionManifest& manifest,
                SnapshotRegion* region) {
  const proto::RegionInfo& info = manifest.region_info();
  region->rows = {info.start_key(), info.end_key()};
  region->is_split = info.split();
  region->is_mob = info.start_key() == ".mob" && info.region_id() == 0;
  Status s = CheckFields(manifest, "a region");
  if (s.ok()) s = CheckRegionFields(info);
  if (!s.ok()) return s;
  for (const auto& family : manifest.family_files()) {
    s = CheckName("family", family.family_name());
    if (s.ok()) s = CheckFields(family, "a family of a region");
    if (!s.ok()) return s;
    for (const auto& of_family : family.store_files()) {
      SnapshotFile file;
      file.name = of_family.name();
      file.family = family.family_name();
      s = CheckName("file", file.name);
      if (s.ok()) s = CheckFields(of_family, "a file");
      if (!s.ok()) return s;
      if (of_family.has_reference()) {
        s = ToRowRange(of_family.reference(), &file.half.emplace());
        if (s.ok()) s = FitHalf(region->rows, &*file.half);
        if (!s.ok()) {
          return Prefixed(Concat("reference ", ToPrintable(file.name), ": "),
                          s);
        }
      }
      if (of_family.has_file_size()) file.file_bytes = of_family.file_size();
      region->files.push_back(std::move(file));
    }
  }
  return Status::OK();
}

// Checks that the regions have all rows of a table, each once. Errors come
// without a path.
Status CheckRegions(const std::vector<SnapshotRegion>& regions) {
  std::vector<const RowRange*> ranges;
  for (const SnapshotRegion& region : regions) {
    if (!region.is_split && !region.is_mob) ranges.push_back(&region.rows);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const RowRange* a, const RowRange* b) {
              return a->start_row < b->start_row;
            });
  if (ranges.empty()) return Corruption("no region that has rows");
  constexpr char kCure[] =
      "; if HBase's own list of the table's regions has this fault, repair "
      "that and take the snapshot again";
  std::string stop_row;  // that of the region before
  for (const RowRange* rows : ranges) {
    const bool is_first = rows == ranges.front();
    if (rows->start_row != stop_row || (!is_first && stop_row.empty())) {
      return Corruption("a region that begins with row \"",
                        ToPrintable(rows->start_row),
                        "\" where the rows before end with \"",
                        ToPrintable(stop_row), "\"", kCure);
    }
    stop_row = rows->stop_row;
  }
  if (stop_row.empty()) return Status::OK();
  return Corruption("no region for the rows from \"", ToPrintable(stop_row),
                    "\" on", kCure);
}

}  // namespace

void RowRange::ClipTo(const RowRange& other) {
  start_row = std::max(start_row, other.start_row);
  if (stop_row.empty() ||
      (!other.stop_row.empty() && other.stop_row < stop_row)) {
    stop_row = other.stop_row;
  }
}

Status ReadCompactedFiles(std::string_view bytes,
                          std::vector<std::string>* names) {
  proto::CompactionEventTracker compaction;
  if (!bytes.starts_with(kMagic) ||
      !ParseMessage(bytes.substr(kMagic.size()), &compaction)) {
    return Corruption("COMPACTION_EVENT_KEY: expected \"", kMagic,
                      "\" and names of files, found ", bytes.size(),
                      " bytes that are none");
  }
  for (const std::string& name : compaction.compacted_store_file()) {
    Status s = CheckName("compacted file", name);
    if (!s.ok()) return s;
    names->push_back(name);
  }
  return Status::OK();
}

Status CheckName(const char* what, std::string_view name) {
  if (!name.empty() && !name.starts_with('.') &&
      name.find_first_of(std::string_view("/\0", 2)) == name.npos) {
    return Status::OK();
  }
  return Corruption(what, " \"", ToPrintable(name),
                    "\", expected a name without \"/\" and \".\" before it");
}

Status FitHalf(const RowRange& region, RowRange* half) {
  const bool is_upper = half->stop_row.empty();
  const std::string& row = is_upper ? half->start_row : half->stop_row;
  const bool is_of_region =
      is_upper ? row >= region.start_row &&
                     (region.stop_row.empty() || row < region.stop_row)
               : row == region.stop_row;
  if (is_of_region) {
    if (is_upper) half->start_row = region.start_row;
    return Status::OK();
  }
  return Corruption("a half ", is_upper ? "from" : "before", " row \"",
                    ToPrintable(row), "\", in a region from row \"",
                    ToPrintable(region.start_row), "\" to \"",
                    ToPrintable(region.stop_row), "\"");
}

Status ReadReference(const std::string& path, RowRange* rows) {
  std::string bytes;
  Status s = ReadWithMagic(path, &bytes);
  proto::Reference reference;
  if (s.ok()) {
    s = Parse(path, bytes, "a reference to a half of a file", &reference);
  }
  return s.ok() ? Prefixed(path + ": ", ToRowRange(reference, rows)) : s;
}

Status ReadRegionInfo(const std::string& path, RegionInfo* region) {
  std::string bytes;
  Status s = ReadWithMagic(path, &bytes);
  if (!s.ok()) return s;
  std::string_view rest = bytes;
  uint32_t message_bytes = 0;
  std::string_view message;
  if (!GetVarint(&rest, &message_bytes) ||
      !GetBytes(&rest, message_bytes, &message)) {
    return Corruption(path, ": expected a region of ", message_bytes,
                      " bytes, found ", bytes.size());
  }
  proto::RegionInfo info;
  s = Parse(path, message, "a region", &info);
  if (!s.ok()) return s;
  *region = {NameOf(info.table_name()),
             info.region_id(),
             {info.start_key(), info.end_key()}};
  s = CheckRegionFields(info);
  if (s.ok() && !info.end_key().empty() && info.end_key() <= info.start_key()) {
    s = Corruption("a region from row \"", ToPrintable(info.start_key()),
                   "\" to \"", ToPrintable(info.end_key()),
                   "\", which has none");
  }
  if (s.ok()) {
    s = CheckDirectoryName(fs::path(path).parent_path().filename().string(),
                           info);
  }
  return Prefixed(path + ": ", s);
}

Status ReadSnapshotManifest(const std::string& directory,
                            SnapshotManifest* manifest) {
  const std::string description_path = directory + "/.snapshotinfo";
  const std::string manifest_path = directory + "/data.manifest";
  std::error_code error;
  if (!fs::exists(description_path, error) && !error) {
    return NotFound(description_path, ": no such file, so no snapshot");
  }
  std::string bytes;
  Status s = ReadAll(description_path, &bytes);
  proto::SnapshotDescription description;
  if (s.ok()) {
    s = Parse(description_path, bytes, "a snapshot's description",
              &description);
  }
  if (!s.ok()) return s;
  if (description.version() != kManifestVersion) {
    return NotSupported(description_path, ": snapshot version ",
                        description.version(), ", expected ", kManifestVersion,
                        "; take the snapshot again");
  }
  s = ReadAll(manifest_path, &bytes);
  proto::SnapshotDataManifest data;
  if (s.ok()) s = Parse(manifest_path, bytes, "a snapshot's manifest", &data);
  if (!s.ok()) return s;
  const proto::TableSchema& table = data.table_schema();
  manifest->name_space = table.table_name().name_space();
  manifest->table = table.table_name().qualifier();
  s = CheckName("table", manifest->table);
  if (s.ok()) s = CheckName("namespace", manifest->name_space);
  if (!s.ok()) return Prefixed(manifest_path + ": ", s);
  const auto of_table = std::make_shared<const Settings>(SettingsOf(table));
  for (const proto::ColumnFamilySchema& family : table.column_families()) {
    manifest->families.push_back({family.name(), SettingsOf(family), of_table});
  }
  for (const auto& region : data.region_manifests()) {
    s = ToRegion(region, &manifest->regions.emplace_back());
    if (!s.ok()) return Prefixed(manifest_path + ": ", s);
  }
  s = CheckFields(data, "a manifest");
  if (s.ok()) s = CheckRegions(manifest->regions);
  return Prefixed(manifest_path + ": ", s);
}

}  // namespace rowbloom::hfile_transfer
