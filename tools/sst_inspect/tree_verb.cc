// tree: the files of a database by family and level, and where the bytes of its
// filters are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr auto kRight = Table::Align::kRight;

struct TreeArgs : FileArgs {
  bool files = false;
};

// Sums over files. Those that cannot be read add their bytes alone.
struct TreeSums {
  uint64_t files = 0;
  uint64_t unread_files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_bytes = 0;
  std::set<std::string> filters;  // "none", or the names of policies

  TreeSums& operator+=(const TreeSums& more) {
    files += more.files;
    unread_files += more.unread_files;
    bytes += more.bytes;
    entries += more.entries;
    deletions += more.deletions;
    data_bytes += more.data_bytes;
    filter_bytes += more.filter_bytes;
    filters.insert(more.filters.begin(), more.filters.end());
    return *this;
  }

  void AddTo(Record* record) const {
    record->Number("bytes", bytes)
        .Number("entries", entries)
        .Number("deletions", deletions)
        .Number("data_bytes", data_bytes)
        .Number("filter_bytes", filter_bytes)
        .Text("filters", FiltersText());
  }
  std::string FiltersText() const {
    return fmt::format("{}", fmt::join(filters, ", "));
  }
  // The same, but for a table.
  std::string FiltersCell() const {
    return filters.size() <= 2 ? FiltersText()
                               : fmt::format("{} different", filters.size());
  }
};

// `first` columns, those of the sums, and `last` ones.
std::vector<Table::Column> Columns(std::vector<Table::Column> first,
                                   const std::vector<Table::Column>& last) {
  for (const char* title :
       {"bytes", "entries", "deletions", "data bytes", "filter bytes"}) {
    first.push_back({title, kRight});
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

void AddRow(std::vector<std::string> cells, const TreeSums& sums,
            const std::vector<std::string>& last, Table* table) {
  for (const uint64_t number : {sums.bytes, sums.entries, sums.deletions,
                                sums.data_bytes, sums.filter_bytes}) {
    cells.push_back(Grouped(number));
  }
  cells.insert(cells.end(), last.begin(), last.end());
  table->AddRow(std::move(cells));
}

TreeSums SumsOf(const TreeFile& file, const TableFacts* facts) {
  TreeSums sums{.files = 1, .bytes = file.size_bytes};
  if (facts == nullptr) {
    sums.unread_files = 1;
    return sums;
  }
  sums.entries = facts->entries.value_or(0);
  sums.deletions = facts->deletions.value_or(0);
  sums.data_bytes = facts->data_bytes.value_or(0);
  sums.filter_bytes = facts->filter_bytes.value_or(0);
  sums.filters.insert(facts->filter_form == "none"
                          ? "none"
                          : ToPrintable(facts->filter_policy));
  return sums;
}

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
    AddRow(
        {ToPrintable(family.name), Grouped(level), WithoutControls(file.path)},
        sums,
        {format.ShortText(file.smallest), format.ShortText(file.largest),
         sums.unread_files == 0 ? sums.FiltersText() : "NOT READ"},
        &files_);
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
                      family.filter_policy.empty()
                          ? "none"
                          : ToPrintable(family.filter_policy),
                      family.prefix_extractor.empty()
                          ? "none"
                          : ToPrintable(family.prefix_extractor)});
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
    AddRow(
        {family, level,
         Grouped(sums.files) +
             (sums.unread_files == 0
                  ? ""
                  : fmt::format(" ({} NOT READ)", Grouped(sums.unread_files)))},
        sums, {sums.FiltersCell()}, &levels_);
  }

  const DatabaseTree& tree_;
  const TreeArgs& args_;
  const Output& output_;
  Table families_{{{"family"},
                   {"order"},
                   {"filter of new files"},
                   {"prefix extractor of new files"}}};
  Table levels_{Columns({{"family"}, {"level", kRight}, {"files", kRight}},
                        {{"filters"}})};
  Table files_{Columns({{"family"}, {"level", kRight}, {"file"}},
                       {{"from"}, {"to"}, {"filter"}})};
};

ExitCode PrintTree(const DatabaseTree& tree, const TreeArgs& args,
                   const Streams& streams) {
  const FileOpener opener(streams, Prints::kAtTheEnd);
  const Output output{streams.out, streams.err, args.json};
  TreePrinter printer(tree, args, output);
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
      printer.AddFile(family, file, sums);
      levels[file.level] += sums;
    }
    for (const auto& [level, sums] : levels) {
      printer.AddLevel(family, level, sums);
      of_family += sums;
    }
    printer.AddFamily(family, of_family);
    of_all += of_family;
  }
  printer.Finish(of_all);
  return worst;
}

}  // namespace

Action AddTree(CLI::App* command) {
  const auto args = std::make_shared<TreeArgs>();
  args->AddTo(command, "DB", "Directory of a database");
  command->add_flag("--files", args->files, "List each file, too");
  args->AddHexTo(command);
  args->AddDbPathTo(command);
  return [args](const Streams& streams) {
    return args->ForEachTree(streams, [&](const DatabaseTree& tree) {
      return PrintTree(tree, *args, streams);
    });
  };
}

}  // namespace rowbloom::sst_inspect
