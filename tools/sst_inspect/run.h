// sst_inspect: what is inside RocksDB's databases and SSTs, and HBase's HFiles.
//
//   sst_inspect filter FILE...
//   sst_inspect probe FILE... --row R [--qualifier Q]
//
// See doc/inspecting.md.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/streams.h"

namespace rowbloom::sst_inspect {

// cli::RunProgram with the verbs of sst_inspect. A file without a verb is for
// `summary`, and a database for `tree`.
int Run(const std::vector<std::string>& args, const cli::Streams& streams);

}  // namespace rowbloom::sst_inspect
