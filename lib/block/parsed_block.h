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
  // Empty, or why nothing in the block can be used.
  std::string problem;
  std::vector<FilterSection> sections;
  FileOrigin origin;
  std::string layout_id;
  std::optional<SectionType> whole_keys;
  uint8_t format_version = 0;
  // Made from the trailer's checksum and from the 64-bit hashes of all sections
  // that can be used: equal for blocks of the same bytes, and different for
  // others but with the probability of a collision of 64 bits.
  uint64_t digest = 0;
  // Answers "may match" to everything where there is a problem.
  Lookup lookup;
};

// Makes a section ready to be probed, in place of its bytes in `contents`,
// which have to outlive the result; *section learns of a ribbon that cannot be
// read. May throw std::bad_alloc.
SectionProbe ProbeOf(std::string_view contents, FilterSection* section);

// Reads a block, whose bytes have to outlive the result, with the active
// kernel. May throw std::bad_alloc.
ParsedBlock ParseFilterBlock(std::string_view contents);

}  // namespace rowbloom
