// The arguments that verbs share, and the files that they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/result.h"
#include "tools/cli/interruption.h"
#include "tools/cli/program.h"
#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

using cli::Action;
using cli::Streams;

// Calls `use` and returns its code. Complains of a Failure, and returns its
// code.
ExitCode OrComplain(const Diagnostics& err,
                    const std::function<ExitCode()>& use);

// Opens files for a verb, one after the other. An interruption ends the verb
// between two files, data blocks, entries of an index or parts of a filter. A
// process may have one object at a time.
class FileOpener {
 public:
  // The streams must outlive it.
  FileOpener(const Streams& streams, Prints prints)
      : streams_(streams),
        shows_progress_(prints == Prints::kAtTheEnd ||
                        !streams.out_is_terminal) {}

  // Calls `use` with the file. Complains of a file that cannot be opened, and
  // of a Failure of `use`, which does not end the verb. A database in use may
  // delete and write files: one that was `listed` in a directory and is gone,
  // or is not whole and not in the MANIFEST, is no failure.
  using Use = std::function<ExitCode(const TableFile& file)>;
  ExitCode Open(const std::string& path, bool listed, const Use& use) const;
  // Opens a file of a tree. It counts as listed if it existed when the tree was
  // read; otherwise returns kFinding.
  ExitCode Open(const TreeFile& file, const Use& use) const;

 private:
  const Streams& streams_;
  const bool shows_progress_;
  const cli::Interruption interruption_;
};

struct FileArgs {
  std::vector<std::string> paths;
  bool json = false;
  bool hex = false;        // keys and values are printed as hex digits
  std::string key_layout;  // empty: the one that the file names
  std::vector<std::string> db_paths;  // other directories of a database's files

  // Adds the paths, called `name` in the help, and --json. The command must not
  // outlive this.
  void AddTo(CLI::App* command, const char* name = "FILE",
             const char* meaning = "SST or HFile, or a directory of them");
  // Adds --hex, --key-layout, --db-path.
  void AddHexTo(CLI::App* command);
  void AddKeyLayoutTo(CLI::App* command);
  void AddDbPathTo(CLI::App* command);

  // Counts the files: each path, and for a directory its SSTs and HFiles. These
  // are the files named *.sst or *.hfile, and those whose bytes are of either
  // kind. They are processed in the order of their names.
  size_t CountFiles() const;

  // Calls `use` for each file that can be opened, and returns the greatest exit
  // code. Complains of a directory that cannot be listed or has no such files,
  // and continues with the rest.
  using Use = FileOpener::Use;
  ExitCode ForEachFile(const Streams& streams, const Use& use,
                       Prints prints = Prints::kAtTheEnd) const;

  // Calls `use` for the tree of each database that the paths name. Complains
  // as FileOpener does.
  ExitCode ForEachTree(
      const Streams& streams,
      const std::function<ExitCode(DatabaseTree* tree)>& use) const;
};

// Returns the format of a file's own keys. Its layout is `layout_id` if that is
// not empty, else the one that the file's filter or prefix extractor names. It
// has no layout if neither names one, or the layout is unknown. HFiles have
// their own. Error: a bad layout_id, or one for an HFile.
Result<KeyFormat> FormatOf(const TableFile& file, const std::string& layout_id,
                           bool hex);

// Prints each file by itself.
template <typename Args, typename Code>
ExitCode PrintEachFile(const Args& args, const Streams& streams,
                       Code (*print)(const TableFile& file, const Args& args,
                                     const Output& output),
                       Prints prints) {
  const Output output{streams.out, streams.err, args.json};
  return args.ForEachFile(
      streams,
      [&](const TableFile& file) {
        return cli::CodeOf(print, file, args, output);
      },
      prints);
}

// Returns the action of a verb that prints each file by itself (cli::AddVerb).
template <typename Args, typename Code>
Action AddFileVerb(CLI::App* command,
                   Code (*print)(const TableFile& file, const Args& args,
                                 const Output& output),
                   Prints prints = Prints::kAtTheEnd) {
  const auto args = std::make_shared<Args>();
  args->AddTo(command);
  return [args, print, prints](const Streams& streams) {
    return PrintEachFile(*args, streams, print, prints);
  };
}

// The least size of a file that takes long enough to show progress.
inline constexpr uint64_t kProgressBytes = uint64_t{1} << 30;

// Returns a function that shows cli::Progress on `err` until the file is read;
// empty for smaller files and if `err` is no terminal. The stream and the file
// must outlive the function.
TableFile::Progress ProgressOn(const Diagnostics& err, const TableFile& file,
                               uint64_t from_bytes = kProgressBytes);

}  // namespace rowbloom::sst_inspect
