// What a kernel needs to answer for whole keys at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kernels/ribbon_probe.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// An array of 512-bit blocks. No alignment is needed. REQUIRES count >= 1 and
// 1 <= probes <= kMaxProbes.
struct BloomBlocks {
  const std::byte* data;
  uint64_t count;
  int probes;
};

// The filter of a file with a ROW and perhaps a ROWCOL section, both to be
// trusted and not empty, and with a layout that is not custom. Other blocks go
// the long way of FilterBlock.
struct Matcher {
  KeyLayout::Kind layout_kind;
  uint32_t layout_parameter;
  bool has_row_col;
  BloomBlocks row;
  BloomBlocks row_col;
  // Of sections of kind ribbon; else null.
  const RibbonFilter* row_ribbon;
  const RibbonFilter* row_col_ribbon;
};

// Which section had the last word on a key, and what it was.
enum class Answer : uint8_t {
  kOutside,  // of the layout: may match
  kRowMay,
  kRowNo,  // next to kRowMay, as the two below are: match.h counts on it
  kRowColMay,
  kRowColNo,
};
inline constexpr size_t kAnswers = 5;

struct KeyView {
  const char* data;
  size_t size;
};

// The answers for a batch of keys: bit i of one mask for key i, and of none for
// a key outside the layout.
struct BatchAnswers {
  static constexpr size_t kMaxKeys = 32;

  uint32_t row_may = 0;
  uint32_t row_no = 0;
  uint32_t row_col_may = 0;
  uint32_t row_col_no = 0;
};

}  // namespace rowbloom
