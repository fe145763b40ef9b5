// `rowbloom load`: text into a store.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_layout.h"
#include "tools/rowbloom/report.h"

namespace rowbloom::cli {

struct LoadOptions {
  std::string db;
  KeyLayout key_layout = KeyLayout::Escaped();
  // To create where missing. The first takes the cells of a package index.
  // None: a new store, or one that gets a package index, gets kDefaultFamily.
  std::vector<std::string> families;
  // Of the families, where given: created with them, or an error when an
  // existing family has others.
  std::optional<BloomType> bloom_type;
  std::optional<double> false_positive_rate;
  std::optional<uint32_t> row_prefix_length;
  std::string file;  // "-": standard input
};

inline constexpr char kDefaultFamily[] = "f";

// Bytes of cells that are written as one batch, more or less.
inline constexpr size_t kBatchBytes = size_t{1} << 20;

// Loads all cells, flushes, and prints a summary to `out`. A cell that cannot
// be loaded ends the load: those above it are kept, it and those below are not.
ExitCode Load(const LoadOptions& options, std::istream& in, std::ostream& out,
              std::ostream& err, bool err_is_terminal);

}  // namespace rowbloom::cli
