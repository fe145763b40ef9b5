// The keys of a database: rows of a layout, dealt out to shares, so that each
// thread has keys that nobody else writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/key_layout.h"
#include "tests/support/random.h"

namespace rowbloom::stress {

using test::Random;

// The five layouts, a custom one among them.
const std::vector<KeyLayout>& Layouts();

// Immutable. A share has a contiguous range of keys, rows inside it, and keys
// outside the layout between these; a few shares own one odd key beyond.
class KeySpace {
 public:
  KeySpace(const KeyLayout& layout, uint32_t rows_per_share)
      : layout_(layout), rows_per_share_(rows_per_share) {}

  const KeyLayout& layout() const { return layout_; }
  uint32_t rows_per_share() const { return rows_per_share_; }

  // The row bytes of a row that may be written, number < rows_per_share().
  std::string Row(uint32_t share, uint32_t number) const {
    return EncodeNumber(share, 2 * number);
  }
  // The row bytes of a row that is never written, between Row(number) and
  // Row(number + 1).
  std::string AbsentRow(uint32_t share, uint32_t number) const {
    return EncodeNumber(share, 2 * number + 1);
  }

  // Both of all numbers.
  std::vector<std::string> AllRows(uint32_t share) const;

  // Rows of which each cell is written once and then single-deleted, if at all;
  // RangeOfRows leaves them out.
  static bool IsSingleDeleteRow(uint32_t number) { return number % 16 == 15; }

  // A key to be written: mostly cells, with bare rows and keys outside the
  // layout among them.
  std::string RandomKey(uint32_t share, Random* random) const;
  // A cell of a single-delete row. REQUIRES rows_per_share() >= 16.
  std::string RandomSingleDeleteKey(uint32_t share, Random* random) const;
  // A key that nobody writes, in an absent row or with an absent column.
  std::string RandomAbsentKey(uint32_t share, Random* random) const;
  // Part of a row, or some rows: [first, second).
  std::pair<std::string, std::string> RandomRange(uint32_t share,
                                                  Random* random) const;

  // All keys of a share start with it, but for the odd one.
  std::string SharePrefix(uint32_t share) const;
  std::string ShareEnd(uint32_t share) const {
    return SharePrefix(share) + "\xff";
  }
  // The keys of a share outside its range.
  static std::vector<std::string> OddKeys(uint32_t share);

 private:
  std::string EncodeNumber(uint32_t share, uint32_t number) const;
  std::string OutsideKey(uint32_t share, Random* random) const;

  KeyLayout layout_;
  uint32_t rows_per_share_;
};

// Greater than every key of KeySpace that starts with `prefix`, and starts with
// it, too.
inline std::string LastWithPrefix(const std::string& prefix) {
  return prefix + std::string(64, '\xff');
}

}  // namespace rowbloom::stress
