// The verbs of `rowbloom filter`: filters of lines of text, without a store.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "rowbloom/classic_bloom_filter.h"
#include "tools/rowbloom/report.h"

namespace rowbloom::cli {

// `rowbloom filter size`: a table with a line for each kind of filter, for
// `keys` keys and a rate.
ExitCode FilterSize(uint64_t keys, double rate, std::ostream& out,
                    std::ostream& err);

struct FilterBuildOptions {
  uint64_t expected = 0;
  double rate = 0.01;
  ClassicStrategy strategy = ClassicStrategy::kMurmur128Mitz64;
  bool guava_form = false;
  std::string file;
};

// `rowbloom filter build`: the lines of `in` into a filter, and that into a
// file, of which nothing is left after an error.
ExitCode FilterBuild(const FilterBuildOptions& options, std::istream& in,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal);

// `rowbloom filter check`: prints the lines of `in` that may be in the filter,
// or with `absent` those that surely are not. kFinding: there were none.
ExitCode FilterCheck(const std::string& file, bool absent, std::istream& in,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal);

// `rowbloom filter info`: what there is to know of the filter in a file.
ExitCode FilterInfo(const std::string& file, std::ostream& out,
                    std::ostream& err);

}  // namespace rowbloom::cli
