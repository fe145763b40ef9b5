// sst_inspect: what is inside RocksDB's databases and SSTs, and HBase's HFiles.
//
//   sst_inspect filter FILE...
//   sst_inspect probe FILE... --row R [--qualifier Q]
//
// Each verb prints what doc/inspecting.md says, and returns kFinding when a
// file is damaged, kFailed when it cannot be read or the request does not fit
// it.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/program.h"
#include "tools/cli/report.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// cli::RunProgram with the verbs. A file without a verb is for `summary`, and a
// database for `tree`.
int Run(const std::vector<std::string>& args, const cli::Streams& streams);

// The facts that the file gives about itself. Reads no data.
cli::Action AddSummary(CLI::App* command);
Record SummaryOf(const TableFile& file);

// The files of databases by family and level: tree_verb.cc.
cli::Action AddTree(CLI::App* command);

// Each block of the file, with the verdict of its checksum.
cli::Action AddLayout(CLI::App* command);

// Each property, numbers decoded.
cli::Action AddProps(CLI::App* command);

// Each entry of the index: the block, and the key up to which it goes.
cli::Action AddIndex(CLI::App* command);

// The cells, a line each, and the range deletions.
cli::Action AddData(CLI::App* command);

// The filter: a few lines about the whole, then a table with a line per
// section, summed over the parts of the filter. Holds one part in memory at a
// time. kFinding when a part is damaged, which is described as a "problem:".
cli::Action AddFilter(CLI::App* command);

// The filter's answers for a row, a cell or a key: probe_verb.cc.
cli::Action AddProbe(CLI::App* command);

// Reads everything and checks each block, the order of keys, the index against
// the data, the properties against both, and the filter for each key and row.
cli::Action AddVerify(CLI::App* command);

// Counts, sizes and their histograms, the biggest rows.
cli::Action AddStats(CLI::App* command);

// Looks up keys that the file does not have, made of those that it
// has.
cli::Action AddMeasure(CLI::App* command);

// The filter that this data wants, and the cost of the present one: of a file,
// and of each family of a database.
cli::Action AddAdvise(CLI::App* command);

// The differences of two files, in properties and cells. kFinding if there are
// any.
cli::Action AddDiff(CLI::App* command);

}  // namespace rowbloom::sst_inspect
