#include "storage/store/point_cells.h"

#include <string>

#include "storage/format/status_text.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Tells whether the thread's RowBuffer is gone. Its other thread_local objects,
// and the functions that exit() calls, may still read the store.
constinit thread_local bool row_buffer_is_gone = false;

struct RowBuffer {
  ~RowBuffer() { row_buffer_is_gone = true; }

  std::string bytes;
};

// Must not be called once the buffer is gone.
std::string& ThreadRowBytes() {
  thread_local RowBuffer kept;
  return kept.bytes;
}

}  // namespace

Status PointCells::Add(std::string_view row, std::string_view family,
                       std::string_view qualifier) {
  FamilyMap::const_iterator found;
  if (Status s = opened_.FindFamily(families_, family, &found); !s.ok()) {
    return s;
  }
  if (Status s = CheckQualifier(qualifier); !s.ok()) return s;
  std::string own;
  std::string& row_bytes = row_buffer_is_gone ? own : ThreadRowBytes();
  if (Status s = opened_.EncodeRow(row, &row_bytes); !s.ok()) return s;
  const size_t bytes = row_bytes.size() + qualifier.size();
  char* const key = static_cast<char*>(memory_.allocate(bytes, 1));
  row_bytes.copy(key, row_bytes.size());
  qualifier.copy(key + row_bytes.size(), qualifier.size());
  wanted_.push_back(
      {row, found, qualifier, Slice(key, bytes), row_bytes.size()});
  return Status::OK();
}

Status PointCells::Read() {
  if (wanted_.empty()) return Status::OK();
  if (wanted_.size() == 1) {
    ReadOne();
  } else {
    ReadAll();
  }
  return FindCell();
}

void PointCells::ReadOne() {
  Wanted& wanted = wanted_.front();
  rocksdb::ColumnFamilyHandle* const family = wanted.family->second.handle();
  rocksdb::ReadOptions options;
  options.snapshot = RocksdbSnapshot(snapshot_);
  one_status_ = opened_.database->Get(options, family, wanted.key, &one_value_);
  // MayHave is called after the read, as the first delete of a row is announced
  // before it is written.
  if (!one_status_.ok() || !IsVersioned(wanted) ||
      !opened_.shared->MayHave(kRowDeletes)) {
    return;
  }
  if (wanted.qualifier.empty()) {
    wanted.row_value = 0;
    return;
  }
  // Deletes of a row stay as long as there is a cell that they take. So a row
  // without deletes now had none when the cell was read, unless a kRemoveFamily
  // removed both, or a compaction did under a shorter TTL than that of
  // families_. Otherwise both are read again, as of one state.
  rocksdb::PinnableSlice of_row;
  const Status found =
      opened_.database->Get(options, family, RowKey(wanted), &of_row);
  if (!found.IsNotFound() || opened_.shared->MayHave(kLaterPuts) ||
      !opened_.families->IsPresent(families_)) {
    ReadAll();
  }
}

void PointCells::ReadAll() {
  const bool had_row_deletes = opened_.shared->MayHave(kRowDeletes);
  std::pmr::vector<rocksdb::ColumnFamilyHandle*> families(&memory_);
  std::pmr::vector<Slice> keys(&memory_);
  families.reserve(wanted_.size() + 1);
  keys.reserve(wanted_.size() + 1);
  const Wanted* before = nullptr;
  bool one_family = true;
  for (Wanted& wanted : wanted_) {
    rocksdb::ColumnFamilyHandle* const family = wanted.family->second.handle();
    const auto look_up = [&](const Slice& key) {
      families.push_back(family);
      keys.push_back(key);
      return keys.size() - 1;
    };
    const bool has_deletes = had_row_deletes && IsVersioned(wanted);
    if (has_deletes) {
      const bool same_row = before != nullptr &&
                            before->family == wanted.family &&
                            RowKey(*before) == RowKey(wanted);
      wanted.row_value = same_row ? before->row_value : look_up(RowKey(wanted));
    }
    wanted.value = has_deletes && wanted.qualifier.empty()
                       ? *wanted.row_value
                       : look_up(wanted.key);
    one_family = one_family && family == families.front();
    before = &wanted;
  }
  rocksdb::ReadOptions options;
  options.snapshot = RocksdbSnapshot(snapshot_);
  const size_t count = keys.size();
  many_values_.clear();
  many_values_.resize(count);
  many_statuses_.resize(count);
  values_ = many_values_;
  statuses_ = many_statuses_;
  if (one_family) {
    opened_.database->MultiGet(options, families.front(), count, keys.data(),
                               values_.data(), statuses_.data());
  } else {
    opened_.database->MultiGet(options, count, families.data(), keys.data(),
                               values_.data(), statuses_.data());
  }
  // The first delete of a row was announced meanwhile: the cells may be older.
  if (opened_.shared->MayHave(kRowDeletes) != had_row_deletes) ReadAll();
}

Status PointCells::FindCell() {
  for (; at_ < wanted_.size(); ++at_) {
    const Wanted& wanted = wanted_[at_];
    const Status& found = statuses_[wanted.value];
    if (found.IsNotFound()) continue;
    if (!found.ok()) return Failed(wanted, found);
    cell_ = {wanted.row, wanted.family, wanted.qualifier,
             values_[wanted.value].ToStringView(), &row_deletes_};
    if (!wanted.row_value || deletes_of_ == wanted.row_value) {
      return Status::OK();
    }
    deletes_of_ = wanted.row_value;
    row_deletes_.clear();
    const Status& of_row = statuses_[*wanted.row_value];
    if (of_row.IsNotFound()) return Status::OK();
    if (!of_row.ok()) return Failed(wanted, of_row);
    return ReadRowDeletes({wanted.row,
                           wanted.family,
                           {},
                           values_[*wanted.row_value].ToStringView()},
                          &row_deletes_);
  }
  return Status::OK();
}

Status PointCells::Failed(const Wanted& wanted, const Status& status) const {
  return Prefixed(Describe(wanted.row, wanted.family->first, wanted.qualifier),
                  status);
}

}  // namespace rowbloom
