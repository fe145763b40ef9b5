// `advise` for HFiles: what the data says about HBase's BLOOMFILTER setting.
#include <string>

#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {

ExitCode HFileTable::PrintAdvice(const AdviseOptions& /*options*/,
                                 const Output& output) const {
  return ReportUsage(
      WithoutControls(path()) +
          ": advise is about filters of SSTs; an HFile's is HBase's own",
      output.err);
}

}  // namespace rowbloom::sst_inspect
