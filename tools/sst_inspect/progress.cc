#include "tools/sst_inspect/progress.h"

#include <memory>

#include "tools/sst_inspect/text.h"
#include "tools/terminal/progress.h"

namespace rowbloom::sst_inspect {

TableFile::Progress ProgressOn(std::ostream& err, const TableFile& file,
                               uint64_t from_bytes) {
  const uint64_t size_bytes = file.size_bytes();
  if (size_bytes < from_bytes) return {};
  const terminal::Job job{WithoutControls(file.path()), size_bytes, ""};
  return [size_bytes, progress = std::make_shared<terminal::Progress>(
                          err, true, job)](uint64_t offset_bytes) {
    if (offset_bytes < size_bytes) {
      progress->Update(offset_bytes);
    } else {
      progress->Finish();
    }
  };
}

}  // namespace rowbloom::sst_inspect
