#include "storage/store/row_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "storage/store/cell_reader.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

Status RowPlan::Make(const OpenedStore& opened, const RowOptions& options,
                     RowPlan* plan) {
  Status s = CheckReadOptions(options.max_versions, options.time_range);
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

void ColumnPage::Take(size_t first, CellList* cells) {
  if (cells->size() == first) return;
  if (skip_ > 0) {
    --skip_;
    cells->Shrink(first);
  } else if (left_ == 0) {
    cells->Shrink(first);
  } else {
    --left_;
  }
}

Status ReadFamilyOfRow(const RowPlan& plan, const RowPlan::FamilyPart& part,
                       std::string_view row, std::string_view row_bytes,
                       uint64_t now_ms, rocksdb::Iterator* it, ColumnPage* page,
                       CellList* cells) {
  const RowOptions& options = plan.options();
  StoredCell stored{row, part.family, {}, {}, {}};
  const auto in_row = [&] {
    return it->Valid() && it->key().starts_with(Slice(row_bytes));
  };
  const auto show = [&](std::string_view key) -> Status {
    stored.qualifier = key.substr(row_bytes.size());
    stored.value = it->value().ToStringView();
    const size_t first = cells->size();
    Status s = ShowCell(stored, now_ms, options.time_range,
                        options.max_versions, cells);
    if (s.ok()) page->Take(first, cells);
    return s;
  };
  const bool versioned = part.family->second.format == CellFormat::kVersioned;
  if (versioned && in_row() && it->key().size() == row_bytes.size()) {
    stored.value = it->value().ToStringView();
    Status s = ReadFamilyDelete(stored, &stored.family_delete_ms);
    if (!s.ok()) return s;
  }
  if (!part.qualifiers.empty()) {
    for (const std::string& qualifier : part.qualifiers) {
      if (page->IsFull() || !in_row()) break;
      const std::string key = std::string(row_bytes) + qualifier;
      if (it->key().compare(key) < 0) it->Seek(key);
      if (!in_row() || it->key() != Slice(key)) continue;
      if (Status s = show(key); !s.ok()) return s;
    }
    return it->status();
  }
  std::string start;
  std::string_view within = row_bytes;
  if (!options.qualifier_prefix.empty()) {
    start.append(row_bytes).append(options.qualifier_prefix);
    within = start;
    if (in_row() && it->key().compare(start) < 0) it->Seek(start);
  }
  for (; it->Valid() && !page->IsFull(); it->Next()) {
    const std::string_view key = it->key().ToStringView();
    if (!key.starts_with(within)) return Status::OK();
    if (Status s = show(key); !s.ok()) return s;
  }
  return it->status();
}

namespace {

// The chosen columns of a row.
Status ReadColumns(const OpenedStore& opened, const RowPlan& plan,
                   std::string_view row, ColumnPage* page, CellList* cells) {
  const RowOptions& options = plan.options();
  size_t count = 0;
  for (const RowPlan::FamilyPart& part : plan.families()) {
    count += part.qualifiers.size();
  }
  CellLookup lookup(
      opened, *plan.store_families(),
      {options.time_range, options.max_versions, options.snapshot}, count);
  for (const RowPlan::FamilyPart& part : plan.families()) {
    for (const std::string& qualifier : part.qualifiers) {
      Status s = lookup.Add(row, part.family->first, qualifier);
      if (!s.ok()) return s;
    }
  }
  return lookup.Run([&](size_t, const std::vector<Cell>& found) {
    const size_t first = cells->size();
    for (const Cell& cell : found) {
      cells->Add(cell.family, cell.qualifier, cell.timestamp_ms, cell.value);
    }
    page->Take(first, cells);
  });
}

}  // namespace

Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
               std::string_view row, std::vector<Cell>* cells) {
  CellList list(cells);
  std::string row_bytes;
  if (Status s = opened.EncodeRow(row, &row_bytes); !s.ok()) return s;
  const RowOptions& options = plan.options();
  ColumnPage page(options);
  if (plan.HasColumnsOnly()) {
    return ReadColumns(opened, plan, row, &page, &list);
  }
  const uint64_t now_ms = plan.NowMs(opened.shared.get());
  const auto read = [&](const RowPlan::FamilyPart& part,
                        rocksdb::Iterator* it) {
    it->Seek(row_bytes);
    return ReadFamilyOfRow(plan, part, row, row_bytes, now_ms, it, &page,
                           &list);
  };
  // One iterator is of one moment by itself.
  if (options.snapshot == nullptr && plan.families().size() == 1) {
    const RowPlan::FamilyPart& part = plan.families().front();
    const RowIterators::Lease lease = opened.shared->row_iterators.Take(
        opened.database.get(), part.family->second.handle(),
        RowIterators::Reach::kFiles);
    return read(part, lease.get());
  }
  rocksdb::ReadOptions read_options;
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  std::optional<CountedSnapshot> moment;
  if (read_options.snapshot == nullptr) {
    read_options.snapshot = moment.emplace(opened).get();
  }
  // Asks the ROW section of each file, and ends the iteration with the row.
  read_options.prefix_same_as_start = true;
  for (const RowPlan::FamilyPart& part : plan.families()) {
    if (page.IsFull()) break;
    const std::unique_ptr<rocksdb::Iterator> it(opened.database->NewIterator(
        read_options, part.family->second.handle()));
    if (Status s = read(part, it.get()); !s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom
