// tree: the files of a database and the bytes of their filters, by family and
// level.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct TreeArgs : DrawnArgs {
  bool files = false;

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command, "DB", "Directory of a database");
    command->add_flag("--files", files,
                      "List each file, too; with --html: draw its blocks and "
                      "the fill of its filters, too, for which it is read "
                      "whole");
    AddHexTo(command);
    AddDbPathTo(command);
    AddHtmlTo(command,
              "Draw the levels as a page there, - for standard output, instead "
              "of text",
              &html);
  }
};

// Reads the facts of each file.
ExitCode ReadFiles(const FileOpener& opener, DatabaseTree* tree) {
  ExitCode worst = ExitCode::kOk;
  for (TreeFamily& family : tree->families) {
    for (TreeFile& file : family.files) {
      worst = std::max(worst, opener.Open(file, [&](const TableFile& table) {
        file.sums.AddRead(table.Facts());
        return ExitCode::kOk;
      }));
    }
  }
  return worst;
}

void Print(const DatabaseTree& tree, const TreeArgs& args,
           const Output& output) {
  const KeyFormat format{.hex = args.hex};
  Listing families(output,
                   "family comparator=order "
                   "new_filter_policy=filter_of_new_files "
                   "new_prefix_extractor=prefix_extractor_of_new_files");
  Listing levels(output,
                 fmt::format("family level files {} filters", kSumColumns));
  Listing files(output, fmt::format("family level path=file {} "
                                    "smallest_key=from largest_key=to "
                                    "filters=filter",
                                    kSumColumns));
  TreeSums all;
  for (const TreeFamily& family : tree.families) {
    const std::string name = ToPrintable(family.name);
    for (const TreeFile& file : family.files) {
      if (!args.files) break;
      const bool is_read = file.sums.unread_files == 0;
      Record record("tree_file", tree.path);
      record.Text("family", name)
          .Signed("level", file.level)
          .Text("path", file.path)
          .Flag("read", is_read);
      file.sums.AddTo(&record);
      if (!is_read) record.As("NOT READ");
      record.Text("smallest_key", format.Text(file.smallest))
          .As(format.ShortText(file.smallest))
          .Text("largest_key", format.Text(file.largest))
          .As(format.ShortText(file.largest));
      files.Add(record);
    }
    ForEachLevel(family, [&](std::span<const TreeFile> level) {
      Record record("tree_level", tree.path);
      record.Text("family", name).Signed("level", level.front().level);
      SumOf(level).AddWithFilesTo(&record);
      levels.Add(record);
    });
    Record record("tree_family", tree.path);
    record.Text("family", name)
        .InText("level", "all")
        .Text("comparator", ToPrintable(family.comparator))
        .Text("new_filter_policy", ToPrintable(family.filter_policy))
        .As(NameOrNone(family.filter_policy))
        .Text("new_prefix_extractor", ToPrintable(family.prefix_extractor))
        .As(NameOrNone(family.prefix_extractor));
    const TreeSums sums = SumOf(family.files);
    all += sums;
    sums.AddWithFilesTo(&record);
    families.Add(record);
    levels.AddRow(record);
  }
  Record record("tree", tree.path);
  record.InText("family", "all")
      .InText("level", "all")
      .Number("families", tree.families.size());
  all.AddWithFilesTo(&record);
  record.Count("unlisted_files", tree.unlisted_files)
      .Count("unlisted_bytes", tree.unlisted_bytes);
  if (output.json) return output.Print(record);
  if (tree.families.size() > 1) levels.AddRow(record);
  output.Line(tree.path);
  families.Print();
  output.Line();
  levels.Print();
  if (tree.unlisted_files > 0) {
    output.Line(fmt::format(
        "  {} more files with {} bytes are not in the MANIFEST",
        Grouped(tree.unlisted_files), Grouped(tree.unlisted_bytes)));
  }
  if (args.files && all.files > 0) output.Line();
}

// Prints the tree, or draws it and, with --files, each file.
ExitCode Show(const TreeArgs& args, const Streams& streams, DatabaseTree* tree,
              HtmlReport* report) {
  size_t files = 0;
  for (const TreeFamily& family : tree->families) files += family.files.size();
  const bool draws_files = report != nullptr && args.files;
  if (draws_files) CheckDrawnFiles(files);
  const FileOpener opener(streams, Prints::kAtTheEnd);
  ExitCode worst = ReadFiles(opener, tree);
  if (report == nullptr) {
    Print(*tree, args, {streams.out, streams.err, args.json});
  } else {
    report->Add(*tree, {.hex = args.hex});
  }
  if (!draws_files) return worst;
  const PictureBudget budget = PictureBudget::Among(files);
  for (const TreeFamily& family : tree->families) {
    for (const TreeFile& file : family.files) {
      if (file.sums.unread_files > 0) continue;
      worst = std::max(worst, opener.Open(file, [&](const TableFile& table) {
        return report->Add(table, budget);
      }));
    }
  }
  return worst;
}

ExitCode Tree(const TreeArgs& args, const Streams& streams) {
  const auto show = [&](HtmlReport* report) {
    return args.ForEachTree(streams, [&](DatabaseTree* tree) {
      return Show(args, streams, tree, report);
    });
  };
  if (args.html.empty()) return show(nullptr);
  const std::string title =
      args.paths.size() == 1 ? args.paths.front()
                             : fmt::format("{} databases", args.paths.size());
  return WriteHtml(args.html, title, streams, show);
}

}  // namespace

Action AddTree(CLI::App* command) { return cli::AddVerb(command, Tree); }

}  // namespace rowbloom::sst_inspect
