// tree: the files of a database by family and level, and where the bytes of its
// filters are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/tree_sums.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct TreeArgs : FileArgs {
  bool files = false;
  std::string html;  // empty: text

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

// Reads the facts of each file; `worst` becomes the greatest exit code.
SummedTree SumUp(const DatabaseTree& tree, const FileOpener& opener,
                 ExitCode* worst) {
  SummedTree summed{.tree = tree};
  for (const TreeFamily& family : tree.families) {
    summed.families.push_back({.family = family});
    SummedFamily& of_family = summed.families.back();
    for (const TreeFile& file : family.files) {
      std::vector<SummedLevel>& levels = of_family.levels;
      if (levels.empty() || levels.back().level != file.level) {
        levels.push_back({.level = file.level});
      }
      TreeSums sums = SumsOf(file, nullptr);
      *worst = std::max(*worst, opener.Open(file, [&](const TableFile& table) {
        const TableFacts facts = table.Facts();
        sums = SumsOf(file, &facts);
        return ExitCode::kOk;
      }));
      levels.back().sums += sums;
      levels.back().files.push_back({file, std::move(sums)});
    }
    for (const SummedLevel& level : of_family.levels) {
      of_family.sums += level.sums;
    }
    summed.sums += of_family.sums;
  }
  return summed;
}

void PrintJson(const SummedTree& summed, const TreeArgs& args,
               std::ostream& out) {
  const KeyFormat format{.hex = args.hex};
  const std::string path = ToPrintable(summed.tree.path);
  const auto print = [&out](const TreeSums& sums, Record* record) {
    record->Number("files", sums.files)
        .Number("unread_files", sums.unread_files);
    sums.AddTo(record);
    record->Print(out);
  };
  for (const SummedFamily& family : summed.families) {
    const std::string name = ToPrintable(family.family.name);
    const auto start = [&](std::string_view kind) {
      Record record(kind, path);
      record.Text("family", name);
      return record;
    };
    for (const SummedLevel& level : family.levels) {
      if (!args.files) break;
      for (const auto& [file, sums] : level.files) {
        Record record = start("tree_file");
        record.Number("level", static_cast<uint64_t>(file.level))
            .Text("path", ToPrintable(file.path))
            .Flag("read", sums.unread_files == 0);
        sums.AddTo(&record);
        record.Text("smallest_key", format.Text(file.smallest))
            .Text("largest_key", format.Text(file.largest))
            .Print(out);
      }
    }
    for (const SummedLevel& level : family.levels) {
      Record record = start("tree_level");
      record.Number("level", static_cast<uint64_t>(level.level));
      print(level.sums, &record);
    }
    Record record = start("tree_family");
    record.Text("comparator", ToPrintable(family.family.comparator))
        .Text("new_filter_policy", ToPrintable(family.family.filter_policy))
        .Text("new_prefix_extractor",
              ToPrintable(family.family.prefix_extractor));
    print(family.sums, &record);
  }
  Record record("tree", path);
  record.Number("families", summed.families.size());
  print(summed.sums, &record);
}

void PrintText(const SummedTree& summed, const TreeArgs& args,
               std::ostream& out) {
  const KeyFormat format{.hex = args.hex};
  Table families({"family", "order", "filter of new files",
                  "prefix extractor of new files"});
  Table levels(TreeColumns({"family", ">level", ">files"}, {"filters"}));
  Table files(
      TreeColumns({"family", ">level", "file"}, {"from", "to", "filter"}));
  const auto add = [&](const std::string& family, const std::string& level,
                       const TreeSums& sums) {
    levels.AddRow(TreeCells({family, level, sums.FilesCell()}, sums,
                            {sums.FiltersCell()}));
  };
  for (const SummedFamily& family : summed.families) {
    const std::string name = ToPrintable(family.family.name);
    for (const SummedLevel& level : family.levels) {
      const std::string number = fmt::format("{}", level.level);
      add(name, number, level.sums);
      for (const auto& [file, sums] : level.files) {
        files.AddRow(TreeCells(
            {name, number, WithoutControls(file.path)}, sums,
            {format.ShortText(file.smallest), format.ShortText(file.largest),
             sums.unread_files == 0 ? sums.FiltersText() : "NOT READ"}));
      }
    }
    add(name, "all", family.sums);
    families.AddRow({name, ToPrintable(family.family.comparator),
                     NameOrNone(family.family.filter_policy),
                     NameOrNone(family.family.prefix_extractor)});
  }
  if (summed.families.size() > 1) add("all", "all", summed.sums);
  out << WithoutControls(summed.tree.path) << "\n";
  families.Print(out);
  out << "\n";
  levels.Print(out);
  if (!args.files || files.empty()) return;
  out << "\n";
  files.Print(out);
}

ExitCode PrintTree(const DatabaseTree& tree, const TreeArgs& args,
                   const Streams& streams) {
  const FileOpener opener(streams, Prints::kAtTheEnd);
  ExitCode worst = ExitCode::kOk;
  const SummedTree summed = SumUp(tree, opener, &worst);
  (args.json ? PrintJson : PrintText)(summed, args, streams.out);
  return worst;
}

// Draws the tree first, then each file if that is asked for.
ExitCode DrawTree(const DatabaseTree& tree, const TreeArgs& args,
                  const Streams& streams, HtmlReport* report) {
  size_t files = 0;
  for (const TreeFamily& family : tree.families) files += family.files.size();
  if (args.files) CheckDrawnFiles(files);
  const FileOpener opener(streams, Prints::kAtTheEnd);
  ExitCode worst = ExitCode::kOk;
  const SummedTree summed = SumUp(tree, opener, &worst);
  report->Add(summed, {.hex = args.hex});
  if (!args.files) return worst;
  const PictureBudget budget = PictureBudget::Among(files);
  for (const SummedFamily& family : summed.families) {
    for (const SummedLevel& level : family.levels) {
      for (const auto& [file, sums] : level.files) {
        if (sums.unread_files > 0) continue;
        worst = std::max(worst, opener.Open(file, [&](const TableFile& table) {
          return report->Add(table, budget);
        }));
      }
    }
  }
  return worst;
}

ExitCode Tree(const TreeArgs& args, const Streams& streams) {
  if (args.html.empty()) {
    return args.ForEachTree(streams, [&](const DatabaseTree& tree) {
      return PrintTree(tree, args, streams);
    });
  }
  const std::string title =
      args.paths.size() == 1 ? args.paths.front()
                             : fmt::format("{} databases", args.paths.size());
  return WriteHtml(args.html, title, streams, [&](HtmlReport* report) {
    return args.ForEachTree(streams, [&](const DatabaseTree& tree) {
      return DrawTree(tree, args, streams, report);
    });
  });
}

}  // namespace

Action AddTree(CLI::App* command) { return cli::AddVerb(command, Tree); }

}  // namespace rowbloom::sst_inspect
