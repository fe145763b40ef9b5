#include "storage/store/row_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "storage/store/point_cells.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Status RowPlan::Make(const OpenedStore& opened, const RowOptions& options,
                     RowPlan* plan) {
  Status s = CheckVersions(options.max_versions, options.time_range);
  if (s.ok()) s = CheckQualifier(options.qualifier_prefix);
  if (!s.ok()) return s;
  plan->options_ = options;
  plan->families_.clear();
  plan->expires_ = false;
  const auto add = [plan](FamilyPart part) {
    plan->expires_ |= part.family->second.rules.ttl_ms != 0;
    plan->families_.push_back(std::move(part));
  };
  plan->store_families_ = opened.families->Get();
  const FamilyMap& all = *plan->store_families_;
  if (options.columns.empty()) {
    for (auto it = all.begin(); it != all.end(); ++it) {
      add({it, {}});
    }
    return s;
  }
  struct Wanted {
    FamilyMap::const_iterator family;
    bool whole = false;
    std::set<std::string> qualifiers;
  };
  std::map<std::string_view, Wanted> families;
  for (const Column& column : options.columns) {
    FamilyMap::const_iterator family;
    s = opened.FindFamily(all, column.family, &family);
    if (s.ok() && column.qualifier) s = CheckQualifier(*column.qualifier);
    if (!s.ok()) return s;
    Wanted& wanted = families[family->first];
    wanted.family = family;
    if (!column.qualifier) {
      wanted.whole = true;
    } else {
      wanted.qualifiers.insert(*column.qualifier);
    }
  }
  for (auto& [name, wanted] : families) {
    FamilyPart part{wanted.family, {}};
    if (!wanted.whole) {
      for (const std::string& qualifier : wanted.qualifiers) {
        if (qualifier.starts_with(options.qualifier_prefix)) {
          part.qualifiers.push_back(qualifier);
        }
      }
      if (part.qualifiers.empty()) continue;
    }
    add(std::move(part));
  }
  return s;
}

bool RowPlan::HasColumnsOnly() const {
  return std::none_of(
      families_.begin(), families_.end(),
      [](const FamilyPart& part) { return part.qualifiers.empty(); });
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

// The chosen columns of a row.
Status ReadColumns(const OpenedStore& opened, const RowPlan& plan,
                   std::string_view row, const VersionQuery& query,
                   ColumnPage* page) {
  PointCells found(opened, *plan.store_families(), plan.options().snapshot);
  Status s;
  for (const RowPlan::FamilyPart& part : plan.families()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (s.ok()) s = found.Add(row, part.family->first, qualifier);
    }
  }
  if (s.ok()) s = found.Read();
  while (s.ok() && found.Valid() && !page->IsFull()) {
    s = Show(found.cell(), query, page);
    if (s.ok()) s = found.Next();
  }
  return s;
}

}  // namespace

Status ReadPart(const RowPlan& plan, const RowPlan::FamilyPart& part,
                uint64_t wall_ms, RowCells* row, ColumnPage* page) {
  const RowOptions& options = plan.options();
  const VersionQuery query{options.time_range, options.max_versions, wall_ms};
  if (!part.qualifiers.empty()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (page->IsFull()) break;
      row->Seek(qualifier);
      if (!row->Valid() || row->qualifier() != qualifier) continue;
      Status s = Show(row->cell(), query, page);
      if (!s.ok()) return s;
    }
    return row->status();
  }
  const std::string& prefix = options.qualifier_prefix;
  if (!prefix.empty()) row->Seek(prefix);
  for (; row->Valid() && !page->IsFull(); row->Next()) {
    if (!row->qualifier().starts_with(prefix)) break;
    Status s = Show(row->cell(), query, page);
    if (!s.ok()) return s;
  }
  return row->status();
}

Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
               std::string_view row, std::vector<Cell>* cells) {
  std::string row_bytes;
  if (Status s = opened.EncodeRow(row, &row_bytes); !s.ok()) return s;
  const RowOptions& options = plan.options();
  ColumnPage page(options, cells);
  const uint64_t wall_ms = plan.WallMs(*opened.shared);
  if (plan.HasColumnsOnly()) {
    return ReadColumns(opened, plan, row,
                       {options.time_range, options.max_versions, wall_ms},
                       &page);
  }
  rocksdb::ReadOptions read_options = RowReads();
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  // One iterator is of one moment by itself.
  std::optional<CountedSnapshot> moment;
  if (read_options.snapshot == nullptr && plan.families().size() > 1) {
    read_options.snapshot = moment.emplace(opened).get();
  }
  for (const RowPlan::FamilyPart& part : plan.families()) {
    if (page.IsFull()) break;
    RowCells of_row(opened, part.family, read_options);
    Status s = of_row.SeekRow(row, row_bytes);
    if (s.ok()) s = ReadPart(plan, part, wall_ms, &of_row, &page);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom
