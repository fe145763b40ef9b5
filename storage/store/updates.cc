// Writes that depend on the present cells of a row. No other write of the row
// gets between the read and the write.
#include <algorithm>
#include <vector>

#include "rowbloom/printable.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/point_cells.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Status;

namespace {

using Comparison = Condition::Comparison;

// Tells whether a row, which is locked, meets all conditions.
Status Check(const OpenedStore& opened, std::string_view row,
             std::span<const Condition> conditions, bool* met) {
  const SharedFamilies families = opened.families->Get();
  PointCells cells(opened, *families, /*snapshot=*/nullptr);
  std::vector<bool> meets;
  Status s;
  for (const Condition& condition : conditions) {
    if (s.ok() && condition.comparison > Comparison::kPresent) {
      s = InvalidArgument("a condition with the unknown comparison ",
                          static_cast<int>(condition.comparison));
    }
    if (s.ok()) s = CheckVersions(/*max_versions=*/1, condition.time_range);
    if (s.ok()) s = cells.Add(row, condition.family, condition.qualifier);
    meets.push_back(condition.comparison == Comparison::kAbsent);
  }
  if (s.ok()) s = cells.Read();
  const uint64_t wall_ms = opened.shared->clock.WallNow();
  while (s.ok() && cells.Valid()) {
    const size_t i = cells.index();
    const Condition& condition = conditions[i];
    s = ForEachVersion(cells.cell(), {condition.time_range, 1, wall_ms},
                       [&](uint64_t, std::string_view found) {
                         const int order = found.compare(condition.value);
                         const auto bit = order < 0    ? Comparison::kLess
                                          : order == 0 ? Comparison::kEqual
                                                       : Comparison::kGreater;
                         meets[i] = (static_cast<int>(condition.comparison) &
                                     static_cast<int>(bit)) != 0;
                       });
    if (s.ok()) s = cells.Next();
  }
  *met = std::find(meets.begin(), meets.end(), false) == meets.end();
  return s;
}

}  // namespace

Status Store::CheckAndWrite(std::string_view row,
                            std::span<const Condition> conditions,
                            const WriteBatch& changes, bool* applied,
                            const WriteOptions& options) {
  return CatchExceptions([&] {
    return CheckAndWrite(row, conditions, changes.Changes(), applied, options);
  });
}

Status Store::CheckAndWrite(std::string_view row,
                            std::span<const Condition> conditions,
                            std::span<const Change> changes, bool* applied,
                            const WriteOptions& options) {
  *applied = false;
  return impl_->Change([&]() -> Status {
    for (const Change& change : changes) {
      if (change.row == row) continue;
      return InvalidArgument("a change of row \"", ToPrintable(change.row),
                             "\" after a look at row \"", ToPrintable(row),
                             "\"");
    }
    const Change at{.row = row};
    const RowLocks::Guard guard = impl_->writer.locks.Lock({&at, 1});
    bool met = false;
    Status s = Check(impl_->opened, row, conditions, &met);
    if (!s.ok() || !met) return s;
    s = impl_->writer.Apply(guard, changes, options);
    *applied = s.ok();
    return s;
  });
}

Status Store::Increment(std::string_view row, std::string_view family,
                        std::string_view qualifier, int64_t delta, int64_t* sum,
                        const WriteOptions& options) {
  return impl_->Change([&]() -> Status {
    const std::string value = EncodeCounter(delta);
    const Change change{ChangeType::kIncrement, row, family, qualifier, value};
    std::string updated;
    const Status s = impl_->writer.Write({&change, 1}, options, &updated);
    if (s.ok() && sum != nullptr) DecodeCounter(updated, sum);
    return s;
  });
}

Status Store::Append(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view suffix,
                     std::string* joined, const WriteOptions& options) {
  return impl_->Change([&] {
    const Change change{ChangeType::kAppend, row, family, qualifier, suffix};
    return impl_->writer.Write({&change, 1}, options, joined);
  });
}

}  // namespace rowbloom
