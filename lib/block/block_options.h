// The settings of one filter block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lib/block/memory_fit.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

struct FilterBlockOptions {
  // REQUIRES a type other than kNone, which has no block.
  BloomType bloom_type = BloomType::kRowCol;
  KeyLayout key_layout = KeyLayout::Escaped();
  FilterKind kind = FilterKind::kBloom;
  // Bits for each distinct entry of each section, clamped to
  // [kMinBitsPerKey, kMaxBitsPerKey]. REQUIRES a number. kRibbon takes fewer:
  // those that give it the rate that kBloom has with this many.
  double bits_per_key = 10.0;
  // Slots for each key of a kRibbon section, clamped to [0.9, 2]. REQUIRES a
  // number. Below 1, keys that find no slot go to smaller systems.
  double ribbon_slots_per_key = kRibbonSlotsPerKey;
  // The adaptive split of these bits over ROW and ROWCOL for this share, see
  // section_split.h; nullopt: the equal split. REQUIRES IsRowSpread. The size
  // of the block is the same, or, with kRibbon, about the same.
  std::optional<double> row_spread;
  // Bytes of the row that kRowPrefixFixedLength indexes; shorter rows are
  // indexed whole. REQUIRES > 0 with that type, and 0 with others.
  uint32_t row_prefix_length = 0;
  FileOrigin origin;
  // Varies the size to fit the allocator; null: never.
  std::shared_ptr<MemoryFit> memory_fit;
  // Keeps the hashes of a finished block until FilterBlockBuilder::Verify.
  bool verify = false;
};

}  // namespace rowbloom
