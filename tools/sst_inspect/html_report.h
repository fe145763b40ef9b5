// HtmlReport: the page that --html writes.
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/status.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/html_page.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

class HtmlReport {
 public:
  // More have no place on one page.
  static constexpr size_t kMostFiles = 1000;

  // Opens a report of `files` files; `path` "-" is output.out. A file at the
  // path stays until Finish. InvalidArgument if something is there that is no
  // page; IOError if it cannot be written.
  static rocksdb::Status Open(const std::string& path, size_t files,
                              const Output& output,
                              std::unique_ptr<HtmlReport>* report);
  // A page that is not finished is removed.
  ~HtmlReport();

  // Draws one more file, which is read whole.
  ExitCode Add(const TableFile& file);
  // Call it last. Writes nothing without a file.
  rocksdb::Status Finish();

 private:
  HtmlReport(std::string path, size_t files, const Output& output);

  const std::string path_;
  const size_t files_;
  const PictureBudget budget_;
  const Output& output_;
  std::string partial_path_;  // until all is there; empty: straight to path_
  std::ofstream file_;
  std::optional<HtmlPage> page_;  // from the first file on
};

// The arguments of a verb that is drawn, too.
struct DrawnArgs : FileArgs {
  std::string html;  // empty: text
};

// Adds them. The action prints each file, or draws all of them.
Action AddDrawn(CLI::App* command,
                ExitCode (*print)(const TableFile& file, const DrawnArgs& args,
                                  const Output& output));

}  // namespace rowbloom::sst_inspect
