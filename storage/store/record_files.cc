#include "storage/store/record_files.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/file_checksum.h"
#include "storage/format/coding.h"
#include "storage/format/directory.h"
#include "storage/format/status_text.h"
#include "storage/store/found_store.h"

namespace rowbloom {
namespace {

using rocksdb::Env;
using rocksdb::Status;

// Both files have the format of RocksDB's db/log_format.h: blocks of whole
// records. A record is a masked CRC32C (u32) of type and contents, the length
// of the contents (u16), the type (u8) and the contents. The last bytes of a
// block are unused if a head has no room.
constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeadBytes = 7;
constexpr size_t kTypeAt = 6;
// A change in a log is a batch. It begins with the sequence number of its first
// write (u64) and the count of its writes (u32).
constexpr size_t kChangeHeadBytes = sizeof(uint64_t) + sizeof(uint32_t);
// A change in one record has the type kFull. The records of a longer change
// have kFirst, then kMiddle, then kLast.
enum RecordType : char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// Tells whether `bytes` begins with a record of this type and length. REQUIRES
// that it has so many bytes.
bool BeginsWith(std::string_view bytes, char type, size_t length) {
  const auto crc =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(
          {});
  crc->Update(&type, 1);
  crc->Update(bytes.data() + kHeadBytes, length);
  crc->Finalize();
  const std::string checksum = crc->GetChecksum();  // the first byte is highest
  const uint32_t masked =
      std::rotr(LoadBig<uint32_t>(checksum.data()), 15) + 0xa282ead8U;
  return masked == LoadFixed<uint32_t>(bytes.data());
}

// The size of the record that `bytes` begins with; 0: there is none.
size_t RecordBytes(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return 0;
  const size_t length = LoadFixed<uint16_t>(bytes.data() + sizeof(uint32_t));
  if (length > bytes.size() - kHeadBytes) return 0;
  return BeginsWith(bytes, bytes[kTypeAt], length) ? kHeadBytes + length : 0;
}

// Tells whether `rest`, which begins with no record, begins with a damaged one,
// or has a record further on. A crash leaves neither.
bool HasDamage(std::string_view rest) {
  if (rest.size() < kHeadBytes) return false;
  const size_t most = rest.size() - kHeadBytes;
  const size_t length = LoadFixed<uint16_t>(rest.data() + sizeof(uint32_t));
  for (const char type : {kFull, kFirst, kMiddle, kLast}) {
    if (length <= most && BeginsWith(rest, type, length)) return true;
  }
  for (size_t other = 0; other <= most; ++other) {
    if (BeginsWith(rest, rest[kTypeAt], other)) return true;
  }
  for (size_t at = 1; at <= most; ++at) {
    if (RecordBytes(rest.substr(at)) > 0) return true;
  }
  return false;
}

// The records of a file.
struct Records {
  std::string file;
  uint64_t end = 0;      // of the last whole one
  bool are_all = false;  // the file has only whole changes
  std::string rest;      // the bytes after the end, in its block and the next
  // The sequence number of a log's first write, and that after its last one.
  // nullopt: the log has no whole change.
  std::optional<uint64_t> first_number;
  uint64_t next_number = 0;
  // The number of the first change that is out of order, and the smallest
  // expected one.
  std::optional<std::pair<uint64_t, uint64_t>> out_of_order;
};

// The logs of a database, by number.
using Logs = std::map<uint64_t, Records>;

// Notes a record of a log. `head` has the first bytes of its change.
void NoteRecord(std::string_view record, std::string* head, Records* records) {
  const char type = record[kTypeAt];
  if (type == kFull || type == kFirst) head->clear();
  head->append(
      record.substr(kHeadBytes).substr(0, kChangeHeadBytes - head->size()));
  const bool is_end = type == kFull || type == kLast;
  if (!is_end || head->size() < kChangeHeadBytes) return;
  const auto number = LoadFixed<uint64_t>(head->data());
  if (!records->first_number) records->first_number = number;
  if (number < records->next_number && !records->out_of_order) {
    records->out_of_order = {number, records->next_number};
  }
  records->next_number =
      number + LoadFixed<uint32_t>(head->data() + sizeof(uint64_t));
}

Status FindRecords(Env* env, Records* records) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  Status s =
      env->NewSequentialFile(records->file, &file, rocksdb::EnvOptions());
  std::string buffer(kBlockBytes, '\0');
  rocksdb::Slice read;
  std::string head;
  char type = kFull;  // the last one
  for (uint64_t block_at = 0; s.ok(); block_at += kBlockBytes) {
    s = file->Read(kBlockBytes, &read, buffer.data());
    if (!s.ok()) break;
    const std::string_view block = read.ToStringView();
    size_t at = 0;
    while (const size_t bytes = RecordBytes(block.substr(at))) {
      type = block[at + kTypeAt];
      NoteRecord(block.substr(at, bytes), &head, records);
      at += bytes;
      records->end = block_at + at;
    }
    const bool is_last = block.size() < kBlockBytes;
    if (!is_last && kBlockBytes - at < kHeadBytes) continue;
    records->are_all =
        is_last && at == block.size() && (type == kFull || type == kLast);
    records->rest = block.substr(at);
    if (is_last) break;
    s = file->Read(kBlockBytes, &read, buffer.data());
    if (s.ok()) records->rest += read.ToStringView();
    break;
  }
  return s;
}

// Corruption: a log repeats a number of an earlier change, at which RocksDB
// would fail an assertion (7.8.3 with assertions, as Debian's). Or it begins
// with an earlier change than the log before it, which RocksDB accepts (7.8.3)
// or refuses without naming the log (10.10.1).
Status ReadLogs(Env* env, const std::string& path,
                const std::vector<std::string>& entries, Logs* logs) {
  for (const std::string& entry : entries) {
    const uint64_t number = LeadingNumber(entry);
    if (IsLog(entry) && number > 0) (*logs)[number].file = path + "/" + entry;
  }
  const Records* last = nullptr;  // the last log with changes
  for (auto& [log_number, log] : *logs) {
    const Status s = FindRecords(env, &log);
    // The writer of a store that is opened for reading may delete a log.
    if (!s.ok() && !s.IsNotFound() && !s.IsPathNotFound()) return s;
    if (log.out_of_order) {
      const auto& [found, expected] = *log.out_of_order;
      return Corruption(log.file, ": expected write ", expected,
                        " or a later one, found write ", found,
                        ": two processes have written to the log");
    }
    if (!log.first_number) continue;
    if (last != nullptr && *log.first_number < *last->first_number) {
      return Corruption(log.file, ": begins with write ", *log.first_number,
                        ", expected one after write ", *last->first_number,
                        " of ", last->file);
    }
    last = &log;
  }
  return Status::OK();
}

// Corruption: a log ends early, and a later one has changes. RocksDB would skip
// the changes in between.
//
// Nothing is missing if the later log begins with the number after the last
// whole change of the first. A crash leaves the first log with a part of a
// record. The next opening begins the later one with an empty batch, and leaves
// both if it is interrupted.
Status CheckLogs(Logs::const_iterator begin, Logs::const_iterator end) {
  const Records* cut = nullptr;  // the log without its end
  uint64_t next_number = 0;
  for (auto it = begin; it != end; ++it) {
    const Records& log = it->second;
    if (log.first_number) {
      const uint64_t number = *log.first_number;
      if (cut != nullptr && number != next_number) {
        return Corruption(cut->file, ": offset ", cut->end,
                          ": expected changes up to write ", number,
                          ", with which ", log.file,
                          " goes on, found none from write ", next_number);
      }
      cut = nullptr;
      next_number = log.next_number;
    }
    if (!log.are_all && cut == nullptr) cut = &log;
  }
  return Status::OK();
}

// Corruption: a copy has a table that its MANIFEST does not name.
Status CheckTables(const std::string& manifest,
                   const std::vector<std::string>& entries,
                   const Database& database) {
  std::vector<std::string> live;
  uint64_t manifest_bytes = 0;
  Status s = database->GetLiveFiles(live, &manifest_bytes,
                                    /*flush_memtable=*/false);
  const std::set<std::string> named(live.begin(), live.end());
  for (const std::string& entry : entries) {
    const bool is_table = entry.ends_with(".sst") || entry.ends_with(".blob");
    const bool has_number = LeadingNumber(entry) > 0;
    if (!s.ok() || !is_table || !has_number || named.contains("/" + entry)) {
      continue;
    }
    return Corruption(manifest,
                      ": its end is missing: expected all tables of a copy, "
                      "found none named ",
                      entry);
  }
  return s;
}

// Tells whether no log has a byte.
bool AreEmpty(const Logs& logs) {
  return std::ranges::all_of(logs, [](const auto& log) {
    return log.second.are_all && log.second.end == 0;
  });
}

// Corruption: the MANIFEST lacks a table of a copy, or a log that it needs is
// missing or not whole.
//
// RocksDB's track_and_verify_wals_in_manifest does not suffice: it detects a
// cut MANIFEST only if a log that the rest tracks is gone (test
// Damage.ManifestWithoutItsEndIsNamed).
Status CheckOthers(Env* env, const std::string& path,
                   const std::string& manifest,
                   const std::vector<std::string>& entries, const Logs& logs,
                   const Database& database) {
  const std::string file = path + "/" + manifest;
  if (logs.empty()) return CheckTables(file, entries, database);
  uint64_t needed = 0;  // RocksDB has this property of every database
  database->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep,
                           &needed);
  // Until a flush names a log, `needed` is less than the number of the first
  // log of the process that wrote the MANIFEST, which it created just before.
  const uint64_t manifest_number =
      LeadingNumber(std::string_view(manifest).substr(kManifestPrefix.size()));
  const uint64_t end = std::max(needed + 1, manifest_number);
  const auto first = logs.lower_bound(needed);
  const bool has_first = first != logs.end();
  // The first opening of a copy creates a log before its own MANIFEST. It
  // leaves the log empty if it is interrupted in between.
  if (has_first && first->first >= end && AreEmpty(logs)) {
    std::string name;
    const Status s = CheckManifest(env, path, /*is_copy=*/true, &name);
    return s.ok() ? CheckTables(file, entries, database) : s;
  }
  if (!has_first || first->first >= end) {
    return Corruption(
        file, ": its end is missing: expected a log with a number from ",
        needed, " to ", end - 1, ", found only others");
  }
  // The process that wrote the MANIFEST replayed the logs of earlier processes,
  // however a crash had cut them. It created its own first log just before.
  auto own = logs.lower_bound(manifest_number);
  if (own != logs.begin()) --own;
  return CheckLogs(logs.lower_bound(std::max(needed, own->first)), logs.end());
}

}  // namespace

Status ReadCurrent(Env* env, const std::string& path, std::string* manifest) {
  Status s = ReadFileToString(env, path + "/CURRENT", manifest);
  while (manifest->ends_with('\n')) manifest->pop_back();
  return s;
}

Status CheckManifest(Env* env, const std::string& path, bool is_copy,
                     std::string* manifest) {
  Status s = ReadCurrent(env, path, manifest);
  Records records{path + "/" + *manifest};
  if (s.ok()) s = FindRecords(env, &records);
  if (!s.ok() || records.are_all) return s;
  if (HasDamage(records.rest)) {
    return Corruption(records.file, ": offset ", records.end,
                      ": expected a record or the end, found a damaged one");
  }
  if (is_copy) {
    return Corruption(records.file, ": offset ", records.end,
                      ": its end is missing: expected the end of the file, "
                      "found a part of a record");
  }
  return s;
}

Status OpenRecords(Env* env, const std::string& path,
                   const std::set<std::string>& column_families,
                   bool may_be_incomplete, Database* database) {
  std::vector<std::string> entries;
  Logs logs;
  std::string manifest;
  Status s = ListDirectory(env, path, &entries);
  if (s.ok()) s = ReadLogs(env, path, entries, &logs);
  if (s.ok() && !may_be_incomplete) {
    s = CheckManifest(env, path, /*is_copy=*/logs.empty(), &manifest);
  }
  if (!s.ok()) return s;
  rocksdb::DBOptions options;
  options.env = env;
  options.max_file_opening_threads = 1;  // few tables are opened
  std::vector<rocksdb::ColumnFamilyDescriptor> opened = {
      rocksdb::ColumnFamilyDescriptor()};
  if (AreEmpty(logs)) {           // it may be a copy
    options.max_open_files = 16;  // no need to open all
    for (const std::string& name : column_families) {
      opened.emplace_back(name, rocksdb::ColumnFamilyOptions());
    }
  }
  s = database->Open(options, path, std::move(opened),
                     Database::Access::kReadOnly);
  if (!s.ok()) return NamingDamagedFile(env, path, s);
  return may_be_incomplete
             ? s
             : CheckOthers(env, path, manifest, entries, logs, *database);
}

}  // namespace rowbloom
