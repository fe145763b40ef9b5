// The arguments that verbs share, and the files that they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/program.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

using cli::Action;
using cli::Streams;

// The time at which a verb prints its output.
enum class Prints : uint8_t {
  kAtTheEnd,     // after each file
  kAllTheWhile,  // which on a terminal is progress enough
};

struct FileArgs {
  std::vector<std::string> paths;
  bool json = false;
  bool hex = false;        // keys and values are printed as hex digits
  std::string key_layout;  // empty: as the file says

  // Adds FILE and --json. The command must not outlive this.
  void AddTo(CLI::App* command);
  // Adds --hex, --key-layout.
  void AddHexTo(CLI::App* command);
  void AddKeyLayoutTo(CLI::App* command);

  // The files: each path, and of a directory its SSTs and HFiles in the order
  // of their names: what is called *.sst or *.hfile, and what has the bytes of
  // either.
  size_t CountFiles() const;

  // Calls `use` for each file that can be opened, and returns the greatest exit
  // code. Complains of a directory that cannot be listed or has no such files,
  // and goes on with the rest. A database in use may delete files meanwhile:
  // one that was found in a directory and is gone is no failure. An
  // interruption ends it between two blocks of data.
  using Use = std::function<ExitCode(const TableFile& file)>;
  ExitCode ForEachFile(const Streams& streams, const Use& use,
                       Prints prints = Prints::kAtTheEnd) const;
};

// The action that prints each file by itself.
template <typename Args>
Action EachFile(std::shared_ptr<Args> args,
                ExitCode (*print)(const TableFile& file, const Args& args,
                                  const Output& output),
                Prints prints = Prints::kAtTheEnd) {
  return [args, print, prints](const Streams& streams) {
    const Output output{streams.out, streams.err, args->json};
    return args->ForEachFile(
        streams,
        [&](const TableFile& file) { return print(file, *args, output); },
        prints);
  };
}

// The bytes that were typed with \xHH, if any were.
std::optional<std::string> Typed(const std::optional<std::string>& text);

// Files from this size on take long enough to say how far they are read.
inline constexpr uint64_t kProgressBytes = uint64_t{1} << 30;

// Shows cli::Progress on `err` until the file is read; empty for smaller files
// and if `err` is no terminal. The stream and the file must outlive the
// function.
TableFile::Progress ProgressOn(const Diagnostics& err, const TableFile& file,
                               uint64_t from_bytes = kProgressBytes);

}  // namespace rowbloom::sst_inspect
