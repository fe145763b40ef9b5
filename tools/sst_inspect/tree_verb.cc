// tree: the files of a database by family and level, and where the bytes of its
// filters are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/tree_picture.h"
#include "tools/sst_inspect/tree_sums.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr auto kRight = Table::Align::kRight;

struct TreeArgs : FileArgs {
  bool files = false;
  std::string html;  // empty: text
};

// Prints a database, as records at once, as tables at the end.
class TreePrinter {
 public:
  TreePrinter(const DatabaseTree& tree, const TreeArgs& args,
              const Output& output)
      : tree_(tree), args_(args), output_(output) {}

  void AddFile(const TreeFamily& family, const TreeFile& file,
               const TreeSums& sums) {
    if (!args_.files) return;
    const KeyFormat format{.hex = args_.hex};
    const auto level = static_cast<uint64_t>(file.level);
    if (output_.json) {
      Record record = Start("tree_file", family.name);
      record.Number("level", level)
          .Text("path", ToPrintable(file.path))
          .Flag("read", sums.unread_files == 0);
      sums.AddTo(&record);
      record.Text("smallest_key", format.Text(file.smallest))
          .Text("largest_key", format.Text(file.largest))
          .Print(output_.out);
      return;
    }
    files_.AddRow(TreeCells(
        {ToPrintable(family.name), Grouped(level), WithoutControls(file.path)},
        sums,
        {format.ShortText(file.smallest), format.ShortText(file.largest),
         sums.unread_files == 0 ? sums.FiltersText() : "NOT READ"}));
  }

  void AddLevel(const TreeFamily& family, int level, const TreeSums& sums) {
    const auto number = static_cast<uint64_t>(level);
    if (output_.json) {
      Record record = Start("tree_level", family.name);
      record.Number("level", number);
      Print(sums, &record);
    } else {
      AddSums(ToPrintable(family.name), Grouped(number), sums);
    }
  }

  void AddFamily(const TreeFamily& family, const TreeSums& sums) {
    if (output_.json) {
      Record record = Start("tree_family", family.name);
      record.Text("comparator", ToPrintable(family.comparator))
          .Text("new_filter_policy", ToPrintable(family.filter_policy))
          .Text("new_prefix_extractor", ToPrintable(family.prefix_extractor));
      Print(sums, &record);
      return;
    }
    AddSums(ToPrintable(family.name), "all", sums);
    families_.AddRow({ToPrintable(family.name), ToPrintable(family.comparator),
                      NameOrNone(family.filter_policy),
                      NameOrNone(family.prefix_extractor)});
  }

  void Finish(const TreeSums& sums) {
    if (output_.json) {
      Record record("tree", ToPrintable(tree_.path));
      record.Number("families", tree_.families.size());
      Print(sums, &record);
      return;
    }
    output_.out << WithoutControls(tree_.path) << "\n";
    families_.Print(output_.out);
    output_.out << "\n";
    if (tree_.families.size() > 1) AddSums("all", "all", sums);
    levels_.Print(output_.out);
    if (files_.empty()) return;
    output_.out << "\n";
    files_.Print(output_.out);
  }

 private:
  Record Start(std::string_view kind, const std::string& family) const {
    Record record(kind, ToPrintable(tree_.path));
    record.Text("family", ToPrintable(family));
    return record;
  }
  void Print(const TreeSums& sums, Record* record) const {
    record->Number("files", sums.files)
        .Number("unread_files", sums.unread_files);
    sums.AddTo(record);
    record->Print(output_.out);
  }
  void AddSums(const std::string& family, const std::string& level,
               const TreeSums& sums) {
    levels_.AddRow(TreeCells({family, level, sums.FilesCell()}, sums,
                             {sums.FiltersCell()}));
  }

  const DatabaseTree& tree_;
  const TreeArgs& args_;
  const Output& output_;
  Table families_{{{"family"},
                   {"order"},
                   {"filter of new files"},
                   {"prefix extractor of new files"}}};
  Table levels_{TreeColumns({{"family"}, {"level", kRight}, {"files", kRight}},
                            {{"filters"}})};
  Table files_{TreeColumns({{"family"}, {"level", kRight}, {"file"}},
                           {{"from"}, {"to"}, {"filter"}})};
};

// Shows the files, levels and families of a database to a TreePrinter or a
// TreeDrawer.
template <typename Sink>
ExitCode WalkTree(const DatabaseTree& tree, const FileOpener& opener,
                  Sink* sink) {
  ExitCode worst = ExitCode::kOk;
  TreeSums of_all;
  for (const TreeFamily& family : tree.families) {
    TreeSums of_family;
    std::map<int, TreeSums> levels;
    for (const TreeFile& file : family.files) {
      TreeSums sums = SumsOf(file, nullptr);
      worst = std::max(worst, opener.Open(file, [&](const TableFile& table) {
        const TableFacts facts = table.Facts();
        sums = SumsOf(file, &facts);
        return ExitCode::kOk;
      }));
      sink->AddFile(family, file, sums);
      levels[file.level] += sums;
    }
    for (const auto& [level, sums] : levels) {
      sink->AddLevel(family, level, sums);
      of_family += sums;
    }
    sink->AddFamily(family, of_family);
    of_all += of_family;
  }
  sink->Finish(of_all);
  return worst;
}

ExitCode PrintTree(const DatabaseTree& tree, const TreeArgs& args,
                   const Streams& streams) {
  const FileOpener opener(streams, Prints::kAtTheEnd);
  const Output output{streams.out, streams.err, args.json};
  TreePrinter printer(tree, args, output);
  return WalkTree(tree, opener, &printer);
}

// Draws the tree first, then each file if that is asked for.
ExitCode DrawTree(const DatabaseTree& tree, const TreeArgs& args,
                  const Streams& streams, HtmlReport* report) {
  size_t files = 0;
  for (const TreeFamily& family : tree.families) files += family.files.size();
  if (args.files) {
    const rocksdb::Status status = CheckDrawnFiles(files);
    if (!status.ok()) return Judge(streams.err, status);
  }
  const FileOpener opener(streams, Prints::kAtTheEnd);
  TreeDrawer drawer(tree, {.hex = args.hex});
  ExitCode worst = WalkTree(tree, opener, &drawer);
  report->Add(drawer.picture());
  if (!args.files) return worst;
  const PictureBudget budget = PictureBudget::Among(files);
  for (const TreeFile* file : drawer.read_files()) {
    worst = std::max(worst, opener.Open(*file, [&](const TableFile& table) {
      return report->Add(table, budget);
    }));
  }
  return worst;
}

}  // namespace

Action AddTree(CLI::App* command) {
  const auto args = std::make_shared<TreeArgs>();
  args->AddTo(command, "DB", "Directory of a database");
  command->add_flag("--files", args->files,
                    "List each file, too; with --html: draw its blocks and the "
                    "fill of its filters, too, for which it is read whole");
  args->AddHexTo(command);
  args->AddDbPathTo(command);
  AddHtmlTo(command,
            "Draw the levels as a page there, - for standard output, instead "
            "of text",
            &args->html);
  return [args](const Streams& streams) {
    if (args->html.empty()) {
      return args->ForEachTree(streams, [&](const DatabaseTree& tree) {
        return PrintTree(tree, *args, streams);
      });
    }
    const std::string title =
        args->paths.size() == 1
            ? args->paths.front()
            : fmt::format("{} databases", args->paths.size());
    return WriteHtml(args->html, title, streams, [&](HtmlReport* report) {
      return args->ForEachTree(streams, [&](const DatabaseTree& tree) {
        return DrawTree(tree, *args, streams, report);
      });
    });
  };
}

}  // namespace rowbloom::sst_inspect
