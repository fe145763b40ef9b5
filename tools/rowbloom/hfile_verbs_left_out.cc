// This file replaces hfile_verbs.cc when rowbloom::hfile is left out of the
// build.
#include <CLI/CLI.hpp>

#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

Action AddLeftOut(CLI::App* command) {
  command->allow_extras();
  return [](const Streams& streams) {
    return Fail(streams.err,
                "this build has no HFiles: packages that they need were "
                "missing");
  };
}

}  // namespace

Action AddExportHFile(CLI::App* command) { return AddLeftOut(command); }
Action AddImportHFile(CLI::App* command) { return AddLeftOut(command); }

}  // namespace rowbloom::cli
