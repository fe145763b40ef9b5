// sst_inspect shows the contents of RocksDB's databases and SSTs, and of
// HBase's HFiles.
//
//   sst_inspect filter FILE...
//   sst_inspect probe FILE... --row R [--qualifier Q]
//
// doc/inspecting.md describes the output of each verb. A verb returns kFinding
// if a file is damaged, and kFailed if it cannot be read or the request does
// not fit it.
#pragma once

#include <optional>
#include <string>
#include <vector>

// All verbs use these.
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

// Calls cli::RunProgram with the verbs. Without a verb, a file gets `summary`,
// and a database `tree`.
int Run(const std::vector<std::string>& args, const cli::Streams& streams);

// Each adds the arguments of a verb, and returns its action. run.cc describes
// the verbs.
cli::Action AddSummary(CLI::App* command);
cli::Action AddTree(CLI::App* command);
cli::Action AddLayout(CLI::App* command);
cli::Action AddProps(CLI::App* command);
cli::Action AddIndex(CLI::App* command);
cli::Action AddData(CLI::App* command);
cli::Action AddFilter(CLI::App* command);
cli::Action AddProbe(CLI::App* command);
cli::Action AddVerify(CLI::App* command);
cli::Action AddStats(CLI::App* command);
cli::Action AddMeasure(CLI::App* command);
cli::Action AddAdvise(CLI::App* command);
cli::Action AddDiff(CLI::App* command);

// Returns the facts that a file has about itself, as `summary` prints them.
// Reads no data.
Record SummaryOf(const TableFile& file);

// Adds the member "timestamp"; null if there is none.
void AddTimestamp(const std::optional<Timestamp>& timestamp, Record* record);

}  // namespace rowbloom::sst_inspect
