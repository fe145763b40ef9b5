#include <CLI/CLI.hpp>

#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

// Makes the shell's store the default of --db in a shell.
void GiveStoreOfShell(const Streams& streams, CLI::App* command) {
  CLI::Option* const db = command->get_option_no_throw("--db");
  if (streams.session == nullptr || db == nullptr) return;
  db->required(false)->default_val(streams.session->db);
}

}  // namespace

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> verbs = [] {
    std::vector<Verb> all;
    for (const std::vector<Verb>& group :
         {FamilyVerbs(), LoadVerbs(), WriteVerbs(), ReadVerbs(), UpkeepVerbs(),
          HFileVerbs(), ShellVerbs()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return verbs;
}

int Run(const std::vector<std::string>& args, const Streams& streams) {
  const VerbTable program = {
      .name = "rowbloom",
      .summary = "A wide-column store on RocksDB with row filters.",
      .footer =
          "Exit codes: 0 done; 1 no such cell or row, nothing written by "
          "check-and-put, a file left\nout of an import, or damage in a store "
          "or a backup; 2 wrong usage, or input or a store\nthat cannot be "
          "used; 130 and 143 interrupted.",
      .verbs = Verbs(),
      .finish = GiveStoreOfShell};
  return RunProgram(program, args, streams);
}

}  // namespace rowbloom::cli
