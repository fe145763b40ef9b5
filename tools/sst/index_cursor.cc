#include "tools/sst/index_cursor.h"

#include <utility>

#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

// `top`: of the index of partitions, whose entries never have first keys.
ValueForm FormOf(const IndexLocation& index, bool top) {
  if (!index.delta_encoded) return ValueForm::kSized;
  return index.form == IndexForm::kFirstKey && !top
             ? ValueForm::kHandleAndFirstKey
             : ValueForm::kHandle;
}

}  // namespace

IndexCursor::IndexCursor(const SstFile& file)
    : file_(file), top_reader_(file), leaf_reader_(file) {}

void IndexCursor::SkipTo(std::string_view user_key) {
  if (file_.key_order() != KeyOrder::kUnknown) from_ = std::string(user_key);
}

bool IndexCursor::Fail(Status status) {
  status_ = std::move(status);
  leaf_.reset();
  return false;
}

void IndexCursor::Open() {
  opened_ = true;
  const IndexLocation& index = file_.index();
  if (!index.handle) {
    Fail(Corruption(file_.path(),
                    ": no index block, expected one in the metaindex"));
    return;
  }
  const bool two_levels = index.form == IndexForm::kTwoLevel;
  BlockReader& reader = two_levels ? top_reader_ : leaf_reader_;
  std::string_view contents;
  Status status = reader.ReadIndex(*index.handle, &contents);
  if (!status.ok()) {
    Fail(std::move(status));
    return;
  }
  if (two_levels) {
    top_block_ = *index.handle;
    top_.emplace(contents, FormOf(index, true));
  } else {
    leaf_block_ = *index.handle;
    leaf_.emplace(contents, FormOf(index, false));
  }
}

// Tells whether all keys of a block with this index key come before those
// wanted.
bool IndexCursor::ComesBefore(std::string_view user_key) const {
  if (!from_) return false;
  const size_t timestamp = file_.timestamp_bytes();
  if (user_key.size() >= timestamp) user_key.remove_suffix(timestamp);
  return CompareUserKeys(file_.key_order(), 0, user_key, *from_) < 0;
}

// Moves to the next entry of a block of the index, and takes it apart.
bool IndexCursor::NextEntry(EntryCursor* entries, const BlockHandle& block,
                            uint64_t* previous_end) {
  if (!entries->Next()) {
    if (entries->status().ok()) return false;
    return Fail(file_.Damaged(block, "index", entries->status().getState()));
  }
  IndexEntry entry;
  Status status =
      file_.TakeIndexEntry(*entries, block, "index", previous_end, &entry);
  if (!status.ok()) return Fail(std::move(status));
  handle_ = entry.handle;
  user_key_ = entry.user_key;
  first_key_ = entry.first_key;
  return true;
}

bool IndexCursor::OpenNextPartition() {
  leaf_.reset();
  if (!top_) return false;
  do {
    if (!NextEntry(&*top_, top_block_, &partitions_end_)) {
      if (!status_.ok()) top_.reset();
      return false;
    }
    ++partition_;
  } while (ComesBefore(user_key_));
  leaf_block_ = handle_;
  std::string_view contents;
  Status status = leaf_reader_.ReadIndex(leaf_block_, &contents);
  if (!status.ok()) return Fail(std::move(status));
  leaf_.emplace(contents, FormOf(file_.index(), false));
  return true;
}

bool IndexCursor::Next() {
  if (!opened_) Open();
  while (status_.ok()) {
    if (!leaf_ && !OpenNextPartition()) return false;
    // The blocks are written in order of their keys, then their index.
    while (NextEntry(&*leaf_, leaf_block_, &data_end_)) {
      if (!ComesBefore(user_key_)) {
        from_.reset();
        return true;
      }
    }
    if (status_.ok() && !top_) {
      return false;
    }
    leaf_.reset();
  }
  return false;
}

bool IndexCursor::SkipDamagedPartition() {
  if (status_.ok() || !top_) return false;
  status_ = Status::OK();
  return true;
}

}  // namespace rowbloom::sst
