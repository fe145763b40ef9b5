#include "tools/sst_inspect/html_report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "rocksdb/status.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/sst_inspect/html_page.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr std::string_view kFirstBytes = "<!DOCTYPE html>";

Status CannotWrite(const std::string& path, int error) {
  return Status::IOError(fmt::format("{}: cannot write: {}", path,
                                     std::generic_category().message(error)));
}

// A slip on the command line must not cost a table file.
bool IsPageOrEmpty(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kFirstBytes.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file.gcount() == 0 || start == kFirstBytes;
}

// The page, file by file.
class HtmlReport {
 public:
  HtmlReport(const std::string& path, size_t files, const Output& output)
      : path_(path),
        files_(files),
        budget_(PictureBudget::Among(files)),
        output_(output) {}
  // A page that is not finished is removed.
  ~HtmlReport() {
    if (!file_.is_open() || partial_path_.empty()) return;
    file_.close();
    std::error_code ignored;
    fs::remove(partial_path_, ignored);
  }
  HtmlReport(const HtmlReport&) = delete;
  HtmlReport& operator=(const HtmlReport&) = delete;

  // Opens the page; "-" is standard output. A file that is there stays until
  // Finish. InvalidArgument if it is no page; IOError if it cannot be written.
  Status Open() {
    if (path_ == "-") return Status::OK();
    std::error_code ignored;
    const bool exists = fs::exists(path_, ignored);
    if (exists && fs::is_directory(path_, ignored)) {
      return CannotWrite(path_, EISDIR);
    }
    const bool replace = !exists || fs::is_regular_file(path_, ignored);
    if (exists && replace && !IsPageOrEmpty(path_)) {
      return Status::InvalidArgument(fmt::format(
          "{}: not overwritten: expected an HTML page or nothing there, found "
          "a file that does not start with {}",
          path_, kFirstBytes));
    }
    if (replace) partial_path_ = path_ + ".part";
    const std::string& target = replace ? partial_path_ : path_;
    errno = 0;
    file_.open(target, std::ios::binary | std::ios::trunc);
    return file_.is_open() ? Status::OK() : CannotWrite(target, errno);
  }

  // Draws one more file, which is read whole.
  ExitCode Add(const TableFile& file) {
    FilePicture picture;
    const Status status = DrawFile(file, budget_, &picture);
    if (!page_) {
      page_.emplace(
          files_ == 1 ? file.path() : fmt::format("{} files", files_),
          path_ == "-" ? output_.out : static_cast<std::ostream&>(file_));
    }
    page_->Add(picture);
    ExitCode worst = picture.damaged > 0 ? ExitCode::kFinding : ExitCode::kOk;
    if (!status.ok()) worst = std::max(worst, Judge(output_.err, status));
    return worst;
  }

  // Call it last. Writes nothing without a file.
  Status Finish() {
    if (!page_) return Status::OK();
    page_->Finish();
    errno = 0;
    if (path_ == "-") {
      return output_.out.flush() ? Status::OK()
                                 : CannotWrite("standard output", errno);
    }
    file_.flush();
    const bool written = file_.good();
    const int error = errno;
    if (!written) return CannotWrite(path_, error);
    file_.close();
    if (partial_path_.empty()) return Status::OK();
    std::error_code failed;
    fs::rename(partial_path_, path_, failed);
    return failed ? CannotWrite(path_, failed.value()) : Status::OK();
  }

 private:
  const std::string& path_;
  const size_t files_;
  const PictureBudget budget_;
  const Output& output_;
  std::string partial_path_;  // until all is there; empty: straight to path_
  std::ofstream file_;
  std::optional<HtmlPage> page_;  // from the first file on
};

ExitCode Draw(const DrawnArgs& args, const Streams& streams) {
  const size_t files = args.CountFiles();
  constexpr size_t kMostFiles = 1000;  // more have no place on one page
  if (files > kMostFiles) {
    return Fail(streams.err,
                fmt::format("--html: expected at most {} files, found {}",
                            kMostFiles, files));
  }
  const Output output{streams.out, streams.err};
  HtmlReport report(args.html, files, output);
  Status status = report.Open();
  if (!status.ok()) return Judge(streams.err, status);
  const ExitCode worst = args.ForEachFile(
      streams, [&](const TableFile& file) { return report.Add(file); });
  status = report.Finish();
  return status.ok() ? worst : Judge(streams.err, status);
}

}  // namespace

Action AddDrawn(CLI::App* command,
                ExitCode (*print)(const TableFile& file, const DrawnArgs& args,
                                  const Output& output)) {
  const auto args = std::make_shared<DrawnArgs>();
  args->AddTo(command);
  command
      ->add_option("--html", args->html,
                   "Draw the blocks and the fill of the filters as a page "
                   "there, - for standard output, instead of text")
      ->type_name("FILE")
      ->excludes("--json");
  return [args, print](const Streams& streams) {
    return args->html.empty()
               ? EachFile(args, print, Prints::kAllTheWhile)(streams)
               : Draw(*args, streams);
  };
}

}  // namespace rowbloom::sst_inspect
