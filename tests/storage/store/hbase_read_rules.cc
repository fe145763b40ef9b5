#include "tests/storage/store/hbase_read_rules.h"

#include <algorithm>
#include <iterator>

namespace rowbloom::test {
namespace {

// Returns true when the delete hides the put, whichever came first.
bool Takes(const HBaseWrite& taker, const std::string& qualifier,
           uint64_t timestamp_ms) {
  switch (taker.type) {
    case HBaseType::kPut:
      return false;
    case HBaseType::kDelete:
      return qualifier == taker.qualifier && timestamp_ms == taker.timestamp_ms;
    case HBaseType::kDeleteColumn:
      return qualifier == taker.qualifier && timestamp_ms <= taker.timestamp_ms;
    case HBaseType::kDeleteFamily:
      return timestamp_ms <= taker.timestamp_ms;
    case HBaseType::kDeleteFamilyVersion:
      return timestamp_ms == taker.timestamp_ms;
  }
  return false;
}

// Returns true when the query reads the row.
bool Reads(const HBaseQuery& query, const std::string& row) {
  const auto before = [&query](const std::string& a, const std::string& b) {
    return query.reversed ? b < a : a < b;
  };
  if (query.start_row && before(row, *query.start_row)) return false;
  if (!query.stop_row || before(row, *query.stop_row)) return true;
  return query.include_stop && row == *query.stop_row;
}

bool Names(const HBaseQuery& query, const std::string& qualifier) {
  return !query.qualifiers ||
         std::binary_search(query.qualifiers->begin(), query.qualifiers->end(),
                            qualifier);
}

}  // namespace

ReadModel::ReadModel(const HBaseCase& of, const ReadRules& rules)
    : case_(of), rules_(rules) {
  std::map<std::string, std::vector<HBaseWrite>> deletes;  // by row
  for (const HBaseWrite& write : case_.writes) {
    Apply(write, deletes[write.row]);
    if (write.type != HBaseType::kPut) deletes[write.row].push_back(write);
  }
}

void ReadModel::Apply(const HBaseWrite& write,
                      const std::vector<HBaseWrite>& deletes) {
  Columns& columns = rows_[write.row];
  if (write.type == HBaseType::kDelete) {
    columns[write.qualifier].single_deletes.insert(write.timestamp_ms);
  }
  if (write.type != HBaseType::kPut) {
    for (auto& [name, column] : columns) {
      const std::string& qualifier = name;  // Clang 14 captures no binding
      const auto count =
          std::erase_if(column.versions, [&](const auto& version) {
            return Takes(write, qualifier, version.first);
          });
      if (count > 0 && write.type == HBaseType::kDeleteFamilyVersion) {
        column.single_deletes.insert(write.timestamp_ms);
      }
    }
    return;
  }
  const bool taken = std::any_of(
      deletes.begin(), deletes.end(), [&write](const HBaseWrite& taker) {
        return Takes(taker, write.qualifier, write.timestamp_ms);
      });
  if (taken) return;
  auto& versions = columns[write.qualifier].versions;
  versions[write.timestamp_ms] = write.value;
  if (rules_.surplus_stays_gone &&
      versions.size() > case_.family.max_versions) {
    versions.erase(versions.begin());
  }
}

void ReadModel::ShowColumn(const std::string& row, const std::string& qualifier,
                           const ColumnState& column, const HBaseQuery& query,
                           std::vector<HBaseCell>* answer) const {
  const FamilyOptions& family = case_.family;
  // With names HBase shows the first expired version that is the
  // min_versions-th newest or an older one, and ends the column with it.
  const bool shows_one_more =
      query.qualifiers && family.min_versions > 0 && !rules_.names_show_no_more;
  size_t counted = 0;  // newer versions
  size_t shown = 0;
  for (auto it = column.versions.rbegin(); it != column.versions.rend(); ++it) {
    const auto& [timestamp_ms, value] = *it;
    const bool in_range = query.time_range.Contains(timestamp_ms);
    if (!in_range && !rules_.range_within_newest) continue;
    if (counted == family.max_versions || shown == query.max_versions) return;
    size_t newer = counted++;
    if (rules_.expired_stays_gone) {
      newer += static_cast<size_t>(
          std::distance(column.single_deletes.upper_bound(timestamp_ms),
                        column.single_deletes.end()));
    }
    const bool expired =
        family.ttl_ms != 0 && timestamp_ms + family.ttl_ms < case_.now_ms;
    if (expired && newer >= family.min_versions && !shows_one_more) return;
    if (in_range) {
      answer->push_back({row, qualifier, timestamp_ms, value});
      ++shown;
    }
    if (expired && shows_one_more && newer + 1 >= family.min_versions) return;
  }
}

std::vector<HBaseCell> ReadModel::Answer(const HBaseQuery& query) const {
  std::vector<HBaseCell> answer;
  const auto show_row = [&](const auto& row) {
    if (!Reads(query, row.first)) return;
    for (const auto& [qualifier, column] : row.second) {
      if (!Names(query, qualifier)) continue;
      ShowColumn(row.first, qualifier, column, query, &answer);
    }
  };
  if (query.reversed) {
    std::for_each(rows_.rbegin(), rows_.rend(), show_row);
  } else {
    std::for_each(rows_.begin(), rows_.end(), show_row);
  }
  return answer;
}

}  // namespace rowbloom::test
