#include "tools/sst/data_cursor.h"

#include <fmt/format.h>

#include "storage/format/coding.h"
#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kRangeDeletionBlock = "rocksdb.range_del";

// The first byte of a reference with a place and no time to live.
constexpr std::string_view kPlace("\x01", 1);

// Returns the bytes after the file number of a reference to this file; nullopt
// for other references.
std::optional<std::string_view> PlaceInThisFile(std::string_view value) {
  uint64_t file_number = 0;
  if (!value.starts_with(kPlace)) return std::nullopt;
  value.remove_prefix(kPlace.size());
  if (!GetVarint(&value, &file_number) || file_number != 0) return std::nullopt;
  return value;
}

}  // namespace

DataCursor::DataCursor(const SstFile& file)
    : file_(file),
      global_sequence_(file.global_sequence()),
      index_(file),
      reader_(file) {}

bool DataCursor::NextBlock() {
  entries_.reset();
  block_status_ = Status::OK();
  if (!index_.Next()) return false;
  block_status_ = reader_.ReadData(index_.handle(), &contents_);
  if (block_status_.ok()) {
    entries_.emplace(contents_, ValueForm::kData);
  } else {
    contents_ = {};
  }
  return true;
}

bool DataCursor::NextEntry() {
  if (!entries_ || !block_status_.ok()) return false;
  if (!entries_->Next()) {
    if (!entries_->status().ok()) {
      block_status_ =
          file_.Damaged(block(), "data block", entries_->status().getState());
    }
    return false;
  }
  if (!ParseInternalKey(entries_->key(), &key_)) {
    block_status_ = file_.Damaged(
        block(), "data block",
        fmt::format("key of {} bytes, expected at least {}",
                    entries_->key().size(), kInternalKeySuffixBytes));
    return false;
  }
  if (global_sequence_ != 0) key_.sequence = global_sequence_;
  return true;
}

bool DataCursor::Next() {
  while (!NextEntry()) {
    if (!block_status_.ok() || !NextBlock()) return false;
  }
  return true;
}

bool IsEmbeddedBlob(const SstFile& file, EntryType type,
                    std::string_view value) {
  return type == EntryType::kBlobIndex && file.has_embedded_blobs() &&
         PlaceInThisFile(value);
}

Status EmbeddedBlobReader::Read(std::string_view value, std::string* contents) {
  std::optional<std::string_view> place = PlaceInThisFile(value);
  BlockHandle handle;
  if (!place || !GetBlockHandle(&*place, &handle) || place->size() != 1) {
    return Corruption(file_.path(), ": malformed place of a value of ",
                      value.size(), " bytes");
  }
  if (handle.offset_bytes < previous_end_) {
    return file_.Damaged(
        handle, "embedded blob",
        fmt::format("expected at offset {} or later", previous_end_));
  }
  const Status status = file_.ReadBlock(handle, contents);
  if (status.ok()) {
    previous_end_ =
        handle.offset_bytes + handle.size_bytes + kBlockTrailerBytes;
  }
  return status;
}

Status ForEachRangeDeletion(
    const SstFile& file, const std::function<void(const RangeDeletion&)>& use) {
  const auto found = file.meta_blocks().find(kRangeDeletionBlock);
  if (found == file.meta_blocks().end()) return Status::OK();
  const BlockHandle& handle = found->second;
  constexpr std::string_view kWhat = "block of range deletions";
  std::string contents;
  const Status status = file.ReadBlock(handle, &contents);
  if (!status.ok()) return status;
  // RocksDB shares no bytes of the keys of this block.
  EntryCursor entries(contents, ValueForm::kSized, /*keeps_keys=*/true);
  while (entries.Next()) {
    InternalKey start;
    if (!ParseInternalKey(entries.key(), &start)) {
      return file.Damaged(
          handle, kWhat,
          fmt::format("key of {} bytes, expected at least {}",
                      entries.key().size(), kInternalKeySuffixBytes));
    }
    if (start.type != EntryType::kRangeDeletion) {
      return file.Damaged(handle, kWhat,
                          fmt::format("{} expected, found {}",
                                      ToString(EntryType::kRangeDeletion),
                                      ToString(start.type)));
    }
    const uint64_t sequence =
        file.global_sequence() != 0 ? file.global_sequence() : start.sequence;
    use({start.user_key, entries.value(), sequence});
  }
  if (entries.status().ok()) return Status::OK();
  return file.Damaged(handle, kWhat, entries.status().getState());
}

}  // namespace rowbloom::sst
