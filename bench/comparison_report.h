// Comparisons as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/comparison.h"

namespace rowbloom::bench {

// Lines of text; the last ones say what the columns are.
std::string ToTable(const std::vector<Comparison>& comparisons);

// The claims that are missed, or that all is as claimed.
std::string ToVerdict(const std::vector<Comparison>& comparisons);

// {"comparisons": [...], "missed_claims": [...]}
nlohmann::ordered_json ToJson(const std::vector<Comparison>& comparisons);

}  // namespace rowbloom::bench
