// The sorted runs that a read of a profile's data considers, and the model of
// Predict.
#pragma once

#include <vector>

#include "rowbloom/advise.h"

namespace rowbloom {

// Runs of one size and rate.
struct RunGroup {
  double runs = 1;
  double row_spread = 1;  // the chance that one has an existing row
};

// By level, as LevelPlan::rates(). Without a place one group of all files.
std::vector<RunGroup> RunGroups(const FileProfile& profile);

double CountRuns(const FileProfile& profile);

// The largest share of files with a row that any group has: the row_spread with
// which the adaptive split keeps its promise in each.
double RowSpread(const FileProfile& profile);

}  // namespace rowbloom
