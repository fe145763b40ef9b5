#include "tools/rowbloom/filter_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <ostream>
#include <string_view>

#include "rowbloom/printable.h"
#include "tools/rowbloom/filter_verbs.h"

namespace rowbloom::cli {

ExitCode FilterCommand(const std::vector<std::string>& args, std::istream& in,
                       std::ostream& out, std::ostream& err,
                       bool err_is_terminal) {
  CLI::App app("Filters of lines: sizes, files, and what is in them.",
               "rowbloom filter");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 check printed no line; 2 wrong usage, or input or "
      "a filter that cannot be used.");

  FilterBuildOptions options;
  const auto add_size = [&options](CLI::App* verb) {
    verb->add_option("--expected", options.expected, "Number of distinct keys")
        ->required()
        ->type_name("N");
    verb->add_option("--fpp", options.rate,
                     "False positive rate at that number, inside (0, 1)")
        ->required()
        ->type_name("P");
  };
  CLI::App* size = app.add_subcommand(
      "size", "Prints how large each kind of filter would be.");
  add_size(size);

  CLI::App* build = app.add_subcommand(
      "build", "Writes a filter of the lines of standard input.");
  add_size(build);
  std::string format = "rowbloom";
  build
      ->add_option("--format", format,
                   "rowbloom, with a checksum, or guava, for "
                   "BloomFilter.readFrom")
      ->check(CLI::IsMember({"rowbloom", "guava"}))
      ->capture_default_str();
  std::string strategy = "mitz64";
  build->add_option("--strategy", strategy, "Guava's: mitz64 or mitz32")
      ->check(CLI::IsMember({"mitz64", "mitz32"}))
      ->capture_default_str();
  build->add_option("-o,--output", options.file, "Where the filter goes")
      ->required()
      ->type_name("FILE");

  std::string file;
  bool absent = false;
  CLI::App* check = app.add_subcommand(
      "check", "Prints the lines of standard input that may be in a filter.");
  check->add_flag("-v,--absent", absent,
                  "Print those that surely are not in it instead");
  check->add_option("FILE", file, "The filter")->required()->type_name("");

  CLI::App* info =
      app.add_subcommand("info", "Prints what there is to know of a filter.");
  info->add_option("FILE", file, "The filter")->required()->type_name("");

  constexpr std::string_view kFirstArgs[] = {"size", "build",  "check",
                                             "info", "--help", "-h"};
  if (args.empty() || std::ranges::find(kFirstArgs, args.front()) ==
                          std::ranges::end(kFirstArgs)) {
    Complain(err, "expected size, build, check or info after filter, found " +
                      (args.empty() ? "nothing"
                                    : "\"" + ToPrintable(args.front()) + "\"") +
                      "; see rowbloom filter --help");
    return ExitCode::kFailed;
  }
  try {
    // CLI11 takes them last first.
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const CLI::Success& wish) {  // help
    app.exit(wish, out, err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    Complain(err, error.what());
    return ExitCode::kFailed;
  }
  if (size->parsed()) {
    return FilterSize(options.expected, options.rate, out, err);
  }
  if (build->parsed()) {
    options.guava_form = format == "guava";
    options.strategy = strategy == "mitz32" ? ClassicStrategy::kMurmur128Mitz32
                                            : ClassicStrategy::kMurmur128Mitz64;
    return FilterBuild(options, in, out, err, err_is_terminal);
  }
  if (check->parsed()) {
    return FilterCheck(file, absent, in, out, err, err_is_terminal);
  }
  return FilterInfo(file, out, err);
}

}  // namespace rowbloom::cli
