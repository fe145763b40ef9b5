// The page that --html writes, and the verbs that can draw each file on it.
#pragma once

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "rocksdb/status.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/sst_inspect/html_page.h"
#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

// Throws a Failure if `files` is too many for one page.
void CheckDrawnFiles(size_t files);

// Writes a page part by part. An existing file stays until Finish. Unless that
// succeeds, the destructor removes the unfinished page. Neither holds for a
// path that is a link, through which the page is written.
class HtmlReport {
 public:
  // `path` "-" is standard output. The output must outlive the report.
  HtmlReport(std::string path, std::string title, const Output& output)
      : path_(std::move(path)), title_(std::move(title)), output_(output) {}
  ~HtmlReport();
  HtmlReport(const HtmlReport&) = delete;
  HtmlReport& operator=(const HtmlReport&) = delete;

  // Call it first. InvalidArgument: the path, or that of the unfinished page,
  // has a file that is no page; IOError: it cannot be written.
  rocksdb::Status Open();
  // Draws one more file, which is read whole.
  ExitCode Add(const TableFile& file, const PictureBudget& budget);
  // Draws a database.
  void Add(const DatabaseTree& tree, const KeyFormat& keys) {
    Write([&](std::ostream& out) { AddToPage(tree, keys, out); });
  }
  // Call it last. Writes nothing if nothing was added.
  rocksdb::Status Finish();

 private:
  // Writes one more part of the page, after its head.
  void Write(const std::function<void(std::ostream& out)>& part);
  bool is_standard_output() const { return path_ == "-"; }

  const std::string path_;
  const std::string title_;
  const Output& output_;
  // The path of the unfinished page; empty: there is none but path_ itself.
  std::string partial_path_;
  std::ofstream file_;
  size_t parts_ = 0;
  int error_ = 0;  // the errno of the first write that failed
};

// Writes the page of a command at `path`: opens it, lets `draw` add to it, and
// finishes it. Throws a Failure if it cannot be written.
ExitCode WriteHtml(const std::string& path, const std::string& title,
                   const Streams& streams,
                   const std::function<ExitCode(HtmlReport* report)>& draw);

// Adds --html, whose description is `meaning`.
void AddHtmlTo(CLI::App* command, const char* meaning, std::string* path);

// The arguments of a verb that prints or draws each file.
struct DrawnArgs : FileArgs {
  std::string html;  // empty: text
};

// Adds DrawnArgs. The action prints each file, or draws all of them on one
// page.
Action AddDrawn(CLI::App* command,
                ExitCode (*print)(const TableFile& file, const DrawnArgs& args,
                                  const Output& output));

}  // namespace rowbloom::sst_inspect
