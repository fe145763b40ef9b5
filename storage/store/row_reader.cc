#include "storage/store/row_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "storage/store/point_cells.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Status RowPlan::Make(const OpenedStore& opened, const RowOptions& options,
                     std::optional<StoreSnapshot>* own, RowPlan* plan) {
  plan->options_ = options;
  Status s = plan->SetRest(opened);
  if (!s.ok() || options.snapshot != nullptr || plan->families_.size() < 2) {
    return s;
  }
  plan->options_.snapshot = &own->emplace(opened);
  return plan->SetRest(opened);
}

Status RowPlan::SetRest(const OpenedStore& opened) {
  const RowOptions& options = options_;
  Status s = CheckVersions(options.max_versions, options.time_range);
  if (s.ok()) s = options.filter.status();
  if (s.ok()) s = FamiliesAt(opened, options.snapshot, &store_families_);
  if (!s.ok()) return s;
  first_ = std::max(options.qualifier_prefix, options.qualifier_start);
  end_ = PrefixEnd(options.qualifier_prefix);
  if (end_.empty() ||
      (!options.qualifier_stop.empty() && options.qualifier_stop < end_)) {
    end_ = options.qualifier_stop;
  }
  const FamilyMap& all = *store_families_;
  families_.clear();
  if (options.columns.empty()) {
    for (auto it = all.begin(); it != all.end(); ++it) {
      families_.push_back({it, {}});
    }
  }
  // The qualifiers of each family; nullopt: all of them.
  std::map<std::string_view, std::optional<std::set<std::string>>> chosen;
  for (const Column& column : options.columns) {
    FamilyMap::const_iterator family;
    s = opened.FindFamily(all, column.family, &family);
    if (s.ok() && column.qualifier) s = CheckQualifier(*column.qualifier);
    if (!s.ok()) return s;
    auto& qualifiers =
        chosen.try_emplace(family->first, std::in_place).first->second;
    if (!column.qualifier) {
      qualifiers.reset();
    } else if (qualifiers && Chooses(*column.qualifier)) {
      qualifiers->insert(*column.qualifier);
    }
  }
  for (const auto& [name, qualifiers] : chosen) {
    if (qualifiers && qualifiers->empty()) continue;
    families_.push_back({all.find(name), {}});
    if (!qualifiers) continue;
    families_.back().qualifiers = {qualifiers->begin(), qualifiers->end()};
  }
  if (options.columns_from_end) {
    for (FamilyPart& part : families_) std::ranges::reverse(part.qualifiers);
    std::ranges::reverse(families_);
  }
  return s;
}

namespace {

// Adds what a cell shows.
Status Show(const StoredCell& cell, const VersionQuery& query,
            ColumnPage* page) {
  Status s = ForEachVersion(
      cell, query, [&](uint64_t timestamp_ms, std::string_view value) {
        page->Add(cell.family->first, cell.qualifier, timestamp_ms, value);
      });
  page->EndColumn();
  return s;
}

// The query of a read, which is made once, when RowPlan::Query may be called.
class LateQuery {
 public:
  LateQuery(const RowPlan& plan, const SharedState& shared)
      : plan_(plan), shared_(shared) {}

  const VersionQuery& Get() {
    if (!query_) query_ = plan_.Query(shared_);
    return *query_;
  }

 private:
  const RowPlan& plan_;
  const SharedState& shared_;
  std::optional<VersionQuery> query_;
};

// The chosen columns of a row.
Status ReadColumns(const OpenedStore& opened, const RowPlan& plan,
                   const Snapshot* snapshot, std::string_view row,
                   LateQuery* query, ColumnPage* page) {
  PointCells found(opened, *plan.store_families(), snapshot);
  Status s;
  for (const RowPlan::FamilyPart& part : plan.families()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (s.ok()) s = found.Add(row, part.family->first, qualifier);
    }
  }
  if (s.ok()) s = found.Read();
  while (s.ok() && found.Valid() && !page->IsFull()) {
    s = Show(found.cell(), query->Get(), page);
    if (s.ok()) s = found.Next();
  }
  return s;
}

// The cells of a family of a row, by an iterator.
Status ReadFamily(const OpenedStore& opened, const RowPlan& plan,
                  const RowPlan::FamilyPart& part,
                  const rocksdb::Snapshot* snapshot, std::string_view row,
                  const std::string& row_bytes, LateQuery* query,
                  ColumnPage* page) {
  const TimeRange& range = plan.options().time_range;
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  RowCells of_row(opened, part.family, options, row_bytes, range);
  Status s = of_row.Enter(row, row_bytes);
  if (!s.ok()) return s;
  if (!plan.options().columns_from_end) {
    return ReadPart(plan, part, query->Get(), &of_row, page);
  }
  if (of_row.Find() == nullptr) return of_row.status();
  // The iterator of `of_row` skips files by their ROW section, and cannot go
  // back.
  const std::string end = RowEnd(row_bytes, kMaxQualifierBytes);
  const Slice lower(row_bytes);
  const Slice upper(end);
  options.total_order_seek = true;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  RowCells backwards(opened, part.family, options, range);
  backwards.it()->SeekToFirst();
  s = backwards.Enter(row, row_bytes);
  return s.ok() ? ReadPart(plan, part, query->Get(), &backwards, page) : s;
}

}  // namespace

void ColumnPage::Reverse() {
  std::ranges::reverse(*cells_);
  // The versions of a column are newest first.
  for (auto begin = cells_->begin(); begin != cells_->end();) {
    const auto end = std::find_if(begin, cells_->end(), [&](const Cell& cell) {
      return cell.qualifier != begin->qualifier || cell.family != begin->family;
    });
    std::reverse(begin, end);
    begin = end;
  }
}

Status ReadPart(const RowPlan& plan, const RowPlan::FamilyPart& part,
                const VersionQuery& query, RowCells* row, ColumnPage* page) {
  const bool from_end = plan.options().columns_from_end;
  if (!part.qualifiers.empty()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (page->IsFull()) break;
      from_end ? row->SeekBefore(qualifier + '\0') : row->Seek(qualifier);
      const StoredCell* const cell = row->Find();
      if (cell == nullptr || cell->qualifier != qualifier) continue;
      Status s = Show(*cell, query, page);
      if (!s.ok()) return s;
    }
    return row->status();
  }
  // The bound that this direction of the walk meets; empty: none.
  const std::string& bound = from_end ? plan.first() : plan.end();
  if (from_end) {
    row->SeekBefore(plan.end());
  } else if (!plan.first().empty()) {
    row->Seek(plan.first());
  }
  while (!page->IsFull()) {
    const StoredCell* const cell = row->Find();
    if (cell == nullptr) break;
    if (!bound.empty() && !plan.Chooses(cell->qualifier)) break;
    Status s = Show(*cell, query, page);
    if (!s.ok()) return s;
    from_end ? row->Prev() : row->Next();
  }
  return row->status();
}

Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
               std::string_view row, std::vector<Cell>* cells) {
  std::string row_bytes;
  if (Status s = opened.EncodeRow(row, &row_bytes); !s.ok()) return s;
  const RowOptions& options = plan.options();
  LateQuery query(plan, *opened.shared);
  std::optional<FilterRun> filter;
  if (options.filter.root() != nullptr) filter.emplace(options.filter);
  const bool looks_first = filter && filter->LooksFirst();
  const bool columns_only = std::ranges::none_of(
      plan.families(),
      [](const auto& qualifiers) { return qualifiers.empty(); },
      &RowPlan::FamilyPart::qualifiers);
  const Snapshot* snapshot = options.snapshot;
  // One iterator of a family, and one lookup of all columns of a family, see a
  // single state by themselves.
  std::optional<StoreSnapshot> own;
  if (snapshot == nullptr &&
      (looks_first || (!columns_only && options.columns_from_end))) {
    snapshot = &own.emplace(opened);
  }
  const auto read = [&] {
    ColumnPage page(options, filter ? &*filter : nullptr, cells);
    if (columns_only) {
      return ReadColumns(opened, plan, snapshot, row, &query, &page);
    }
    Status s;
    for (const RowPlan::FamilyPart& part : plan.families()) {
      if (!s.ok() || page.IsFull()) break;
      s = ReadFamily(opened, plan, part, RocksdbSnapshot(snapshot), row,
                     row_bytes, &query, &page);
    }
    return s;
  };
  if (filter) filter->BeginRow(row);
  if (!looks_first) return read();
  Status s = read();
  filter->StartKeeping();
  return s.ok() ? read() : s;
}

}  // namespace rowbloom
