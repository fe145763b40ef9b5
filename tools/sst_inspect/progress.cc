#include "tools/sst_inspect/progress.h"

#include <unistd.h>

#include <ostream>

#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {

TableFile::Progress ProgressOn(std::ostream& err, const TableFile& file,
                               uint64_t from_bytes) {
  if (file.size_bytes() < from_bytes) return {};
  // Blocks start before the end of the file, so that this is never reached.
  constexpr uint64_t kDone = 100;
  return [&err, &file, last = kDone](uint64_t offset_bytes) mutable {
    const uint64_t percent = offset_bytes / (file.size_bytes() / kDone + 1);
    if (percent == last) return;
    last = percent;
    // Clears the line, and leaves the cursor at its start for what comes next.
    err << "\r" << WithoutControls(file.path()) << ": " << percent
        << " %\x1b[K\r" << std::flush;
  };
}

bool StandardErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace rowbloom::sst_inspect
