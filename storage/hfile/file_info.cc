#include "storage/hfile/file_info.h"

#include <algorithm>
#include <iterator>

#include "hfile.pb.h"
#include "storage/format/coding.h"
#include "storage/format/parse_message.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

constexpr std::string_view kProtobufMagic = "PBUF";

// Sets `*value` to null and returns OK if the name is absent.
Status FindSized(const FileInfo& file_info, const char* name, size_t byte_count,
                 const std::string** value) {
  *value = Find(file_info, name);
  if (*value == nullptr || (*value)->size() == byte_count) return Status::OK();
  return Corruption("file info ", name, " of ", (*value)->size(),
                    " bytes, expected ", byte_count);
}

}  // namespace

bool IsReserved(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      info::kKeyValueVersion,   info::kMaxMvcc,
      info::kMaxSequenceId,     info::kMajorCompaction,
      info::kExcludeFromMinor,  info::kTimeRange,
      info::kEarliestPut,       info::kBloomType,
      info::kBloomParameter,    info::kLastBloomKey,
      info::kDeleteFamilyCount, info::kBulkLoadTask,
      info::kBulkLoadTime,      info::kHistorical,
      info::kDataBlockEncoding, info::kIndexBlockEncoding};
  return name.starts_with("hfile.") ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

Status ParseFileInfo(std::string_view payload, FileInfo* file_info) {
  std::string_view magic;
  uint64_t message_bytes = 0;
  std::string_view message;
  if (!GetBytes(&payload, kProtobufMagic.size(), &magic) ||
      magic != kProtobufMagic) {
    return Status::Corruption("file info does not start with \"PBUF\"");
  }
  if (!GetVarint(&payload, &message_bytes) ||
      !GetBytes(&payload, message_bytes, &message)) {
    return Corruption("file info of ", message_bytes,
                      " bytes, expected at most ", payload.size());
  }
  proto::FileInfo parsed;
  if (!ParseMessage(message, &parsed)) {
    return Corruption("file info of ", message_bytes, " bytes is malformed");
  }
  file_info->clear();
  for (proto::FileInfoEntry& entry : *parsed.mutable_map_entry()) {
    (*file_info)[entry.first()] = std::move(*entry.mutable_second());
  }
  return Status::OK();
}

std::string SerializeFileInfo(const FileInfo& file_info) {
  proto::FileInfo message;
  for (const auto& [name, value] : file_info) {
    proto::FileInfoEntry* entry = message.add_map_entry();
    entry->set_first(name);
    entry->set_second(value);
  }
  std::string payload(kProtobufMagic);
  const size_t message_bytes = message.ByteSizeLong();
  PutVarint(&payload, message_bytes);
  if (message_bytes > kMaxFileInfoBytes - payload.size()) return "";
  message.AppendToString(&payload);
  return payload;
}

const std::string* Find(const FileInfo& file_info, const char* name) {
  const auto found = file_info.find(name);
  return found == file_info.end() ? nullptr : &found->second;
}

template <typename Number>
Status FindNumber(const FileInfo& file_info, const char* name,
                  std::optional<Number>* value) {
  const std::string* bytes = nullptr;
  const Status status = FindSized(file_info, name, sizeof(Number), &bytes);
  value->reset();
  if (status.ok() && bytes != nullptr) *value = LoadBig<Number>(bytes->data());
  return status;
}
template Status FindNumber(const FileInfo&, const char*,
                           std::optional<uint8_t>*);
template Status FindNumber(const FileInfo&, const char*,
                           std::optional<uint32_t>*);
template Status FindNumber(const FileInfo&, const char*,
                           std::optional<uint64_t>*);

Status FindTimeRange(const FileInfo& file_info, bool* found, TimeRange* range) {
  const std::string* bytes = Find(file_info, info::kTimeRange);
  *found = false;
  if (bytes != nullptr && bytes->starts_with(kProtobufMagic)) {
    proto::TimeRangeTracker times;
    if (!ParseMessage(std::string_view(*bytes).substr(kProtobufMagic.size()),
                      &times)) {
      return Corruption("file info ", info::kTimeRange, " of ", bytes->size(),
                        " bytes is malformed");
    }
    *range = {static_cast<int64_t>(times.from()),
              static_cast<int64_t>(times.to())};
    *found = true;
    return Status::OK();
  }
  const Status status =
      FindSized(file_info, info::kTimeRange, 2 * sizeof(uint64_t), &bytes);
  *found = status.ok() && bytes != nullptr;
  if (*found) {
    range->min_ms = static_cast<int64_t>(LoadBig<uint64_t>(bytes->data()));
    range->max_ms = static_cast<int64_t>(
        LoadBig<uint64_t>(bytes->data() + sizeof(uint64_t)));
  }
  return status;
}

std::string U32Bytes(uint32_t value) {
  std::string bytes;
  PutBig<uint32_t>(&bytes, value);
  return bytes;
}

std::string U64Bytes(uint64_t value) {
  std::string bytes;
  PutBig<uint64_t>(&bytes, value);
  return bytes;
}

std::string BoolByte(bool value) { return std::string(1, value ? '\xff' : 0); }

}  // namespace rowbloom::hfile
