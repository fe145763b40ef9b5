// layout, index and props: the blocks of a file, the entries of its index, and
// its properties.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

Record RecordOf(const std::string& path, const BlockInfo& block) {
  Record record("block", path);
  record.Text("type", ToString(block.type))
      .Number("offset", block.offset_bytes)
      .Number("stored_bytes", block.stored_bytes)
      .Number("contents_bytes", block.contents_bytes);
  if (block.contents_bytes) {
    record.InText(
        "ratio",
        fmt::format("{:.2f}", static_cast<double>(*block.contents_bytes) /
                                  static_cast<double>(block.stored_bytes)));
  }
  if (!block.compression.empty()) {
    record.Text("compression", block.compression);
  }
  if (!block.encoding.empty()) record.Text("encoding", block.encoding);
  if (!block.name.empty()) record.Text("name", ToPrintable(block.name));
  if (block.partition != 0) record.Number("partition", block.partition);
  if (!block.status.ok() || block.has_checksum()) {
    record.Flag("ok", block.status.ok())
        .As(block.status.ok() ? "ok" : "DAMAGED");
  }
  if (!block.status.ok()) record.Text("problem", Describe(block.status));
  return record;
}

ExitCode PrintLayout(const TableFile& file, const DrawnArgs& /*args*/,
                     const Output& output) {
  output.Line(file.path());
  Listing blocks(
      output,
      "type=block offset stored_bytes=stored contents_bytes=contents "
      "ratio compression=codec encoding ok=checksum partition name "
      "problem",
      Prints::kAllTheWhile);
  TotalsByType totals;
  ExitCode worst = ExitCode::kOk;
  const rocksdb::Status status =
      file.ForEachBlock(TableFile::Blocks::kAll, [&](const BlockInfo& block) {
        totals[block.type].Add(block);
        blocks.Add(RecordOf(file.path(), block));
        worst = std::max(worst, cli::CodeOf(block.status));
      });
  blocks.Print();
  output.Line();
  Listing by_type(output, kTotalsColumns);
  for (const auto& [type, sums] : totals) {
    by_type.AddRow(sums.RecordOf(ToString(type), file.size_bytes()));
  }
  if (!status.ok()) worst = std::max(worst, Judge(output.err, status));
  return worst;
}

// The arguments of a verb that prints bytes of each file.
struct ListingArgs : FileArgs {
  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    AddHexTo(command);
  }
};

void PrintIndex(const TableFile& file, const ListingArgs& args,
                const Output& output) {
  const KeyFormat format{.hex = args.hex,
                         .form = file.key_form(),
                         .timestamp_bytes = file.timestamp_bytes()};
  const bool is_hfile = format.form == KeyForm::kHFile;
  output.Line(file.path());
  Listing entries(
      output,
      fmt::format("partition block offset bytes key={} timestamp",
                  file.index_keys_come_first() ? "from_key" : "up_to_key"),
      Prints::kAllTheWhile);
  uint64_t number = 0;
  Require(file.ForEachIndexEntry([&](const IndexEntryInfo& entry) {
    Record record("index_entry", file.path());
    record.Number("block", ++number)
        .Number("partition", entry.partition)
        .Number("offset", entry.handle.offset_bytes)
        .Number("bytes", entry.handle.size_bytes)
        .Text("key", is_hfile ? format.KeyText(entry.user_key)
                              : format.ColumnText(entry.user_key));
    const auto timestamp = format.TimestampOf(entry.user_key);
    if (timestamp && !is_hfile) AddTimestamp(timestamp, &record);
    if (!entry.first_key.empty()) {
      record.Text("first_key", format.Text(entry.first_key));
    }
    entries.Add(record);
  }));
}

void PrintProps(const TableFile& file, const ListingArgs& args,
                const Output& output) {
  const KeyFormat format{.hex = args.hex};
  output.Line(file.path());
  Listing listing(output, "name=property value");
  for (const Property& property : file.Properties()) {
    Record record("property", file.path());
    record.Text("name", ToPrintable(property.name));
    if (property.number) {
      record.Number("value", *property.number);
    } else {
      record.Text("value", format.ValueText(property));
    }
    listing.Add(record);
  }
}

}  // namespace

Action AddIndex(CLI::App* command) { return AddFileVerb(command, PrintIndex); }
Action AddProps(CLI::App* command) { return AddFileVerb(command, PrintProps); }
Action AddLayout(CLI::App* command) { return AddDrawn(command, PrintLayout); }

}  // namespace rowbloom::sst_inspect
