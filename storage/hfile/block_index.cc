#include "storage/hfile/block_index.h"

#include "storage/format/coding.h"
#include "storage/format/status_text.h"
#include "storage/hfile/block.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/vlong.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

// A root entry also has a vlong of at least one byte.
constexpr size_t kMinRootEntryBytes = kLocationBytes + 1;
constexpr size_t kStartBytes = 4;

BlockLocation LoadLocation(const char* at) {
  return {LoadBig<uint64_t>(at), LoadBig<uint32_t>(at + sizeof(uint64_t))};
}

Status CheckLocation(size_t entry, const BlockLocation& location,
                     uint64_t end_at) {
  if (location.block_bytes >= kBlockHeaderBytes && location.offset <= end_at &&
      location.block_bytes <= end_at - location.offset) {
    return Status::OK();
  }
  return Corruption("index entry ", entry, ": block of ", location.block_bytes,
                    " bytes at offset ", location.offset,
                    ", expected at least ", kBlockHeaderBytes,
                    " bytes that end by offset ", end_at);
}

Status CheckKey(size_t entry, KeyForm form, std::string_view key,
                std::string_view before) {
  HFileKey parsed;
  if (form == KeyForm::kCellKey && !ParseKey(key, &parsed)) {
    return Corruption("index entry ", entry, ": key of ", key.size(),
                      " bytes is not that of a cell");
  }
  if (form != KeyForm::kName && entry > 0 &&
      CompareIndexKeys(form, before, key) > 0) {
    return Corruption("index entry ", entry, ": key before that of entry ",
                      entry - 1);
  }
  return Status::OK();
}

// Returns the last entry with a key at or before `key`, or the index's size.
template <typename Index>
size_t FindLast(const Index& index, KeyForm form, std::string_view key) {
  size_t low = 0;  // entries before it are at or before the key
  size_t high = index.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (CompareIndexKeys(form, index.key(middle), key) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? index.size() : low - 1;
}

}  // namespace

int CompareIndexKeys(KeyForm form, std::string_view a, std::string_view b) {
  if (form != KeyForm::kCellKey) return a.compare(b);
  HFileKey a_key;
  HFileKey b_key;
  if (!ParseKey(a, &a_key) || !ParseKey(b, &b_key)) return a.compare(b);
  return CompareHFileKeys(a_key, b_key);
}

Status RootIndex::Parse(std::string_view bytes, uint64_t entry_count,
                        KeyForm form, uint64_t end_at, RootIndex* index,
                        std::string_view* rest) {
  if (entry_count > bytes.size() / kMinRootEntryBytes) {
    return Corruption(entry_count, " index entries, expected at most ",
                      bytes.size() / kMinRootEntryBytes, " in ", bytes.size(),
                      " bytes");
  }
  RootIndex parsed;
  parsed.bytes_ = bytes;
  parsed.form_ = form;
  parsed.entry_at_.reserve(entry_count);
  std::string_view cursor = bytes;
  std::string_view before;
  for (size_t entry = 0; entry < entry_count; ++entry) {
    parsed.entry_at_.push_back(
        static_cast<uint32_t>(bytes.size() - cursor.size()));
    std::string_view location;
    std::string_view key;
    if (!GetBytes(&cursor, kLocationBytes, &location) ||
        !GetByteArray(&cursor, &key)) {
      return Corruption("index entry ", entry, " of ", entry_count,
                        " is cut off");
    }
    Status status = CheckLocation(entry, LoadLocation(location.data()), end_at);
    if (status.ok()) status = CheckKey(entry, form, key, before);
    if (!status.ok()) return status;
    before = key;
  }
  *index = std::move(parsed);
  *rest = cursor;
  return Status::OK();
}

BlockLocation RootIndex::location(size_t entry) const {
  return LoadLocation(bytes_.data() + entry_at_[entry]);
}

std::string_view RootIndex::key(size_t entry) const {
  std::string_view cursor = bytes_.substr(entry_at_[entry] + kLocationBytes);
  std::string_view key;
  return GetByteArray(&cursor, &key) ? key : std::string_view();
}

size_t RootIndex::Find(std::string_view key) const {
  return FindLast(*this, form_, key);
}

Status NonRootIndex::Check(std::string_view payload, KeyForm form,
                           uint64_t end_at) {
  std::string_view cursor = payload;
  uint32_t entry_count = 0;
  std::string_view starts;
  if (!GetBig(&cursor, &entry_count) || entry_count == 0 ||
      !GetBytes(&cursor, (uint64_t{entry_count} + 1) * kStartBytes, &starts)) {
    return Corruption("index of ", entry_count,
                      " entries, expected at least 1 in ", payload.size(),
                      " bytes");
  }
  const std::string_view entries = cursor;
  std::string_view before;
  uint32_t start = LoadBig<uint32_t>(starts.data());
  if (start != 0) {
    return Corruption("index entry 0 starts at ", start, ", expected 0");
  }
  for (size_t entry = 0; entry < entry_count; ++entry) {
    const uint32_t end =
        LoadBig<uint32_t>(starts.data() + (entry + 1) * kStartBytes);
    if (end < start || end - start < kLocationBytes || end > entries.size()) {
      return Corruption("index entry ", entry, " from ", start, " to ", end,
                        ", expected at least ", kLocationBytes,
                        " bytes within ", entries.size());
    }
    const std::string_view bytes = entries.substr(start, end - start);
    const std::string_view key = bytes.substr(kLocationBytes);
    Status status = CheckLocation(entry, LoadLocation(bytes.data()), end_at);
    if (status.ok()) status = CheckKey(entry, form, key, before);
    if (!status.ok()) return status;
    before = key;
    start = end;
  }
  return Status::OK();
}

NonRootIndex::NonRootIndex(std::string_view payload)
    : entry_count_(LoadBig<uint32_t>(payload.data())) {
  payload.remove_prefix(sizeof(uint32_t));
  starts_ = payload.substr(0, (entry_count_ + 1) * kStartBytes);
  entries_ = payload.substr(starts_.size());
}

std::string_view NonRootIndex::Entry(size_t entry) const {
  const char* at = starts_.data() + entry * kStartBytes;
  const uint32_t start = LoadBig<uint32_t>(at);
  return entries_.substr(start, LoadBig<uint32_t>(at + kStartBytes) - start);
}

BlockLocation NonRootIndex::location(size_t entry) const {
  return LoadLocation(Entry(entry).data());
}

std::string_view NonRootIndex::key(size_t entry) const {
  return Entry(entry).substr(kLocationBytes);
}

size_t NonRootIndex::Find(std::string_view key) const {
  return FindLast(*this, KeyForm::kCellKey, key);
}

}  // namespace rowbloom::hfile
