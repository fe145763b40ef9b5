#include "tools/sst/data_cursor.h"

#include <fmt/format.h>

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

constexpr std::string_view kRangeDeletionBlock = "rocksdb.range_del";

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

Status ForEachRangeDeletion(
    const SstFile& file, const std::function<void(const RangeDeletion&)>& use) {
  const auto found = file.meta_blocks().find(kRangeDeletionBlock);
  if (found == file.meta_blocks().end()) return Status::OK();
  const BlockHandle& handle = found->second;
  constexpr std::string_view kWhat = "block of range deletions";
  std::string contents;
  const Status status = file.ReadBlock(handle, &contents);
  if (!status.ok()) return status;
  EntryCursor entries(contents, ValueForm::kSized);
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
