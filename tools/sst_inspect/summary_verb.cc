#include <optional>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst/internal_key.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

// Returns the ratio of keys and values to the data blocks that store them. If
// only the decompressed size of all blocks is known, it is the ratio of that to
// the file.
std::optional<double> RatioOf(const TableFile& file, const TableFacts& facts) {
  if (facts.uncompressed_bytes) {
    return static_cast<double>(*facts.uncompressed_bytes) /
           static_cast<double>(file.size_bytes());
  }
  if (!facts.raw_key_bytes || !facts.raw_value_bytes ||
      facts.data_bytes.value_or(0) == 0 || facts.has_embedded_blobs) {
    return std::nullopt;
  }
  double bytes = static_cast<double>(*facts.raw_key_bytes) +
                 static_cast<double>(*facts.raw_value_bytes);
  // RocksDB counts range deletions, too, which have a block of their own.
  const rocksdb::Status status = file.ForEachRangeDeletion(
      [&bytes](const TableFile::RangeDeletion& range) {
        bytes -= static_cast<double>(range.start.size() + range.end.size() +
                                     sst::kInternalKeySuffixBytes);
      });
  if (!status.ok()) return std::nullopt;
  return bytes / static_cast<double>(*facts.data_bytes);
}

ExitCode PrintSummary(const TableFile& file, const DrawnArgs& /*args*/,
                      const Output& output) {
  output.Line(file.path());
  output.Print(SummaryOf(file));
  return ExitCode::kOk;
}

}  // namespace

Record SummaryOf(const TableFile& file) {
  const TableFacts facts = file.Facts();
  Record record("summary", file.path());
  record.Text("format", facts.format)
      .Bytes("bytes", file.size_bytes())
      .Text("checksum", facts.checksum)
      .Text("comparator", ToPrintable(facts.comparator))
      .Text("column_family", ToPrintable(facts.column_family))
      .Count("entries", facts.entries)
      .Count("deletions", facts.deletions)
      .Count("merges", facts.merges)
      .Count("range_deletions", facts.range_deletions)
      .Bytes("raw_key_bytes", facts.raw_key_bytes)
      .Bytes("raw_value_bytes", facts.raw_value_bytes)
      .Count("data_blocks", facts.data_blocks)
      .Bytes("data_bytes", facts.data_bytes)
      .Text("compression", ToPrintable(facts.compression))
      .Real("ratio", RatioOf(file, facts))
      .Text("index", facts.index_form)
      .Bytes("index_bytes", facts.index_bytes)
      .Text("filter", facts.filter_form)
      .Text("filter_policy", ToPrintable(facts.filter_policy))
      .Bytes("filter_bytes", facts.filter_bytes)
      .Text("prefix_extractor", ToPrintable(facts.prefix_extractor))
      .Time("creation_time", facts.creation_time);
  if (facts.family_deletions) {
    record.Count("family_deletions", facts.family_deletions);
  }
  for (const auto& [name, bytes] :
       {std::pair("average_key_bytes", facts.average_key_bytes),
        std::pair("average_value_bytes", facts.average_value_bytes),
        std::pair("uncompressed_bytes", facts.uncompressed_bytes)}) {
    if (bytes) record.Bytes(name, bytes);
  }
  for (const auto& [name, text] : facts.details) record.Text(name, text);
  return record;
}

Action AddSummary(CLI::App* command) { return AddDrawn(command, PrintSummary); }

}  // namespace rowbloom::sst_inspect
