#include "tools/sst_inspect/html_report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/sst_inspect/file_picture.h"
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

}  // namespace

HtmlReport::HtmlReport(std::string path, size_t files, const Output& output)
    : path_(std::move(path)),
      files_(files),
      budget_(PictureBudget::Among(files)),
      output_(output) {}

HtmlReport::~HtmlReport() {
  if (!file_.is_open() || partial_path_.empty()) return;
  file_.close();
  std::error_code ignored;
  fs::remove(partial_path_, ignored);
}

Status HtmlReport::Open(const std::string& path, size_t files,
                        const Output& output,
                        std::unique_ptr<HtmlReport>* report) {
  std::unique_ptr<HtmlReport> opened(new HtmlReport(path, files, output));
  if (path != "-") {
    std::error_code ignored;
    const bool exists = fs::exists(path, ignored);
    if (exists && fs::is_directory(path, ignored)) {
      return CannotWrite(path, EISDIR);
    }
    const bool replace = !exists || fs::is_regular_file(path, ignored);
    if (exists && replace && !IsPageOrEmpty(path)) {
      return Status::InvalidArgument(fmt::format(
          "{}: not overwritten: expected an HTML page or nothing there, found "
          "a file that does not start with {}",
          path, kFirstBytes));
    }
    if (replace) opened->partial_path_ = path + ".part";
    const std::string& target = replace ? opened->partial_path_ : path;
    errno = 0;
    opened->file_.open(target, std::ios::binary | std::ios::trunc);
    if (!opened->file_.is_open()) return CannotWrite(target, errno);
  }
  *report = std::move(opened);
  return Status::OK();
}

ExitCode HtmlReport::Add(const TableFile& file) {
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

Status HtmlReport::Finish() {
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

namespace {

ExitCode Draw(const DrawnArgs& args, const Streams& streams) {
  const size_t files = args.CountFiles();
  if (files > HtmlReport::kMostFiles) {
    return Fail(streams.err,
                fmt::format("--html: expected at most {} files, found {}",
                            HtmlReport::kMostFiles, files));
  }
  const Output output{streams.out, streams.err};
  std::unique_ptr<HtmlReport> report;
  Status status = HtmlReport::Open(args.html, files, output, &report);
  if (!status.ok()) return Judge(streams.err, status);
  const ExitCode worst = args.ForEachFile(
      streams, [&](const TableFile& file) { return report->Add(file); });
  status = report->Finish();
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
