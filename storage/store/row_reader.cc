#include "storage/store/row_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/store/point_cells.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Status RowPlan::Set(const RowOptions& options) {
  options_ = options;
  Status s = CheckVersions(options.max_versions, options.time_range);
  if (s.ok()) s = options.filter.status();
  if (!s.ok()) return s;
  if (options_.filter.root() != nullptr) filter_.emplace(options_.filter);
  first_ = std::max(options.qualifier_prefix, options.qualifier_start);
  end_ =
      EarlierEnd(PrefixEnd(options.qualifier_prefix), options.qualifier_stop);
  s = SetFamilies();
  const bool reads_once = families_.size() < 2 && !options.columns_from_end &&
                          !(filter_ && filter_->LooksFirst());
  if (!s.ok() || options.snapshot != nullptr || reads_once) return s;
  options_.snapshot = &own_snapshot_.emplace(opened_);
  return SetFamilies();
}

Status RowPlan::SetFamilies() {
  const RowOptions& options = options_;
  Status s = FamiliesAt(opened_, options.snapshot, &store_families_);
  if (!s.ok()) return s;
  const FamilyMap& all = *store_families_;
  families_.clear();
  struct Chosen {
    FamilyMap::const_iterator family;
    bool has_all = false;
    std::set<std::string> qualifiers;
  };
  std::map<std::string_view, Chosen> chosen;  // by family
  for (const auto& [name, qualifier] : options.columns) {
    FamilyMap::const_iterator family;
    s = opened_.FindFamily(all, name, &family);
    if (s.ok() && qualifier) s = CheckQualifier(*qualifier);
    if (!s.ok()) return s;
    Chosen& of_family = chosen[family->first];
    of_family.family = family;
    of_family.has_all = of_family.has_all || !qualifier;
    if (qualifier && Chooses(*qualifier)) {
      of_family.qualifiers.insert(*qualifier);
    }
  }
  for (auto& [name, of_family] : chosen) {
    auto& [family, has_all, qualifiers] = of_family;
    if (has_all) qualifiers.clear();
    if (!has_all && qualifiers.empty()) continue;
    families_.push_back({family, {qualifiers.begin(), qualifiers.end()}});
  }
  if (options.columns.empty()) {
    for (auto it = all.begin(); it != all.end(); ++it) {
      families_.push_back({it, {}});
    }
  }
  if (options.columns_from_end) {
    for (FamilyPart& part : families_) std::ranges::reverse(part.qualifiers);
    std::ranges::reverse(families_);
  }
  return s;
}

namespace {

// Adds the visible versions of a cell.
Status Show(const StoredCell& cell, const VersionQuery& query,
            ColumnPage* page) {
  Status s = ForEachVersion(
      cell, query, [&](uint64_t timestamp_ms, std::string_view value) {
        page->Add(cell.family->first, cell.qualifier, timestamp_ms, value);
      });
  page->EndColumn();
  return s;
}

// Reads the chosen columns of a row.
Status ReadColumns(RowPlan* plan, std::string_view row, ColumnPage* page) {
  PointCells found(plan->opened(), *plan->store_families(),
                   plan->options().snapshot);
  Status s;
  for (const RowPlan::FamilyPart& part : plan->families()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (s.ok()) s = found.Add(row, part.family->first, qualifier);
    }
  }
  if (s.ok()) s = found.Read();
  while (s.ok() && found.Valid() && !page->IsFull()) {
    s = Show(found.cell(), plan->Query(), page);
    if (s.ok()) s = found.Next();
  }
  return s;
}

// Reads the cells of a row whose qualifiers are in the plan's range.
Status ReadRange(RowPlan* plan, RowCells* row, ColumnPage* page) {
  const bool from_end = plan->options().columns_from_end;
  // The bound that this direction of the walk meets; empty: none.
  const std::string& bound = from_end ? plan->first() : plan->end();
  if (from_end) {
    row->SeekBefore(plan->end());
  } else if (!plan->first().empty()) {
    row->Seek(plan->first());
  }
  while (!page->IsFull()) {
    const StoredCell* const cell = row->Find();
    if (cell == nullptr) break;
    if (!bound.empty() && !plan->Chooses(cell->qualifier)) break;
    Status s = Show(*cell, plan->Query(), page);
    if (!s.ok()) return s;
    from_end ? row->Prev() : row->Next();
  }
  return row->status();
}

// Reads a row's cells of one family, by an iterator.
Status ReadFamily(RowPlan* plan, const RowPlan::FamilyPart& part,
                  std::string_view row, const std::string& row_bytes,
                  ColumnPage* page) {
  const TimeRange& range = plan->options().time_range;
  rocksdb::ReadOptions options;
  options.snapshot = RocksdbSnapshot(plan->options().snapshot);
  RowCells of_row(plan->opened(), part.family, options, row_bytes, range);
  Status s = of_row.Enter(row, row_bytes);
  if (!s.ok()) return s;
  if (!plan->options().columns_from_end) {
    return ReadPart(plan, part, &of_row, page);
  }
  if (of_row.Find() == nullptr) return of_row.status();
  // The iterator of `of_row` skips files by their ROW section, and cannot move
  // backwards.
  const std::string end = RowEnd(row_bytes, kMaxQualifierBytes);
  const Slice lower(row_bytes);
  const Slice upper(end);
  options.total_order_seek = true;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  RowCells backwards(plan->opened(), part.family, options, range);
  backwards.it()->SeekToFirst();
  s = backwards.Enter(row, row_bytes);
  return s.ok() ? ReadPart(plan, part, &backwards, page) : s;
}

}  // namespace

void ColumnPage::Free(std::string* of) { std::string().swap(*of); }

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

Status ReadPart(RowPlan* plan, const RowPlan::FamilyPart& part, RowCells* row,
                ColumnPage* page) {
  if (part.qualifiers.empty()) return ReadRange(plan, row, page);
  for (const std::string& qualifier : part.qualifiers) {
    if (page->IsFull()) break;
    plan->options().columns_from_end ? row->SeekBefore(qualifier + '\0')
                                     : row->Seek(qualifier);
    const StoredCell* const cell = row->Find();
    if (cell == nullptr || cell->qualifier != qualifier) continue;
    Status s = Show(*cell, plan->Query(), page);
    if (!s.ok()) return s;
  }
  return row->status();
}

Status ReadRow(RowPlan* plan, std::string_view row, std::vector<Cell>* cells) {
  std::string row_bytes;
  if (Status s = plan->opened().EncodeRow(row, &row_bytes); !s.ok()) return s;
  const bool columns_only = std::ranges::none_of(
      plan->families(),
      [](const auto& qualifiers) { return qualifiers.empty(); },
      &RowPlan::FamilyPart::qualifiers);
  const auto read = [&] {
    ColumnPage page(plan, cells);
    if (columns_only) return ReadColumns(plan, row, &page);
    Status s;
    for (const RowPlan::FamilyPart& part : plan->families()) {
      if (!s.ok() || page.IsFull()) break;
      s = ReadFamily(plan, part, row, row_bytes, &page);
    }
    return s;
  };
  FilterRun* const filter = plan->filter();
  if (filter != nullptr) filter->BeginRow(row);
  Status s = read();
  if (!s.ok() || filter == nullptr || !filter->LooksFirst()) return s;
  filter->StartKeeping();
  return read();
}

}  // namespace rowbloom
