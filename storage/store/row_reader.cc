#include "storage/store/row_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "storage/store/cell_reader.h"
#include "storage/store/snapshot.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

}  // namespace

Status RowPlan::Make(const OpenedStore& opened, const RowOptions& options,
                     RowPlan* plan) {
  Status s = CheckReadOptions(options.max_versions, options.time_range);
  if (s.ok()) s = CheckQualifier(options.qualifier_prefix);
  if (!s.ok()) return s;
  plan->options_ = options;
  plan->families_.clear();
  plan->store_families_ = opened.families->Get();
  const FamilyMap& all = *plan->store_families_;
  if (options.columns.empty()) {
    for (auto it = all.begin(); it != all.end(); ++it) {
      plan->families_.push_back({it, {}});
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
    plan->families_.push_back(std::move(part));
  }
  return s;
}

bool RowPlan::HasColumnsOnly() const {
  return std::none_of(
      families_.begin(), families_.end(),
      [](const FamilyPart& part) { return part.qualifiers.empty(); });
}

void ColumnPage::Take(size_t first, std::vector<Cell>* cells) {
  if (cells->size() == first) return;
  if (skip_ > 0) {
    --skip_;
    cells->resize(first);
  } else if (left_ == 0) {
    cells->resize(first);
  } else {
    --left_;
  }
}

Status ReadFamilyOfRow(const RowPlan& plan, const RowPlan::FamilyPart& part,
                       std::string_view row, std::string_view row_bytes,
                       uint64_t now_ms, rocksdb::Iterator* it, ColumnPage* page,
                       std::vector<Cell>* cells) {
  const RowOptions& options = plan.options();
  StoredCell stored{row, part.family, {}, {}, {}};
  const auto in_row = [&] {
    return it->Valid() && it->key().starts_with(Slice(row_bytes));
  };
  const auto show = [&]() -> Status {
    stored.qualifier = it->key().ToStringView().substr(row_bytes.size());
    stored.value = it->value().ToStringView();
    const size_t first = cells->size();
    Status s = ShowCell(stored, now_ms, options.time_range,
                        options.max_versions, cells);
    if (s.ok()) page->Take(first, cells);
    return s;
  };
  it->Seek(Slice(row_bytes));
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
      if (Status s = show(); !s.ok()) return s;
    }
    return it->status();
  }
  const std::string start = std::string(row_bytes) + options.qualifier_prefix;
  if (in_row() && it->key().compare(start) < 0) it->Seek(start);
  for (; it->Valid() && it->key().starts_with(start) && !page->IsFull();
       it->Next()) {
    if (Status s = show(); !s.ok()) return s;
  }
  return it->status();
}

Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
               std::string_view row, std::vector<Cell>* cells) {
  cells->clear();
  std::string row_bytes;
  if (Status s = opened.EncodeRow(row, &row_bytes); !s.ok()) return s;
  const RowOptions& options = plan.options();
  ColumnPage page(options);
  if (plan.HasColumnsOnly()) {
    CellLookup lookup(
        opened, plan.store_families(),
        {options.time_range, options.max_versions, options.snapshot});
    for (const RowPlan::FamilyPart& part : plan.families()) {
      for (const std::string& qualifier : part.qualifiers) {
        Status s = lookup.Add(row, part.family->first, qualifier);
        if (!s.ok()) return s;
      }
    }
    return lookup.Run([&](size_t, std::vector<Cell> found) {
      const size_t first = cells->size();
      cells->insert(cells->end(), std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
      page.Take(first, cells);
    });
  }
  rocksdb::ReadOptions read_options;
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  // One iterator is of one moment by itself.
  std::optional<CountedSnapshot> moment;
  if (read_options.snapshot == nullptr && plan.families().size() > 1) {
    read_options.snapshot = moment.emplace(opened).get();
  }
  // Asks the ROW section of each file, and ends the iteration with the row.
  read_options.prefix_same_as_start = true;
  const uint64_t now_ms = opened.shared->clock.Now();
  for (const RowPlan::FamilyPart& part : plan.families()) {
    if (page.IsFull()) break;
    const std::unique_ptr<rocksdb::Iterator> it(opened.database->NewIterator(
        read_options, part.family->second.handle()));
    Status s = ReadFamilyOfRow(plan, part, row, row_bytes, now_ms, it.get(),
                               &page, cells);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom
