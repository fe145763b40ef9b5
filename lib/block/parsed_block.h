// A filter block as read from its bytes, checked and ready for lookups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/lookup.h"
#include "rowbloom/filter_block.h"

namespace rowbloom {

struct ParsedBlock {
  // Says why nothing in the block can be used, or is empty.
  std::string problem;
  std::vector<FilterSection> sections;
  FileOrigin origin;
  std::string layout_id;
  std::optional<SectionType> whole_keys;
  uint8_t format_version = 0;
  // Answers "may match" for every key if there is a problem.
  Lookup lookup;
};

// Makes a section ready to be probed. The result reads the section's bytes in
// `contents`, which have to outlive it. Sets section->ribbon_rate, or
// section->problem if the ribbon cannot be read. May throw std::bad_alloc.
SectionProbe ProbeOf(std::string_view contents, FilterSection* section);

// Reads a block, whose bytes have to outlive the result, with the active
// kernel. May throw std::bad_alloc.
ParsedBlock ParseFilterBlock(std::string_view contents);

}  // namespace rowbloom
