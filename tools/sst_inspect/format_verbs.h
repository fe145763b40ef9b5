// FormatVerbs: the verbs about what each format has of its own, such as filters
// and what a file says of itself. The verbs of verbs.h, filter_verb.h and
// probe_verb.h hand over to these where TableFile::own_verbs() is not null, and
// mean the same by options, streams and exit codes.
#pragma once

#include "tools/sst_inspect/filter_verb.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/probe_verb.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {

class FormatVerbs {
 public:
  virtual ~FormatVerbs() = default;

  virtual ExitCode PrintFilter(const Output& output) const = 0;
  virtual ExitCode PrintProbe(const ProbeVerbOptions& options,
                              const Output& output,
                              ProbeCounts* counts) const = 0;
  virtual ExitCode PrintVerify(const VerifyOptions& options,
                               const Output& output) const = 0;
  virtual ExitCode PrintMeasure(const MeasureOptions& options,
                                const Output& output) const = 0;
};

}  // namespace rowbloom::sst_inspect
