// The sorted runs that a read of a profile's data considers.
#pragma once

#include "rowbloom/advise.h"

namespace rowbloom {

double CountRuns(const FileProfile& profile);

// The largest share of files with a row that any level has: the row_spread with
// which the adaptive split keeps its promise in each.
double RowSpread(const FileProfile& profile);

}  // namespace rowbloom
