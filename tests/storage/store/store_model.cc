#include "tests/storage/store/store_model.h"

#include <algorithm>

namespace rowbloom::test {

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
                     const std::string& value) {
  ModelCell& cell = cells_[{row, family, qualifier}];
  if (KeepsLatest(family)) {
    cell.versions = {{timestamp_ms, value}};
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
  cell.versions[timestamp_ms] = value;
  if (cell.versions.size() > families_.at(family).max_versions) {
    cell.versions.erase(cell.versions.begin());
  }
}

void StoreModel::Delete(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t timestamp_ms) {
  ModelCell& cell = cells_[{row, family, qualifier}];
  Remove(&cell, timestamp_ms);
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
                              uint64_t timestamp_ms) {
  for (auto it = cells_.lower_bound({row, family, ""});
       it != cells_.end() && std::get<0>(it->first) == row &&
       std::get<1>(it->first) == family;
       ++it) {
    Remove(&it->second, timestamp_ms);
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

std::vector<Cell> StoreModel::GetVersions(const CellAddress& at,
                                          const ReadOptions& options,
                                          uint64_t now_ms) const {
  std::vector<Cell> cells;
  const auto found = cells_.find({at.row, at.family, at.qualifier});
  if (found == cells_.end()) return cells;
  const auto& [versions, deleted_versions, deleted_upto] = found->second;
  const FamilyOptions& family = families_.at(at.family);
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    const auto& [timestamp_ms, value] = *it;
    const auto newer =
        std::distance(versions.upper_bound(timestamp_ms), versions.end()) +
        std::distance(deleted_versions.upper_bound(timestamp_ms),
                      deleted_versions.end());
    const bool expired = family.ttl_ms != 0 && now_ms > timestamp_ms &&
                         now_ms - timestamp_ms > family.ttl_ms;
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

std::vector<Cell> StoreModel::GetRow(const std::string& row,
                                     const RowOptions& options,
                                     uint64_t now_ms) const {
  std::vector<Cell> cells;
  size_t column = 0;
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
    if (!wanted || !qualifier.starts_with(options.qualifier_prefix)) continue;
    const std::vector<Cell> versions =
        GetVersions({row, family, qualifier},
                    {options.time_range, options.max_versions}, now_ms);
    if (versions.empty()) continue;
    if (column >= options.column_offset &&
        column - options.column_offset < options.column_limit) {
      cells.insert(cells.end(), versions.begin(), versions.end());
    }
    ++column;
  }
  return cells;
}

std::vector<Row> StoreModel::Scan(const ScanOptions& options,
                                  uint64_t now_ms) const {
  std::vector<std::string> names;
  for (const auto& [key, cell] : cells_) {
    if (names.empty() || names.back() != std::get<0>(key)) {
      names.push_back(std::get<0>(key));
    }
  }
  if (options.reverse) std::reverse(names.begin(), names.end());
  std::vector<Row> rows;
  for (const std::string& name : names) {
    if (rows.size() == options.limit) break;
    if (name < options.start_row || !name.starts_with(options.row_prefix) ||
        (!options.stop_row.empty() && name >= options.stop_row)) {
      continue;
    }
    std::vector<Cell> cells = GetRow(name, options.row, now_ms);
    if (!cells.empty()) rows.push_back({name, std::move(cells)});
  }
  return rows;
}

}  // namespace rowbloom::test
