// The progress of the read of a large file, on a terminal.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// Files from this size on take long enough to say how far they are read.
inline constexpr uint64_t kProgressBytes = uint64_t{1} << 30;

// Shows terminal::Progress on `err` until the file is read; empty for smaller
// files. For standard error, if that is a terminal. The stream and the file
// must outlive the function.
TableFile::Progress ProgressOn(std::ostream& err, const TableFile& file,
                               uint64_t from_bytes = kProgressBytes);

}  // namespace rowbloom::sst_inspect
