#include "tests/storage/store/store_model.h"

#include <algorithm>
#include <cstddef>

namespace rowbloom::test {
namespace {

// The row of an entry that begins with it.
template <typename Key, typename Value>
const std::string& RowOf(const std::pair<Key, Value>& entry) {
  return std::get<0>(entry.first);
}
template <typename... Rest>
const std::string& RowOf(const std::tuple<std::string, Rest...>& entry) {
  return std::get<0>(entry);
}

}  // namespace

bool StoreModel::KeepsLatest(const std::string& family) const {
  const FamilyOptions& options = families_.at(family);
  return options.max_versions == 1 && options.timestamps == Timestamps::kStore;
}

void StoreModel::Remove(ModelCell* cell, uint64_t upto_ms) {
  cell->versions.erase(cell->versions.begin(),
                       cell->versions.upper_bound(upto_ms));
}

void StoreModel::Put(const std::string& row, const std::string& family,
                     const std::string& qualifier, uint64_t timestamp_ms,
                     const std::string& value, std::optional<uint64_t> ttl_ms) {
  ModelCell& cell = cells_[{row, family, qualifier}];
  if (KeepsLatest(family)) {
    cell.versions = {{timestamp_ms, {value, ttl_ms}}};
    return;
  }
  const auto family_delete = family_deletes_.find({row, family});
  if (family_version_deletes_.contains({row, family, timestamp_ms}) ||
      cell.deleted_versions.contains(timestamp_ms) ||
      (cell.deleted_upto && timestamp_ms <= *cell.deleted_upto) ||
      (family_delete != family_deletes_.end() &&
       timestamp_ms <= family_delete->second)) {
    return;
  }
  cell.versions[timestamp_ms] = {value, ttl_ms};
  if (cell.versions.size() > families_.at(family).max_versions) {
    cell.versions.erase(cell.versions.begin());
  }
}

void StoreModel::Delete(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t timestamp_ms,
                        uint64_t takes_ms) {
  ModelCell& cell = cells_[{row, family, qualifier}];
  Remove(&cell, std::max(timestamp_ms, takes_ms));
  if (KeepsLatest(family)) return;
  cell.deleted_upto = std::max(cell.deleted_upto, {timestamp_ms});
}

void StoreModel::DeleteVersion(const std::string& row,
                               const std::string& family,
                               const std::string& qualifier,
                               uint64_t timestamp_ms) {
  ModelCell& cell = cells_[{row, family, qualifier}];
  cell.versions.erase(timestamp_ms);
  cell.deleted_versions.insert(timestamp_ms);
}

void StoreModel::DeleteFamily(const std::string& row, const std::string& family,
                              uint64_t timestamp_ms, uint64_t takes_ms) {
  for (auto it = cells_.lower_bound({row, family, ""});
       it != cells_.end() && std::get<0>(it->first) == row &&
       std::get<1>(it->first) == family;
       ++it) {
    Remove(&it->second, std::max(timestamp_ms, takes_ms));
  }
  if (KeepsLatest(family)) return;
  uint64_t& upto_ms = family_deletes_[{row, family}];
  upto_ms = std::max(upto_ms, timestamp_ms);
}

void StoreModel::DeleteFamilyVersion(const std::string& row,
                                     const std::string& family,
                                     uint64_t timestamp_ms) {
  for (auto& [key, cell] : cells_) {
    const auto& [cell_row, cell_family, qualifier] = key;
    if (cell_row == row && cell_family == family &&
        cell.versions.erase(timestamp_ms) > 0) {
      cell.deleted_versions.insert(timestamp_ms);
    }
  }
  family_version_deletes_.insert({row, family, timestamp_ms});
}

void StoreModel::DeleteRow(const std::string& row, uint64_t timestamp_ms) {
  for (const auto& [family, options] : families_) {
    if (options.timestamps == Timestamps::kStore) {
      DeleteFamily(row, family, timestamp_ms);
      continue;
    }
    const std::vector<Cell> newest =
        GetRow(row, {.columns = {{family}}}, /*now_ms=*/0);
    const auto last = std::max_element(newest.begin(), newest.end(),
                                       [](const Cell& a, const Cell& b) {
                                         return a.timestamp_ms < b.timestamp_ms;
                                       });
    if (last != newest.end()) DeleteFamily(row, family, last->timestamp_ms);
  }
}

StoreModel StoreModel::OfRow(const std::string& row) const {
  StoreModel model(families_);
  const auto copy = [&row](const auto& from, auto first, auto* to) {
    for (; first != from.end(); ++first) {
      if (RowOf(*first) != row) return;
      to->insert(to->end(), *first);
    }
  };
  copy(cells_, cells_.lower_bound({row, "", ""}), &model.cells_);
  copy(family_deletes_, family_deletes_.lower_bound({row, ""}),
       &model.family_deletes_);
  copy(family_version_deletes_,
       family_version_deletes_.lower_bound({row, "", 0}),
       &model.family_version_deletes_);
  return model;
}

void StoreModel::DropFamily(const std::string& family) {
  families_.erase(family);
  std::erase_if(cells_, [&family](const auto& cell) {
    return std::get<1>(cell.first) == family;
  });
  std::erase_if(family_deletes_, [&family](const auto& taken) {
    return taken.first.second == family;
  });
  std::erase_if(family_version_deletes_, [&family](const auto& taken) {
    return std::get<1>(taken) == family;
  });
}

std::vector<Cell> StoreModel::GetVersions(const OwnedAddress& at,
                                          const ReadOptions& options,
                                          uint64_t now_ms) const {
  std::vector<Cell> cells;
  const auto found = cells_.find({at.row, at.family, at.qualifier});
  if (found == cells_.end()) return cells;
  const auto& [versions, deleted_versions, deleted_upto] = found->second;
  const FamilyOptions& family = families_.at(at.family);
  const auto is_older_than = [now_ms](uint64_t ttl_ms, uint64_t timestamp_ms) {
    return now_ms > timestamp_ms && now_ms - timestamp_ms > ttl_ms;
  };
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    const auto& [timestamp_ms, version] = *it;
    const auto& [value, ttl_ms] = version;
    if (ttl_ms && now_ms > 0 &&
        (*ttl_ms == 0 || is_older_than(*ttl_ms, timestamp_ms))) {
      continue;
    }
    const auto newer =
        std::distance(versions.upper_bound(timestamp_ms), versions.end()) +
        std::distance(deleted_versions.upper_bound(timestamp_ms),
                      deleted_versions.end());
    const bool expired =
        family.ttl_ms != 0 && is_older_than(family.ttl_ms, timestamp_ms);
    if (expired && newer >= static_cast<int64_t>(family.min_versions)) break;
    if (timestamp_ms < options.time_range.begin_ms ||
        timestamp_ms >= options.time_range.end_ms) {
      continue;
    }
    if (cells.size() == options.max_versions) break;
    cells.push_back({at.family, at.qualifier, timestamp_ms, value});
  }
  return cells;
}

std::optional<uint64_t> StoreModel::TtlOf(const OwnedAddress& at,
                                          uint64_t timestamp_ms) const {
  return cells_.at({at.row, at.family, at.qualifier})
      .versions.at(timestamp_ms)
      .ttl_ms;
}

std::vector<std::vector<Cell>> StoreModel::ReadColumns(
    const std::string& row, const RowOptions& options, uint64_t now_ms) const {
  std::vector<std::vector<Cell>> columns;
  for (auto it = cells_.lower_bound({row, "", ""});
       it != cells_.end() && std::get<0>(it->first) == row; ++it) {
    const std::string& family = std::get<1>(it->first);
    const std::string& qualifier = std::get<2>(it->first);
    const bool wanted =
        options.columns.empty() ||
        std::any_of(
            options.columns.begin(), options.columns.end(),
            [&](const Column& chosen) {
              return chosen.family == family &&
                     (!chosen.qualifier || *chosen.qualifier == qualifier);
            });
    if (!wanted || !qualifier.starts_with(options.qualifier_prefix) ||
        qualifier < options.qualifier_start ||
        (!options.qualifier_stop.empty() &&
         qualifier >= options.qualifier_stop)) {
      continue;
    }
    std::vector<Cell> versions =
        GetVersions({row, family, qualifier},
                    {options.time_range, options.max_versions}, now_ms);
    if (!versions.empty()) columns.push_back(std::move(versions));
  }
  if (options.columns_from_end) std::reverse(columns.begin(), columns.end());
  return columns;
}

std::vector<Row> StoreModel::Read(const std::vector<std::string>& names,
                                  const RowOptions& options, uint64_t now_ms,
                                  const FilterModel& filter) const {
  std::vector<ReadCell> all;
  std::set<size_t> every;
  for (const std::string& name : names) {
    for (const auto& versions : ReadColumns(name, options, now_ms)) {
      for (const Cell& cell : versions) {
        every.insert(every.end(), all.size());
        all.push_back({name, cell});
      }
    }
  }
  // By row, in the order of the read, the columns that have something left.
  std::vector<std::pair<std::string, std::vector<std::vector<Cell>>>> left;
  for (const size_t i : filter.Keep(all, every)) {
    auto& [row, cell] = all[i];
    if (left.empty() || left.back().first != row) left.push_back({row, {}});
    auto& columns = left.back().second;
    if (columns.empty() || columns.back()[0].family != cell.family ||
        columns.back()[0].qualifier != cell.qualifier) {
      columns.emplace_back();
    }
    if (options.keys_only) cell.value.clear();
    columns.back().push_back(std::move(cell));
  }
  std::vector<Row> rows;
  for (auto& [name, columns] : left) {
    const size_t begin = std::min(options.column_offset, columns.size());
    const size_t count = std::min(options.column_limit, columns.size() - begin);
    columns = {columns.begin() + static_cast<std::ptrdiff_t>(begin),
               columns.begin() + static_cast<std::ptrdiff_t>(begin + count)};
    if (options.columns_from_end) std::reverse(columns.begin(), columns.end());
    Row row{name, {}};
    for (const auto& column : columns) {
      row.cells.insert(row.cells.end(), column.begin(), column.end());
    }
    if (!row.cells.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Cell> StoreModel::GetRow(const std::string& row,
                                     const RowOptions& options, uint64_t now_ms,
                                     const FilterModel& filter) const {
  const std::vector<Row> rows = Read({row}, options, now_ms, filter);
  return rows.empty() ? std::vector<Cell>() : rows[0].cells;
}

std::vector<Row> StoreModel::Scan(const ScanOptions& options, uint64_t now_ms,
                                  const FilterModel& filter) const {
  const auto is_in = [](const std::string& name, const std::string& start,
                        const std::string& stop) {
    return name >= start && (stop.empty() || name < stop);
  };
  std::vector<std::string> names;
  for (const auto& [key, cell] : cells_) {
    const std::string& name = std::get<0>(key);
    const bool chosen =
        is_in(name, options.start_row, options.stop_row) &&
        name.starts_with(options.row_prefix) &&
        (options.ranges.empty() ||
         std::any_of(options.ranges.begin(), options.ranges.end(),
                     [&](const RowRange& range) {
                       return is_in(name, range.start_row, range.stop_row);
                     }));
    if (chosen && (names.empty() || names.back() != name)) {
      names.push_back(name);
    }
  }
  if (options.reverse) std::reverse(names.begin(), names.end());
  std::vector<Row> rows = Read(names, options.row, now_ms, filter);
  if (rows.size() > options.limit) rows.resize(options.limit);
  return rows;
}

}  // namespace rowbloom::test
