// Statistics as JSON. Members are named as those of the C++ structs.
#pragma once

#include <optional>
#include <string>

#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/store_stats.h"

namespace rowbloom {

// The filters of a column family.
struct PolicyStats {
  bool active = false;                // IsFilterActive
  std::optional<std::string> policy;  // its id; nullopt: there is none
  std::optional<FilterStats> filter;  // nullopt: this library made no policy
};

// Returns one object, in one line. Bytes that are not UTF-8 are replaced.
std::string ToJson(const PolicyStats& stats);
std::string ToJson(const FrontFilterStats& stats);
std::string ToJson(const StoreStats& stats);

}  // namespace rowbloom
