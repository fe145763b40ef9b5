#include "tools/cli/report.h"

#include <istream>
#include <ostream>

#include "lib/bytes/text.h"
#include "tools/cli/text.h"

namespace rowbloom::cli {

bool Confirm(const Streams& streams, bool yes, std::string_view question) {
  if (yes || !streams.in_is_terminal) return true;
  streams.err.stream << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(streams.in, answer);
  return EqualInAnyCase(answer, "y") || EqualInAnyCase(answer, "yes");
}

ExitCode FailedBy(int signal) {
  constexpr int kSignalBase = 128;
  if (signal == 0) return ExitCode::kFailed;
  return static_cast<ExitCode>(kSignalBase + signal);
}

ExitCode CodeOf(const rocksdb::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  return status.IsCorruption() ? ExitCode::kFinding : ExitCode::kFailed;
}

std::string Describe(const rocksdb::Status& status) {
  const bool speaks_for_itself =
      status.IsInvalidArgument() || status.IsNotFound() ||
      status.IsNotSupported() || status.IsCorruption() || status.IsIOError();
  return WithoutControls(speaks_for_itself && status.getState() != nullptr
                             ? status.getState()
                             : status.ToString());
}

std::istream& InputOf(const Streams& streams) {
  if (streams.session != nullptr && !streams.in_is_terminal) {
    Require(Error{
        "-: standard input has the commands of the shell: give a value or a "
        "file"});
  }
  return streams.in;
}

void Require(const rocksdb::Status& status) {
  if (status.ok()) return;
  throw Failure(Describe(status), CodeOf(status));
}

void Require(const std::optional<Error>& error) {
  if (error) throw Failure(error->message, ExitCode::kFailed);
}

void Complain(const Diagnostics& err, std::string_view problem) {
  err.stream << err.program << ": " << WithoutControls(problem) << "\n";
}

ExitCode Fail(const Diagnostics& err, std::string_view problem) {
  Complain(err, problem);
  return ExitCode::kFailed;
}

ExitCode Judge(const Diagnostics& err, const rocksdb::Status& status) {
  Complain(err, Describe(status));
  return CodeOf(status);
}

}  // namespace rowbloom::cli
