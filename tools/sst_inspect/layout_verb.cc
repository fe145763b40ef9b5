#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/type_totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

// The block that names it, with the block's name where a format has several of
// a type.
std::string PlaceOf(const BlockInfo& block) {
  return block.is_numbered
             ? fmt::format("{} ({})", block.parent, ToPrintable(block.name))
             : block.parent;
}

std::string VerdictOf(const BlockInfo& block) {
  if (!block.status.ok()) return "DAMAGED";
  return block.has_checksum() ? "ok" : "";
}

std::string TypeText(const BlockInfo& block) {
  std::string text(ToString(block.type));
  if (block.type == BlockType::kIndexPartition) {
    text += fmt::format(" {}", block.partition);
  }
  if (!block.encoding.empty()) text = block.encoding + " data";
  return text;
}

// Columns of fixed width: a file may have millions of blocks.
constexpr const char* kLine =
    "  {:<20} {:>13} {:>9} {:>9} {:>5}  {:<6} {:<8} {}";

class LayoutPrinter {
 public:
  LayoutPrinter(const TableFile& file, const Output& output)
      : file_(file), output_(output) {}

  void Head() {
    if (output_.json) return;
    output_.out << WithoutControls(file_.path()) << "\n";
    Line(fmt::format(kLine, "block", "offset", "stored", "contents", "ratio",
                     "codec", "checksum", "named in"));
  }

  void Add(const BlockInfo& block) {
    totals_[block.type].Add(block);
    if (!block.status.ok()) {
      ++damaged_;
      unreadable_ = unreadable_ || !block.status.IsCorruption();
    }
    if (output_.json) return AddJson(block);
    Line(fmt::format(
        kLine, TypeText(block), block.offset_bytes, block.stored_bytes,
        block.contents_bytes ? fmt::format("{}", *block.contents_bytes) : "-",
        block.contents_bytes ? Ratio(*block.contents_bytes, block.stored_bytes)
                             : "-",
        block.compression, VerdictOf(block), PlaceOf(block)));
    if (!block.status.ok()) {
      output_.out << "    problem: " << Describe(block.status) << "\n";
    }
  }

  ExitCode Finish(const rocksdb::Status& status) {
    if (!output_.json) {
      output_.out << "\n";
      Table table({{"blocks", Table::Align::kRight},
                   {"type"},
                   {"stored", Table::Align::kRight},
                   {"of the file", Table::Align::kRight},
                   {"ratio", Table::Align::kRight},
                   {"damaged", Table::Align::kRight}});
      for (const auto& [type, totals] : totals_) {
        table.AddRow({Grouped(totals.blocks), std::string(ToString(type)),
                      HumanBytes(totals.stored_bytes),
                      Percent(static_cast<double>(totals.stored_bytes) /
                              static_cast<double>(file_.size_bytes())),
                      Ratio(totals.contents_bytes, totals.stored_bytes),
                      Grouped(totals.damaged)});
      }
      table.Print(output_.out);
    }
    ExitCode worst = damaged_ > 0 ? ExitCode::kFinding : ExitCode::kOk;
    if (unreadable_) worst = ExitCode::kFailed;
    if (!status.ok()) {
      worst = std::max(worst, Judge(output_.err, status));
    }
    return worst;
  }

 private:
  void Line(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    output_.out << text << "\n";
  }

  void AddJson(const BlockInfo& block) {
    Record record("block", ToPrintable(file_.path()));
    record.Text("type", ToString(block.type))
        .Number("offset", block.offset_bytes)
        .Number("stored_bytes", block.stored_bytes)
        .Number("contents_bytes", block.contents_bytes);
    if (!block.compression.empty()) {
      record.Text("compression", block.compression);
    }
    if (!block.encoding.empty()) record.Text("encoding", block.encoding);
    if (!block.name.empty()) record.Text("name", ToPrintable(block.name));
    if (block.partition != 0) record.Number("partition", block.partition);
    if (!block.parent.empty()) record.Text("parent", block.parent);
    if (!VerdictOf(block).empty()) record.Flag("ok", block.status.ok());
    if (!block.status.ok()) record.Text("problem", Describe(block.status));
    record.Print(output_.out);
  }

  const TableFile& file_;
  const Output& output_;
  TotalsByType totals_;
  uint64_t damaged_ = 0;
  bool unreadable_ = false;
};

ExitCode PrintLayout(const TableFile& file, const DrawnArgs& /*args*/,
                     const Output& output) {
  LayoutPrinter printer(file, output);
  printer.Head();
  const rocksdb::Status status =
      file.ForEachBlock(TableFile::Blocks::kAll,
                        [&](const BlockInfo& block) { printer.Add(block); });
  return printer.Finish(status);
}

}  // namespace

Action AddLayout(CLI::App* command) { return AddDrawn(command, PrintLayout); }

}  // namespace rowbloom::sst_inspect
