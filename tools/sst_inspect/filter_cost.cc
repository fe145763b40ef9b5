#include "tools/sst_inspect/filter_cost.h"

#include <fmt/format.h>

#include <ostream>
#include <string_view>

#include "rowbloom/printable.h"

namespace rowbloom::sst_inspect {
namespace {

Record Start(std::string_view kind, const AdviceReport& report) {
  Record record(kind, ToPrintable(report.path));
  if (!report.family.empty()) {
    record.Text("family", ToPrintable(report.family));
  }
  return record;
}

void PrintJson(const AdviceReport& report, std::ostream& out) {
  const Advice& advice = report.advice;
  Record record = Start("advice", report);
  record.Text("key_layout", report.layout)
      .Number("rows", report.rows)
      .Number("cells", report.cells)
      .Text("bloom_type", ToString(advice.bloom_type))
      .Text("kind", ToString(advice.kind))
      .Real("false_positive_rate", advice.false_positive_rate)
      .Flag("adaptive_split", advice.row_spread.has_value())
      .Real("row_spread", advice.row_spread.value_or(1))
      .Text("reason", advice.reason);
  for (const auto& [name, value] : report.members) record.Real(name, value);
  record.Print(out);
  for (const FilterCost& cost : report.costs) {
    Start("filter_cost", report)
        .Text("which", cost.which)
        .Text("filter", cost.name)
        .Number("bytes", cost.bytes)
        .Real("scan_absent_row", cost.opens.scan_absent_row)
        .Real("get_absent_row", cost.opens.get_absent_row)
        .Real("get_absent_column", cost.opens.get_absent_column)
        .Print(out);
  }
}

}  // namespace

WrongOpens PresentFilter::Opens(double row_spread) const {
  return has_sections ? PredictWrongOpens(sections, row_spread)
                      : WrongOpens{prefix, key, key};
}

WrongOpens Scaled(const WrongOpens& opens, double times) {
  return {times * opens.scan_absent_row, times * opens.get_absent_row,
          times * opens.get_absent_column};
}

rocksdb::Status ReadPresentFilter(const TableFile& file,
                                  PresentFilter* filter) {
  const TableFacts facts = file.Facts();
  *filter = {};
  double weights = 0;
  PresentFilter sum{
      .sections = {.row = 0, .row_col = 0}, .prefix = 0, .key = 0};
  std::string writer;
  rocksdb::Status damage;
  rocksdb::Status status = file.ForEachFilterPart([&](const FilterPart& part) {
    if (damage.ok()) damage = part.status;
    sum.bytes += part.size_bytes;
    writer = part.writer;
    const auto weight = static_cast<double>(part.size_bytes);
    weights += weight;
    double rates[3] = {1, 1, 1};  // row, row and column, RocksDB's own
    for (const SectionFacts& section : part.sections) {
      const size_t which = section.section == "ROWCOL"          ? 1
                           : section.section.starts_with("ROW") ? 0
                                                                : 2;
      rates[which] = section.rate.value_or(1);
      sum.name = section.kind;
    }
    sum.sections.row += weight * rates[0];
    sum.sections.row_col += weight * rates[1];
    sum.key += weight * (facts.whole_key_filter ? rates[2] : 1);
    sum.prefix += weight * (facts.prefix_filter ? rates[2] : 1);
  });
  if (status.ok()) status = damage;
  if (!status.ok() || weights == 0) return status;
  *filter = {.name = writer + " " + sum.name,
             .bytes = sum.bytes,
             .has_sections = writer == "rowbloom",
             .sections = {.row = sum.sections.row / weights,
                          .row_col = sum.sections.row_col / weights},
             .prefix = sum.prefix / weights,
             .key = sum.key / weights};
  return status;
}

void Print(const AdviceReport& report, const Output& output) {
  if (output.json) {
    PrintJson(report, output.out);
    return;
  }
  const Advice& advice = report.advice;
  output.out << WithoutControls(report.path)
             << (report.family.empty()
                     ? ""
                     : ", family " + ToPrintable(report.family))
             << "\n"
             << fmt::format("  data     {} rows, {} cells, layout {}\n",
                            Grouped(report.rows), Grouped(report.cells),
                            report.layout);
  for (const auto& [name, text] : report.lines) {
    output.out << fmt::format("  {:<7}  {}\n", name, text);
  }
  output.out << fmt::format(
      "  advice   bloom_type {}, kind {}, false_positive_rate {:.4g}{}\n"
      "  because  {}\n\n",
      ToString(advice.bloom_type), ToString(advice.kind),
      advice.false_positive_rate,
      advice.row_spread ? fmt::format(", adaptive split with row_spread {:.3g}",
                                      *advice.row_spread)
                        : "",
      WithoutControls(advice.reason));
  using Align = Table::Align;
  Table table({{"filter"},
               {"bytes", Align::kRight},
               {"scan, absent row", Align::kRight},
               {"get, absent row", Align::kRight},
               {"get, absent column", Align::kRight}});
  for (const FilterCost& cost : report.costs) {
    table.AddRow({cost.which + ": " + cost.name, Grouped(cost.bytes),
                  fmt::format("{:.4g}", cost.opens.scan_absent_row),
                  fmt::format("{:.4g}", cost.opens.get_absent_row),
                  fmt::format("{:.4g}", cost.opens.get_absent_column)});
  }
  table.Print(output.out);
  output.out << fmt::format(
      "  wrong opens per read, of {:.4g} files that it considers\n",
      report.files);
}

}  // namespace rowbloom::sst_inspect
