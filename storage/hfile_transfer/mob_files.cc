#include "storage/hfile_transfer/mob_files.h"

#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/format/status_text.h"
#include "storage/hfile_transfer/hbase_records.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

// Finds FAMILY/FILE in any region of the table: HBase has one for all its MOB
// files, and file names are unique. Looks in *region first, a name, and sets it
// to that of the one that has the file. Leaves *path empty if it is in none.
Status FindInRegions(const std::string& table_directory,
                     const std::string& family_and_file, std::string* region,
                     std::string* path) {
  const std::string known =
      Concat(table_directory, "/", *region, "/", family_and_file);
  std::error_code error;
  if (!region->empty() && fs::is_regular_file(known, error)) {
    *path = known;
    return Status::OK();
  }
  if (!fs::exists(table_directory, error) && !error) return Status::OK();
  fs::directory_iterator entry(table_directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string file = (entry->path() / family_and_file).string();
    std::error_code unread;
    const fs::file_type type = fs::status(file, unread).type();
    if (type == fs::file_type::none) {
      return IOError(file, ": ", unread.message());
    }
    if (type == fs::file_type::regular) {
      *region = entry->path().filename().string();
      *path = file;
      return Status::OK();
    }
  }
  if (!error) return Status::OK();
  return IOError(table_directory,
                 ": cannot read the directory: ", error.message());
}

}  // namespace

Status ParseMobReference(const HFileCellView& cell, std::string_view table,
                         MobReference* reference) {
  constexpr size_t kMaxNameBytes = 255;  // of a file
  std::string_view value = cell.value;
  uint32_t value_bytes = 0;
  Status s;
  if (cell.type != HFileCellType::kPut || !GetBig(&value, &value_bytes) ||
      value.size() > kMaxNameBytes) {
    s = InvalidArgument("expected a put of a length and a name of up to ",
                        kMaxNameBytes, " bytes, found type ",
                        static_cast<int>(cell.type), " and ", cell.value.size(),
                        " bytes");
  }
  const size_t split = table.find(':');
  const bool has_name_space = split != table.npos;
  reference->value_bytes = value_bytes;
  reference->file = value;
  reference->name_space = has_name_space ? table.substr(0, split) : "default";
  reference->table = has_name_space ? table.substr(split + 1) : table;
  if (s.ok()) s = CheckName("file", value);
  if (s.ok()) s = CheckName("family", cell.family);
  if (s.ok()) s = CheckName("namespace (tag type 6)", reference->name_space);
  if (s.ok()) s = CheckName("table (tag type 6)", reference->table);
  if (s.ok()) return s;
  return InvalidArgument("a reference to MOB file \"",
                         ToPrintable(value.substr(0, kMaxNameBytes)),
                         "\" (tag type 5): ", s.getState());
}

Status MobFiles::Read(const std::string& root, const HFileCellView& cell,
                      const MobReference& reference, std::string* value) {
  HFileReader* reader = nullptr;
  Status s = Open(root, cell.family, reference, &reader);
  if (!s.ok()) return s;
  // Small values share blocks, which the cache keeps for the next.
  const std::unique_ptr<HFileIterator> it = reader->NewIterator({});
  it->Seek(cell.key());
  if (!it->status().ok()) return it->status();
  if (!it->Valid() || CompareHFileKeys(it->cell().key(), cell.key()) != 0) {
    return Corruption(reader->path(), ": expected the value of a cell at ",
                      cell.timestamp_ms, " that refers to it, found none");
  }
  if (it->cell().value.size() != reference.value_bytes) {
    return Corruption(reader->path(), ": a value of ", it->cell().value.size(),
                      " bytes, expected ", reference.value_bytes,
                      " by the cell that refers to it");
  }
  value->assign(it->cell().value);
  return Status::OK();
}

Status MobFiles::Open(const std::string& root, std::string_view family,
                      const MobReference& reference, HFileReader** reader) {
  const std::string of_table =
      Concat("/data/", reference.name_space, "/", reference.table);
  const std::string family_and_file = Concat(family, "/", reference.file);
  const std::string name = Concat(root, of_table, "/", family_and_file);
  if (const auto known = open_.find(name); known != open_.end()) {
    *reader = known->second.get();
    return Status::OK();
  }
  std::string path;
  for (const char* in : {"/mobdir", "/archive"}) {
    if (root.empty() || !path.empty() || missing_.contains(name)) break;
    Status s =
        FindInRegions(root + in + of_table, family_and_file, &region_, &path);
    if (!s.ok()) return s;
  }
  if (path.empty()) {
    missing_.insert(name);
    return NotSupported(
        "its value is in MOB file \"", ToPrintable(reference.file),
        "\", which is in no region below mobdir", of_table, " or archive",
        of_table,
        root.empty() ? " (looked for beside data/NAMESPACE/TABLE)" : " in ",
        root,
        "; copy it there from HBase, or import a snapshot, or raise "
        "MOB_THRESHOLD beyond the values and run major_compact");
  }
  std::unique_ptr<HFileReader> opened;
  Status s = HFileReader::Open(options_, path, &opened);
  if (s.ok()) s = opened->CellsStatus();
  if (!s.ok()) return s;
  if (open_.size() == kMaxOpen) {
    // Files that are read in turns mostly stay open. The least recently used
    // one would be the next to be read.
    auto next = open_.lower_bound(name);
    if (next == open_.begin()) next = open_.end();
    open_.erase(std::prev(next));
  }
  *reader = opened.get();
  open_.emplace(name, std::move(opened));
  return s;
}

}  // namespace rowbloom::hfile_transfer
