// In place of hfile_verbs.cc where rowbloom::hfile is left out of the build.
#include <CLI/CLI.hpp>

#include "tools/rowbloom/hfile_verbs.h"

namespace rowbloom::cli {
namespace {

ExitCode LeftOut(std::ostream& err) {
  Complain(err,
           "this build has no HFiles: packages that they need were missing");
  return ExitCode::kFailed;
}

}  // namespace

void ExportHFileArgs::AddTo(CLI::App* command) { command->allow_extras(); }
void ImportHFileArgs::AddTo(CLI::App* command) { command->allow_extras(); }

ExitCode ExportHFile(const StoreLocation& /*location*/,
                     const ExportHFileArgs& /*args*/, std::ostream& /*out*/,
                     std::ostream& err, bool /*err_is_terminal*/) {
  return LeftOut(err);
}

ExitCode ImportHFile(const StoreLocation& /*location*/,
                     const ImportHFileArgs& /*args*/, std::ostream& /*out*/,
                     std::ostream& err, bool /*err_is_terminal*/) {
  return LeftOut(err);
}

}  // namespace rowbloom::cli
