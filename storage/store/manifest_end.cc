#include "storage/store/manifest_end.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace rowbloom {
namespace {

using rocksdb::Status;

// Of RocksDB's log format, db/log_format.h: blocks of this size with records,
// each with a checksum of 4 bytes, a length of 2, little-endian, and a type.
constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kLengthOffset = 4;
constexpr size_t kTypeOffset = 6;
constexpr uint8_t kFull = 1;
constexpr uint8_t kFirst = 2;
constexpr uint8_t kLast = 4;  // what is between has 3

// Of a record of a MANIFEST, db/version_edit.h: tags and what belongs to them.
// All that is of interest comes before the first tag that is not listed.
constexpr uint64_t kComparator = 1;  // text
constexpr uint64_t kLogNumber = 2;   // number, as the others
constexpr uint64_t kNextFileNumber = 3;
constexpr uint64_t kPrevLogNumber = 9;
constexpr uint64_t kMinLogNumberToKeep = 10;
constexpr uint64_t kMaxColumnFamily = 203;
constexpr uint64_t kDbId = (uint64_t{1} << 13) + 1;  // text

// The records of a file, up to one that is not whole.
class Records {
 public:
  explicit Records(std::unique_ptr<rocksdb::SequentialFile> file)
      : file_(std::move(file)), buffer_(kBlockBytes, '\0') {}

  // False at the end; *status then says whether reading failed.
  bool Next(std::string* record, Status* status) {
    record->clear();
    while (true) {
      if (block_.size() < kHeaderBytes && !ReadBlock(status)) return false;
      const auto byte = [this](size_t offset) {
        return static_cast<uint8_t>(block_[offset]);
      };
      const size_t end = kHeaderBytes + byte(kLengthOffset) +
                         (size_t{byte(kLengthOffset + 1)} << 8);
      const uint8_t type = byte(kTypeOffset);
      if (type < kFull || type > kLast || end > block_.size()) return false;
      if (type == kFull || type == kFirst) record->clear();
      record->append(block_.substr(kHeaderBytes, end - kHeaderBytes));
      block_.remove_prefix(end);
      if (type == kFull || type == kLast) return true;
    }
  }

 private:
  bool ReadBlock(Status* status) {
    rocksdb::Slice found;
    *status = file_->Read(kBlockBytes, &found, buffer_.data());
    block_ = found.ToStringView();
    return status->ok() && block_.size() >= kHeaderBytes;
  }

  const std::unique_ptr<rocksdb::SequentialFile> file_;
  std::string buffer_;
  std::string_view block_;  // what is left of it
};

bool TakeNumber(std::string_view* bytes, uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool SkipText(std::string_view* bytes) {
  uint64_t size = 0;
  if (!TakeNumber(bytes, &size) || size > bytes->size()) return false;
  bytes->remove_prefix(size);
  return true;
}

// The log that was written to when a record with kMinLogNumberToKeep was: its
// number is in [first, end), and it is deleted only after another such record.
struct NeededLog {
  uint64_t first = 0;
  uint64_t end = std::numeric_limits<uint64_t>::max();

  bool IsAmong(const std::vector<uint64_t>& logs) const {
    for (const uint64_t log : logs) {
      if (first <= log && log < end) return true;
    }
    return false;
  }

  void Apply(std::string_view record) {
    uint64_t tag = 0;
    uint64_t number = 0;
    std::optional<uint64_t> next_file;
    std::optional<uint64_t> min_log;
    while (TakeNumber(&record, &tag)) {
      const bool is_text = tag == kComparator || tag == kDbId;
      const bool is_number = tag == kLogNumber || tag == kNextFileNumber ||
                             tag == kPrevLogNumber || tag == kMaxColumnFamily ||
                             tag == kMinLogNumberToKeep;
      if (is_text ? !SkipText(&record)
                  : !is_number || !TakeNumber(&record, &number)) {
        break;
      }
      if (tag == kNextFileNumber) next_file = number;
      if (tag == kMinLogNumberToKeep) min_log = number;
    }
    // Until the first such record it is any log of a number that was given.
    if (next_file && (first == 0 || min_log.value_or(0) > first)) {
      first = min_log.value_or(0);
      end = *next_file;
    }
  }
};

Status ListLogs(rocksdb::Env* env, const std::string& path,
                std::vector<uint64_t>* logs) {
  constexpr std::string_view kSuffix = ".log";
  std::vector<std::string> entries;
  const Status s = env->GetChildren(path, &entries);
  for (const std::string& entry : entries) {
    if (!s.ok() || !entry.ends_with(kSuffix)) continue;
    const char* const end = entry.data() + entry.size() - kSuffix.size();
    uint64_t number = 0;
    const auto [stop, error] = std::from_chars(entry.data(), end, number);
    if (error == std::errc() && stop == end) logs->push_back(number);
  }
  return s;
}

Status ReadNeededLog(rocksdb::Env* env, const std::string& manifest,
                     NeededLog* needed) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  Status s = env->NewSequentialFile(manifest, &file, rocksdb::EnvOptions());
  if (!s.ok()) return s;
  Records records(std::move(file));
  std::string record;
  while (records.Next(&record, &s)) needed->Apply(record);
  return s;
}

}  // namespace

Status CheckManifestEnd(rocksdb::Env* env, const std::string& path) {
  // Beside a process that writes, a log may come and go between two looks.
  constexpr int kLooks = 3;
  Status s;
  for (int look = 0; look < kLooks; ++look) {
    std::vector<uint64_t> logs;
    std::string current;
    NeededLog needed;
    s = ListLogs(env, path, &logs);
    if (s.ok()) s = rocksdb::ReadFileToString(env, path + "/CURRENT", &current);
    if (!s.ok()) return s;
    while (current.ends_with('\n')) current.pop_back();
    const std::string manifest = path + "/" + current;
    s = ReadNeededLog(env, manifest, &needed);
    if (!s.ok() || logs.empty() || needed.IsAmong(logs)) return s;
    s = Status::Corruption(
        manifest + ": its end is missing: expected a log with a number from " +
        std::to_string(needed.first) + " to " + std::to_string(needed.end - 1) +
        ", found only others");
  }
  return s;
}

}  // namespace rowbloom
