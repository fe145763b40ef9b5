#include "tools/rowbloom/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>
#include <string_view>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/rowbloom/filter_command.h"
#include "tools/rowbloom/report.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 no such cell or row, or damage in a store or a "
    "backup; 2 wrong\nusage, or input or a store that cannot be used; 130 and "
    "143 load, export-hfile or\nimport-hfile was interrupted.";

constexpr std::string_view kFilter = "filter";

bool IsVerb(const std::string& word) {
  const auto names = Verbs();
  return std::any_of(names.begin(), names.end(),
                     [&](const Verb& verb) { return verb.name == word; });
}

ExitCode Dispatch(const std::vector<std::string>& args,
                  const Streams& streams) {
  if (!args.empty() && args.front() == kFilter) {
    return FilterCommand({args.begin() + 1, args.end()}, streams.in,
                         streams.out, streams.err, streams.err_is_terminal);
  }
  // CLI11 would take options before the verb, and say less of a wrong one.
  const bool asks =
      !args.empty() && (args.front() == "-h" || args.front() == "--help" ||
                        args.front() == "--version");
  if (!asks && (args.empty() || !IsVerb(args.front()))) {
    const std::string found =
        args.empty() ? "nothing" : "\"" + ToPrintable(args.front()) + "\"";
    return Fail(streams.err,
                "expected a verb, found " + found + "; see rowbloom --help");
  }

  CLI::App app("A wide-column store on RocksDB with row filters.", "rowbloom");
  app.set_version_flag("--version", "rowbloom " ROWBLOOM_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  std::vector<std::pair<const CLI::App*, Action>> actions;
  for (const Verb& verb : Verbs()) {
    CLI::App* command = app.add_subcommand(verb.name, verb.summary);
    command->footer(kFooter);
    actions.emplace_back(command, verb.add_to(command));
    CLI::Option* const db = command->get_option_no_throw("--db");
    if (streams.store != nullptr && db != nullptr) {
      db->required(false)->default_val(streams.db);
    }
  }
  // Only the help uses this subcommand.
  app.add_subcommand(std::string(kFilter),
                     "Filters of lines, without a store.");
  try {
    // CLI11 takes them last first.
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const CLI::Success& wish) {  // help or version
    app.exit(wish, streams.out, streams.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return Fail(streams.err, error.what());
  }
  const auto parsed =
      std::find_if(actions.begin(), actions.end(),
                   [](const auto& entry) { return entry.first->parsed(); });
  return parsed->second(streams);
}

}  // namespace

int Run(const std::vector<std::string>& args, const Streams& streams) {
  try {
    const ExitCode code = Dispatch(args, streams);
    if (streams.out.flush()) return static_cast<int>(code);
    Complain(streams.err, "cannot write to standard output");
  } catch (const std::exception& error) {
    Complain(streams.err, error.what());
  }
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace rowbloom::cli
