// FormatVerbs: the verbs about what each format has of its own, such as filters
// and what a file says of itself. The verbs of verbs.h hand over to these where
// TableFile::own_verbs() is not null, and mean the same by arguments, streams
// and exit codes.
#pragma once

#include <cstdint>

#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/probe_verb.h"

namespace rowbloom::sst_inspect {

struct MeasureArgs : FileArgs {
  uint64_t count = 100'000;  // each kind of absent key
  uint64_t seed = 1;
};

class FormatVerbs {
 public:
  virtual ~FormatVerbs() = default;

  virtual ExitCode PrintFilter(const Output& output) const = 0;
  virtual ExitCode PrintProbe(const ProbeArgs& args, const Output& output,
                              ProbeCounts* counts) const = 0;
  virtual ExitCode PrintVerify(const FileArgs& args,
                               const Output& output) const = 0;
  virtual ExitCode PrintMeasure(const MeasureArgs& args,
                                const Output& output) const = 0;
};

}  // namespace rowbloom::sst_inspect
