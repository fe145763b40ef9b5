// Keys that a file does not have, made of those that it has: keys that
// applications look up and do not find resemble those that they store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/table_file.h"
#include "tools/sst_inspect/table_filter.h"

namespace rowbloom::sst_inspect {

// The part of an absent key that the file lacks.
enum class AbsentKind : uint8_t {
  kRow,     // a row that the file does not have; the key is the row's bytes
  kCell,    // a cell of such a row
  kColumn,  // a cell that a row of the file lacks
  kKey,     // a key, where no layout is known
};

struct AbsentKeys {
  AbsentKind kind{};
  // Distinct, in the order of the file, or by bytes where that is not known.
  std::vector<std::string> keys;
};

// About `count` of each kind that the layout allows; fewer where the keys leave
// no room for so many. Each is a mixture of keys drawn at random from the file,
// and was compared with all that the file has, which takes two passes over it.
// Keys that the filter lets pass rightly are left out, as what it looks up for
// them is there, and so are all but one of those that share it. The same seed
// gives the same keys.
std::vector<AbsentKeys> MakeAbsentKeys(const TableFile& file,
                                       const KeyFormat& format,
                                       const FilterReader& filter,
                                       uint64_t count, uint64_t seed);

}  // namespace rowbloom::sst_inspect
