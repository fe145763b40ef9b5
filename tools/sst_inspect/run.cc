#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr cli::Verb kVerbs[] = {
    {"summary", "Prints what each file says of itself; the default.",
     "users.db\n"
     "users.db --html page.html",
     AddSummary},
    {"tree", "Prints a database by family and level; the default for one.",
     "users.db\n"
     "users.db --files --json\n"
     "users.db --files --html page.html",
     AddTree},
    {"layout", "Lists the blocks: offset, sizes, codec, checksum.", "users.db",
     AddLayout},
    {"props", "Lists the properties.", "users.db --json", AddProps},
    {"index", "Lists the entries of the index.", "users.db --hex", AddIndex},
    {"data", "Lists the cells.",
     "a.sst --row user_1001\n"
     "users.db --cells 100 --whole-keys",
     AddData},
    {"filter", "Decodes the filter of each file.", "users.db --partitions",
     AddFilter},
    {"probe", "Looks up a row, a cell or a key in each file.",
     "users.db --row user_1001 --qualifier mail\n"
     "users.db --key user_1001 --json",
     AddProbe},
    {"verify", "Reads everything: checksums, order, index, properties, filter.",
     "users.db", AddVerify},
    {"stats", "Prints counts, sizes, histograms and the biggest rows.",
     "users.db --biggest 10", AddStats},
    {"measure-fpr", "Looks up absent keys like the file's own.",
     "a.sst --count 100000", AddMeasure},
    {"advise", "Finds the filter that the data wants, and its costs.",
     "a.sst --rate 0.001 --files 10\n"
     "users.db",
     AddAdvise},
    {"diff", "Compares two files; exit code 1 if they differ.",
     "a.sst b.sst --cells 20", AddDiff},
};

constexpr cli::VerbTable kSstInspect = {
    .name = "sst_inspect",
    .summary =
        "Shows what is inside RocksDB's databases and SSTs, and HBase's "
        "HFiles.",
    .footer =
        "Exit codes: 0 fine; 1 a file is damaged, its filter lies, or two "
        "differ; 2 wrong usage,\nor a file could not be read; 130 and 143 "
        "interrupted.\nThe worst file "
        "decides; the others are still processed.",
    .verbs = kVerbs,
    .first_argument = "a verb or an existing file"};

}  // namespace

int Run(const std::vector<std::string>& args, const cli::Streams& streams) {
  std::vector<std::string> all = args;
  std::error_code ignored;
  if (!args.empty() && args[0] != "help" &&
      std::ranges::find(kVerbs, args[0], &cli::Verb::name) ==
          std::ranges::end(kVerbs) &&
      std::filesystem::exists(args[0], ignored)) {
    all.insert(all.begin(), IsDatabase(args[0]) ? "tree" : "summary");
  }
  return cli::RunProgram(kSstInspect, all, streams);
}

}  // namespace rowbloom::sst_inspect
