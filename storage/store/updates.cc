// Writes that depend on what is there: between the read and the write no other
// write of the row comes in.
#include <optional>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/point_cells.h"
#include "storage/store/row_cells.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Status;

namespace {

constexpr size_t kCounterBytes = 8;

std::string EncodeCounter(int64_t counter) {
  std::string bytes;
  PutBig<uint64_t>(&bytes, static_cast<uint64_t>(counter));
  return bytes;
}

bool DecodeCounter(std::string_view bytes, int64_t* counter) {
  if (bytes.size() != kCounterBytes) return false;
  *counter = static_cast<int64_t>(LoadBig<uint64_t>(bytes.data()));
  return true;
}

// InvalidArgument: the put would not be the cell's newest version.
Status CheckNewest(const OpenedStore& opened, const Change& put,
                   uint64_t timestamp_ms) {
  const SharedFamilies families = opened.families->Get();
  FamilyMap::const_iterator family;
  std::string row_bytes;
  Status s = opened.FindFamily(*families, put.family, &family);
  if (s.ok()) s = CheckPut(family, put.qualifier, put.value, timestamp_ms);
  if (s.ok()) s = opened.EncodeRow(put.row, &row_bytes);
  if (!s.ok()) return s;
  RowCells cells(opened, family, /*snapshot=*/nullptr, row_bytes);
  s = cells.Enter(put.row, row_bytes);
  cells.Seek(put.qualifier);
  if (s.ok()) s = cells.status();
  Entries before;
  if (s.ok() && cells.Valid() && cells.qualifier() == put.qualifier) {
    s = ReadEntries(cells.cell(), &before);
  }
  if (!s.ok()) return s;
  const VersionRules& rules = family->second.rules;
  const Entries after = ApplyOperand(
      before, {{ChangeType::kPut, timestamp_ms, put.value}}, rules);
  bool newest = false;
  ForEachVisible(after, cells.row_deletes(), rules,
                 opened.shared->clock.WallNow(), [&](const Entry& entry) {
                   newest = entry.timestamp_ms == timestamp_ms;
                   return false;
                 });
  if (newest) return s;
  return InvalidArgument(
      Describe(put.row, put.family, put.qualifier), "a version at ",
      timestamp_ms,
      " would not be the newest: a newer one or a delete hides it, or it has "
      "expired");
}

// Puts what next(newest value, &value) makes of the newest value of the cell of
// `put`, nullopt meaning that there is none.
template <typename Next>
Status Update(Store::Impl* store, Change put, Next next,
              const WriteOptions& options) {
  return store->Change([&]() -> Status {
    const OpenedStore& opened = store->opened;
    const RowLocks::Guard guard = store->writer.Lock({&put, 1});
    std::optional<std::string> newest;
    std::optional<uint64_t> newest_ms;
    Status s = ReadCell(opened, put.row, put.family, put.qualifier, {}, 1,
                        [&](uint64_t timestamp_ms, std::string_view value) {
                          newest_ms = timestamp_ms;
                          newest = value;
                        });
    std::string value;
    if (s.ok()) s = next(newest, &value);
    put.value = value;
    if (s.ok() && options.timestamp_ms) {
      s = CheckNewest(opened, put, *options.timestamp_ms);
    }
    if (!s.ok()) return s;
    return store->writer.Apply(guard, {&put, 1}, options, newest_ms);
  });
}

}  // namespace

Status Store::CheckAndWrite(const CellAddress& at,
                            std::optional<std::string_view> expected,
                            const WriteBatch& changes, bool* applied,
                            const WriteOptions& options) {
  return CatchExceptions([&] {
    return CheckAndWrite(
        {ChangeType::kPut, at.row, at.family, at.qualifier, {}}, expected,
        changes.Changes(), applied, options);
  });
}

Status Store::CheckAndWrite(const Change& at,
                            std::optional<std::string_view> expected,
                            std::span<const Change> changes, bool* applied,
                            const WriteOptions& options) {
  *applied = false;
  return impl_->Change([&]() -> Status {
    for (const Change& change : changes) {
      if (change.row == at.row) continue;
      return InvalidArgument("a change of row \"", ToPrintable(change.row),
                             "\" after a look at row \"", ToPrintable(at.row),
                             "\"");
    }
    const RowLocks::Guard guard = impl_->writer.Lock({&at, 1});
    std::string found;
    Status s = Get(at.row, at.family, at.qualifier, &found);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (s.ok() ? expected != found : expected.has_value()) return Status::OK();
    s = impl_->writer.Apply(guard, changes, options);
    *applied = s.ok();
    return s;
  });
}

Status Store::Increment(std::string_view row, std::string_view family,
                        std::string_view qualifier, int64_t delta, int64_t* sum,
                        const WriteOptions& options) {
  const auto add = [&](std::optional<std::string_view> found,
                       std::string* value) -> Status {
    int64_t counter = 0;
    int64_t result = 0;
    if (found && !DecodeCounter(*found, &counter)) {
      return InvalidArgument("a counter of ", found->size(),
                             " bytes: expected ", kCounterBytes);
    }
    if (__builtin_add_overflow(counter, delta, &result)) {
      return InvalidArgument("a counter of ", counter, " plus ", delta,
                             " does not fit into 8 bytes");
    }
    *value = EncodeCounter(result);
    if (sum != nullptr) *sum = result;
    return Status::OK();
  };
  return Update(impl_.get(),
                {.row = row, .family = family, .qualifier = qualifier}, add,
                options);
}

Status Store::Append(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view suffix,
                     std::string* joined, const WriteOptions& options) {
  const auto append = [&](std::optional<std::string_view> found,
                          std::string* value) {
    value->assign(found.value_or(""));
    value->append(suffix);
    if (joined != nullptr) *joined = *value;
    return Status::OK();
  };
  return Update(impl_.get(),
                {.row = row, .family = family, .qualifier = qualifier}, append,
                options);
}

}  // namespace rowbloom
