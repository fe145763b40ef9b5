// layout, index and props: the blocks of a file, the entries of its index, and
// its properties.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

std::string VerdictOf(const BlockInfo& block) {
  if (!block.status.ok()) return "DAMAGED";
  return block.has_checksum() ? "ok" : "";
}

std::string TypeText(const BlockInfo& block) {
  return block.encoding.empty() ? std::string(ToString(block.type))
                                : block.encoding + " data";
}

// A partition is named by its number, and so are the data blocks in one of the
// index.
std::string NameText(const BlockInfo& block) {
  return block.partition == 0 ? ToPrintable(block.name)
                              : fmt::format("partition {}", block.partition);
}

// Columns of fixed width: a file may have millions of blocks.
constexpr const char* kBlockLine =
    "  {:<20} {:>13} {:>9} {:>9} {:>5}  {:<6} {:<8} {}";

class LayoutPrinter {
 public:
  LayoutPrinter(const TableFile& file, const Output& output)
      : file_(file), output_(output) {}

  void Head() {
    if (output_.json) return;
    output_.out << WithoutControls(file_.path()) << "\n";
    Line(fmt::format(kBlockLine, "block", "offset", "stored", "contents",
                     "ratio", "codec", "checksum", "name"));
  }

  void Add(const BlockInfo& block) {
    totals_[block.type].Add(block);
    if (!block.status.ok()) {
      ++damaged_;
      unreadable_ = unreadable_ || !block.status.IsCorruption();
    }
    if (output_.json) return AddJson(block);
    Line(fmt::format(
        kBlockLine, TypeText(block), block.offset_bytes, block.stored_bytes,
        block.contents_bytes ? fmt::format("{}", *block.contents_bytes) : "-",
        block.contents_bytes ? Ratio(*block.contents_bytes, block.stored_bytes)
                             : "-",
        block.compression, VerdictOf(block), NameText(block)));
    if (!block.status.ok()) {
      output_.out << "    problem: " << Describe(block.status) << "\n";
    }
  }

  ExitCode Finish(const rocksdb::Status& status) {
    if (!output_.json) {
      output_.out << "\n";
      Table table(
          {">blocks", "type", ">stored", ">of the file", ">ratio", ">damaged"});
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
  constexpr const char* kLine = "  {:>9} {:>9} {:>14} {:>10}  {}\n";
  if (!output.json) {
    output.out << WithoutControls(file.path()) << "\n"
               << fmt::format(
                      kLine, "partition", "block", "offset", "bytes",
                      file.index_keys_come_first() ? "from key" : "up to key");
  }
  uint64_t number = 0;
  Require(file.ForEachIndexEntry([&](const IndexEntryInfo& entry) {
    ++number;
    if (output.json) {
      Record record("index_entry", ToPrintable(file.path()));
      record.Number("block", number)
          .Number("partition", entry.partition)
          .Number("offset", entry.handle.offset_bytes)
          .Number("bytes", entry.handle.size_bytes)
          .Text("key", format.KeyText(entry.user_key));
      if (!entry.first_key.empty()) {
        record.Text("first_key", format.Text(entry.first_key));
      }
      record.Print(output.out);
      return;
    }
    output.out << fmt::format(
        kLine, entry.partition == 0 ? "-" : fmt::format("{}", entry.partition),
        number, entry.handle.offset_bytes, entry.handle.size_bytes,
        format.KeyText(entry.user_key));
  }));
}

void PrintProps(const TableFile& file, const ListingArgs& args,
                const Output& output) {
  const auto value_text = [&](const Property& property) {
    if (!property.text.empty()) return property.text;
    return args.hex ? ToHex(property.bytes) : ToPrintable(property.bytes);
  };
  if (!output.json) output.out << WithoutControls(file.path()) << "\n";
  size_t width = 0;
  const std::vector<Property> properties = file.Properties();
  for (const Property& property : properties) {
    width = std::max(width, ToPrintable(property.name).size());
  }
  for (const Property& property : properties) {
    std::string name = ToPrintable(property.name);
    if (output.json) {
      Record record("property", ToPrintable(file.path()));
      record.Text("name", name);
      if (property.number) {
        record.Number("value", *property.number);
      } else {
        record.Text("value", value_text(property));
      }
      record.Print(output.out);
      continue;
    }
    name.resize(std::max(width, name.size()), ' ');
    output.out << "  " << name << "  "
               << (property.number ? std::to_string(*property.number)
                                   : value_text(property))
               << "\n";
  }
}

}  // namespace

Action AddIndex(CLI::App* command) { return AddFileVerb(command, PrintIndex); }
Action AddProps(CLI::App* command) { return AddFileVerb(command, PrintProps); }
Action AddLayout(CLI::App* command) { return AddDrawn(command, PrintLayout); }

}  // namespace rowbloom::sst_inspect
