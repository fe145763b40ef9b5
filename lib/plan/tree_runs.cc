#include "lib/plan/tree_runs.h"

#include <algorithm>
#include <cmath>

#include "lib/plan/level_plan.h"

namespace rowbloom {

double CountRuns(const FileProfile& profile) {
  if (!profile.place) return profile.files;
  const LevelShape& tree = profile.place->tree;
  return static_cast<double>(tree.levels + tree.level0_files);
}

std::vector<RunGroup> RunGroups(const FileProfile& profile) {
  const double wanted = profile.files_per_row;
  if (!profile.place) {
    return {{.runs = profile.files,
             .row_spread = wanted == 0 ? 1 : wanted / profile.files}};
  }
  const LevelShape& tree = profile.place->tree;
  const std::vector<double> entries = RunEntries(tree);
  std::vector<RunGroup> groups;
  std::vector<double> sizes;
  for (size_t level = 0; level <= tree.levels; ++level) {
    const uint32_t runs = level == 0 ? tree.level0_files : 1;
    groups.push_back({.runs = static_cast<double>(runs), .level = level});
    sizes.push_back(level == 0 ? entries.front()
                               : entries[tree.level0_files + level - 1]);
  }
  if (wanted == 0) return groups;
  // A run's share of rows is in proportion to its size, and at most 1.
  const auto spread_by = [&](double rows_per_entry) {
    double sum = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i].row_spread = std::min(1.0, rows_per_entry * sizes[i]);
      sum += groups[i].runs * groups[i].row_spread;
    }
    return sum;
  };
  // Bisection on a logarithmic scale, from no rows to all rows in each run.
  double low = std::log(1e-9);
  double high = -std::log(std::ranges::min(sizes));
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (spread_by(std::exp(middle)) < wanted ? low : high) = middle;
  }
  spread_by(std::exp(high));
  return groups;
}

double RowSpread(const FileProfile& profile) {
  return std::ranges::max(RunGroups(profile), {}, &RunGroup::row_spread)
      .row_spread;
}

}  // namespace rowbloom
