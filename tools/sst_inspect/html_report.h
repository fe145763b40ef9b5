// The verbs whose output --html draws as a page.
#pragma once

#include <string>

#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// The arguments of a verb that is drawn, too.
struct DrawnArgs : FileArgs {
  std::string html;  // empty: text
};

// Adds them. The action prints each file, or draws all of them.
Action AddDrawn(CLI::App* command,
                ExitCode (*print)(const TableFile& file, const DrawnArgs& args,
                                  const Output& output));

}  // namespace rowbloom::sst_inspect
