#include "tools/sst/index_cursor.h"

#include <utility>

#include "storage/format/status_text.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;

// `top` is true for the index of partitions. Its entries have no first keys.
ValueForm FormOf(const IndexLocation& index, bool top) {
  if (!index.delta_encoded) return ValueForm::kSized;
  return index.form == IndexForm::kFirstKey && !top
             ? ValueForm::kHandleAndFirstKey
             : ValueForm::kHandle;
}

}  // namespace

IndexCursor::IndexCursor(const SstFile& file)
    : file_(file), top_(file), leaf_(file) {}

void IndexCursor::SkipTo(std::string_view user_key) {
  if (file_.key_order() != KeyOrder::kUnknown) from_ = std::string(user_key);
}

bool IndexCursor::Fail(Status status) {
  status_ = std::move(status);
  leaf_.entries.reset();
  return false;
}

bool IndexCursor::Open() {
  opened_ = true;
  const IndexLocation& index = file_.index();
  if (!index.handle) {
    return Fail(Corruption(file_.path(),
                           ": no index block, expected one in the metaindex"));
  }
  return OpenBlock(*index.handle,
                   index.form == IndexForm::kTwoLevel ? &top_ : &leaf_);
}

bool IndexCursor::OpenBlock(const BlockHandle& block, Level* level) {
  level->block = block;
  std::string_view contents;
  Status status = level->reader.ReadMeta(block, &contents);
  if (!status.ok()) return Fail(std::move(status));
  level->entries.emplace(contents, FormOf(file_.index(), level == &top_));
  return true;
}

// Tells whether all keys of a block with this index key are before `from_`.
bool IndexCursor::ComesBefore(std::string_view user_key) const {
  if (!from_) return false;
  const size_t timestamp = file_.timestamp_bytes();
  if (user_key.size() >= timestamp) user_key.remove_suffix(timestamp);
  return CompareUserKeys(file_.key_order(), 0, user_key, *from_) < 0;
}

// Moves to the next entry of a block of the index, and parses it.
bool IndexCursor::NextEntry(Level* level) {
  EntryCursor& entries = *level->entries;
  if (!entries.Next()) {
    if (entries.status().ok()) return false;
    return Fail(
        file_.Damaged(level->block, "index", entries.status().getState()));
  }
  IndexEntry entry;
  Status status = file_.TakeIndexEntry(entries, level->block, "index",
                                       &level->previous_end, &entry);
  if (!status.ok()) return Fail(std::move(status));
  entry_ = entry;
  return true;
}

bool IndexCursor::OpenNextPartition() {
  leaf_.entries.reset();
  if (!top_.entries) return false;
  do {
    if (!NextEntry(&top_)) {
      if (!status_.ok()) top_.entries.reset();
      return false;
    }
    ++partition_;
  } while (ComesBefore(entry_.user_key));
  return OpenBlock(entry_.handle, &leaf_);
}

bool IndexCursor::Next() {
  if (!opened_) Open();
  while (status_.ok()) {
    if (!leaf_.entries && !OpenNextPartition()) return false;
    // The blocks are written in order of their keys, then their index.
    while (NextEntry(&leaf_)) {
      if (!ComesBefore(entry_.user_key)) {
        from_.reset();
        return true;
      }
    }
    if (status_.ok() && !top_.entries) return false;
    leaf_.entries.reset();
  }
  return false;
}

bool IndexCursor::SkipDamagedPartition() {
  if (status_.ok() || !top_.entries) return false;
  status_ = Status::OK();
  return true;
}

}  // namespace rowbloom::sst
