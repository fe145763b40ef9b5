// The one form that results have: tables for readers, and JSON with one record
// a line for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/comparison.h"

namespace rowbloom::bench {

// Half of the interval, in percent of the value with so many decimals; "?"
// without one.
std::string Spread(const Estimate& estimate, int decimals);

// Lines of text; the last ones say what the columns are.
std::string ToTable(const std::vector<Comparison>& comparisons);

// The claims that are missed or undecided, a line each, or that all hold.
// `missed` and `undecided` are sentences.
std::string ToVerdict(const std::vector<std::string>& missed,
                      const std::vector<std::string>& undecided);
std::string ToVerdict(const std::vector<Comparison>& comparisons);

// A record for each comparison, whose arrays have a value for each contender,
// in the order of "by". Intervals are [value, low, high]; an end that is
// infinite is null.
std::vector<nlohmann::ordered_json> Records(
    const std::vector<Comparison>& comparisons);
nlohmann::ordered_json ToJson(const Estimate& estimate);

// An object: the members of `head`, a line each, and then "records", an array
// with a line for each record. Numbers are rounded to four digits.
std::string ToJson(const nlohmann::ordered_json& head,
                   const std::vector<nlohmann::ordered_json>& records);

}  // namespace rowbloom::bench
