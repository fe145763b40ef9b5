#include "storage/store/family_cells.h"

#include <algorithm>

#include "storage/store/cell_reader.h"
#include "storage/store/no_exceptions.h"
#include "storage/store/snapshot.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

ChangeType TypeOf(EntryType type) {
  switch (type) {
    case EntryType::kDeleteVersion:
      return ChangeType::kDeleteVersion;
    case EntryType::kDeleteColumn:
      return ChangeType::kDelete;
    case EntryType::kDeleteFamily:
      return ChangeType::kDeleteFamily;
    default:
      return ChangeType::kPut;
  }
}

// The deletes that no newer one makes needless.
void AddDeletes(const Entries& entries, Entries* deletes) {
  bool column_deleted = false;
  for (const Entry& entry : entries) {
    if (entry.type == EntryType::kPut) continue;
    if (entry.type == EntryType::kDeleteFamily) {
      deletes->push_back(entry);
      return;  // takes all that follow
    }
    if (column_deleted) continue;
    column_deleted = entry.type == EntryType::kDeleteColumn;
    deletes->push_back(entry);
  }
}

}  // namespace

Status FamilyCells::Open(const CellIteratorOptions& options) {
  families_ = opened_.families->Get();
  Status s = opened_.FindFamily(*families_, options.family, &family_);
  if (!s.ok()) return s;
  deletes_ = options.deletes;
  now_ms_ = opened_.shared->clock.Now();
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  read_options.fill_cache = false;
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  it_.reset(
      opened_.database->NewIterator(read_options, family_->second.handle()));
  it_->SeekToFirst();
  return FindShown();
}

void FamilyCells::Next() {
  if (++at_ < shown_.size()) {
    SetCell();
    return;
  }
  status_ = CatchExceptions([this] {
    it_->Next();
    return FindShown();
  });
  // Some of a key may have been read.
  if (!status_.ok()) shown_.clear();
}

Status FamilyCells::FindShown() {
  shown_.clear();
  at_ = 0;
  for (; it_->Valid(); it_->Next()) {
    if (Status s = ReadKey(); !s.ok()) return s;
    if (shown_.empty()) continue;
    SetCell();
    break;
  }
  return it_->status();
}

Status FamilyCells::ReadKey() {
  const std::string_view key = it_->key().ToStringView();
  std::string_view row_bytes;
  Status s = opened_.FindRow(key, &row_bytes);
  if (s.ok() && row_bytes != row_bytes_) {
    row_bytes_ = row_bytes;
    family_delete_ms_.reset();
    s = opened_.DecodeRow(row_bytes_, &row_);
  }
  if (!s.ok()) return s;
  qualifier_ = key.substr(row_bytes_.size());
  const StoredCell stored{
      row_, family_, qualifier_, it_->value().ToStringView(), {}};
  s = ReadEntries(stored, &shown_);
  if (!s.ok()) return s;
  // The row's deletes come before its other cells.
  if (qualifier_.empty()) family_delete_ms_ = FamilyDelete(shown_);
  Select();
  return s;
}

void FamilyCells::Select() {
  const VersionRules& rules = family_->second.rules;
  RemoveDead(rules, now_ms_, family_delete_ms_, &shown_);
  Entries selected;
  if (deletes_) AddDeletes(shown_, &selected);
  const auto deletes = static_cast<std::ptrdiff_t>(selected.size());
  ForEachVisible(shown_, family_delete_ms_, rules, now_ms_,
                 [&](const Entry& entry) {
                   selected.push_back(entry);
                   return true;
                 });
  std::inplace_merge(selected.begin(), selected.begin() + deletes,
                     selected.end(), ComesBefore);
  shown_ = std::move(selected);
}

void FamilyCells::SetCell() {
  const Entry& entry = shown_[at_];
  cell_ = {row_, qualifier_, TypeOf(entry.type), entry.timestamp_ms,
           entry.value};
}

}  // namespace rowbloom
