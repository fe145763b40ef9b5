// sst_inspect: what is inside RocksDB's databases and SSTs, and HBase's HFiles.
//
//   sst_inspect filter FILE...
//   sst_inspect probe FILE... --row R [--qualifier Q]
//
// Each verb prints what doc/inspecting.md says, and returns kFinding when a
// file is damaged, kFailed when it cannot be read or the request does not fit
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

// The parts that all verbs are made of.
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

// cli::RunProgram with the verbs. A file without a verb is for `summary`, and a
// database for `tree`.
int Run(const std::vector<std::string>& args, const cli::Streams& streams);

// Each adds the arguments of a verb, and makes its action. run.cc says what the
// verbs do.
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

// The facts that a file gives about itself, as `summary` prints them. Reads no
// data.
Record SummaryOf(const TableFile& file);

// Adds the member "timestamp"; null when there is none.
void AddTimestamp(const std::optional<Timestamp>& timestamp, Record* record);

}  // namespace rowbloom::sst_inspect
