// `rowbloom export-hfile` and `rowbloom import-hfile`: a store's cells to HBase
// and back, as HFiles.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/rowbloom/report.h"
#include "tools/rowbloom/verbs.h"

namespace CLI {
class App;
}

namespace rowbloom::cli {

struct ExportHFileArgs {
  std::vector<std::string> families;
  std::string regions_file;  // empty: none
  uint64_t max_file_bytes = 0;
  std::string compression;
  std::string codec_classes;
  bool keep_deletes = false;
  std::string directory;

  // The command must not outlive this.
  void AddTo(CLI::App* command);
};

// Opens the store for reading, writes HFiles, and prints a summary; warns when
// a bulk load needs its limit of files raised.
ExitCode ExportHFile(const StoreLocation& location, const ExportHFileArgs& args,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal);

struct ImportHFileArgs {
  std::string family;  // empty: as the cells say
  bool latest_as_new = false;
  bool drop_tags = false;
  std::vector<std::string> paths;

  // The command must not outlive this.
  void AddTo(CLI::App* command);
};

// Loads HFiles into a store that is there, all or none, and prints a summary.
ExitCode ImportHFile(const StoreLocation& location, const ImportHFileArgs& args,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal);

}  // namespace rowbloom::cli
