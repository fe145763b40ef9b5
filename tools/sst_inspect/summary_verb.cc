#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

std::string CountText(const std::optional<uint64_t>& count) {
  return count ? Grouped(*count) : "unknown";
}

std::string BytesText(const std::optional<uint64_t>& bytes) {
  return bytes ? HumanBytes(*bytes) : "unknown";
}

// The factor by which the data is smaller than its keys and values. If only the
// size of all blocks together is known, it is the factor of these.
std::optional<double> RatioOf(const TableFile& file, const TableFacts& facts) {
  if (facts.uncompressed_bytes) {
    return static_cast<double>(*facts.uncompressed_bytes) /
           static_cast<double>(file.size_bytes());
  }
  if (!facts.raw_key_bytes || !facts.raw_value_bytes ||
      facts.data_bytes.value_or(0) == 0) {
    return std::nullopt;
  }
  return (static_cast<double>(*facts.raw_key_bytes) +
          static_cast<double>(*facts.raw_value_bytes)) /
         static_cast<double>(*facts.data_bytes);
}

void PrintJson(const TableFile& file, const TableFacts& facts,
               std::ostream& out) {
  Record record("summary", ToPrintable(file.path()));
  record.Text("format", facts.format)
      .Number("bytes", file.size_bytes())
      .Text("checksum", facts.checksum)
      .Text("comparator", ToPrintable(facts.comparator))
      .Text("column_family", ToPrintable(facts.column_family))
      .Number("entries", facts.entries)
      .Number("deletions", facts.deletions)
      .Number("merges", facts.merges)
      .Number("range_deletions", facts.range_deletions)
      .Number("raw_key_bytes", facts.raw_key_bytes)
      .Number("raw_value_bytes", facts.raw_value_bytes)
      .Number("data_blocks", facts.data_blocks)
      .Number("data_bytes", facts.data_bytes)
      .Text("compression", ToPrintable(facts.compression))
      .Real("ratio", RatioOf(file, facts))
      .Text("index", facts.index_form)
      .Number("index_bytes", facts.index_bytes)
      .Text("filter", facts.filter_form)
      .Text("filter_policy", ToPrintable(facts.filter_policy))
      .Number("filter_bytes", facts.filter_bytes)
      .Text("prefix_extractor", ToPrintable(facts.prefix_extractor))
      .Number("creation_time", facts.creation_time);
  for (const auto& [name, number] :
       {std::pair("family_deletions", facts.family_deletions),
        std::pair("average_key_bytes", facts.average_key_bytes),
        std::pair("average_value_bytes", facts.average_value_bytes),
        std::pair("uncompressed_bytes", facts.uncompressed_bytes)}) {
    if (number) record.Number(name, *number);
  }
  for (const auto& [name, text] : facts.details) record.Text(name, text);
  record.Print(out);
}

ExitCode PrintSummary(const TableFile& file, const DrawnArgs& /*args*/,
                      const Output& output) {
  if (output.json) {
    PrintJson(file, file.Facts(), output.out);
    return ExitCode::kOk;
  }
  output.out << WithoutControls(file.path()) << "\n";
  for (const auto& [name, text] : SummaryLines(file)) {
    output.out << fmt::format("  {:<8}  {}\n", name, text);
  }
  return ExitCode::kOk;
}

}  // namespace

Facts SummaryLines(const TableFile& file) {
  const TableFacts facts = file.Facts();
  Facts lines;
  const auto line = [&lines](std::string_view name, const std::string& text) {
    lines.emplace_back(name, text);
  };
  line("format", facts.format + ", checksum " + facts.checksum);
  line("size", HumanAndExactBytes(file.size_bytes()));
  if (!facts.column_family.empty()) {
    line("family", ToPrintable(facts.column_family));
  }
  line("order",
       facts.comparator.empty() ? "unknown" : ToPrintable(facts.comparator));
  std::string entries = CountText(facts.entries);
  std::string_view joint = ": ";
  for (const auto& [count, of] :
       {std::pair(facts.deletions, "deletions"),
        std::pair(facts.merges, "merges"),
        std::pair(facts.range_deletions, "range deletions"),
        std::pair(facts.family_deletions, "markers of families")}) {
    if (!count) continue;
    entries +=
        fmt::format("{}{} {}", std::exchange(joint, ", "), Grouped(*count), of);
  }
  line("entries", entries);
  const auto ratio = RatioOf(file, facts);
  const std::string codec =
      (facts.compression.empty() ? "compression unknown"
                                 : ToPrintable(facts.compression)) +
      (ratio ? fmt::format(", {:.2f} to 1", *ratio) : "");
  if (facts.uncompressed_bytes) {
    line("average",
         fmt::format("key {}, value {}", BytesText(facts.average_key_bytes),
                     BytesText(facts.average_value_bytes)));
    line("blocks",
         fmt::format("{}, {}", BytesText(facts.uncompressed_bytes), codec));
  } else {
    line("raw",
         fmt::format("keys {}, values {}", BytesText(facts.raw_key_bytes),
                     BytesText(facts.raw_value_bytes)));
    line("data", fmt::format("{} in {} blocks, {}", BytesText(facts.data_bytes),
                             CountText(facts.data_blocks), codec));
  }
  line("index",
       fmt::format("{}, {}", BytesText(facts.index_bytes), facts.index_form));
  if (facts.filter_form == "none") {
    line("filter", "none");
  } else {
    line("filter",
         fmt::format("{}, {}, {}", BytesText(facts.filter_bytes),
                     facts.filter_form, ToPrintable(facts.filter_policy)));
  }
  if (!facts.prefix_extractor.empty() && facts.prefix_extractor != "nullptr") {
    line("prefix", ToPrintable(facts.prefix_extractor));
  }
  for (const auto& [name, text] : facts.details) {
    line(name, WithoutControls(text));
  }
  if (facts.creation_time) line("created", UtcText(*facts.creation_time));
  return lines;
}

Action AddSummary(CLI::App* command) { return AddDrawn(command, PrintSummary); }

}  // namespace rowbloom::sst_inspect
