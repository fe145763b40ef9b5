// Makes the checksums of an SST's bytes right, so that what is behind them gets
// tested, too.
#pragma once

#include <string>

namespace rowbloom::fuzz {

// Sets the checksums of the footer, the metaindex, the blocks that it names,
// the partitions of a filter, the index and what it names. Stops where the
// bytes do not say what comes next.
void MakeChecksumsRight(std::string* file);

// The same table with the footer of format_version 6, whose checksums depend on
// the offset. REQUIRES a footer of format_version 2 to 5.
std::string WithFormatVersion6(const std::string& file);

}  // namespace rowbloom::fuzz
