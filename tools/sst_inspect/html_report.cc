#include "tools/sst_inspect/html_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string_view>
#include <system_error>

#include "tools/cli/arguments.h"

namespace rowbloom::sst_inspect {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr std::string_view kFirstBytes = "<!DOCTYPE html>";

// `error` is an errno.
Status CannotWrite(const std::string& path, int error) {
  return Status::IOError(fmt::format("{}: cannot write: {}", path,
                                     std::generic_category().message(error)));
}

// Tells whether a file may be overwritten: a mistake must not cost a table.
bool IsPageOrEmpty(const std::string& path) {
  std::error_code ignored;
  if (fs::is_empty(path, ignored)) return true;
  std::ifstream file(path, std::ios::binary);
  std::string start(kFirstBytes.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kFirstBytes;
}

}  // namespace

void CheckDrawnFiles(size_t files) {
  constexpr size_t kMostFiles = 1000;
  if (files <= kMostFiles) return;
  Require(Error{fmt::format("--html: expected at most {} files, found {}",
                            kMostFiles, files)});
}

HtmlReport::~HtmlReport() {
  if (partial_path_.empty()) return;
  file_.close();
  std::error_code ignored;
  fs::remove(partial_path_, ignored);
}

Status HtmlReport::Open() {
  if (is_standard_output()) return Status::OK();
  std::error_code ignored;
  const bool exists = fs::exists(path_, ignored);
  if (exists && fs::is_directory(path_, ignored)) {
    return CannotWrite(path_, EISDIR);
  }
  // A link stays, such as /dev/stdout, whose file is the shell's.
  const bool replace = !fs::is_symlink(path_, ignored) &&
                       (!exists || fs::is_regular_file(path_, ignored));
  // Another run may write the same page.
  const std::string target =
      replace ? fmt::format("{}.{}.part", path_, getpid()) : path_;
  for (const std::string& path : {path_, target}) {
    if (!fs::is_regular_file(path, ignored) || IsPageOrEmpty(path)) continue;
    return Status::InvalidArgument(fmt::format(
        "{}: not overwritten: expected an HTML page or nothing there, found "
        "a file that does not start with {}",
        path, kFirstBytes));
  }
  // A link there is somebody else's, and leads to a file of theirs.
  if (replace && fs::is_symlink(target, ignored)) {
    return CannotWrite(target, ELOOP);
  }
  errno = 0;
  file_.open(target, std::ios::binary | std::ios::trunc);
  if (!file_.is_open()) return CannotWrite(target, errno);
  if (replace) partial_path_ = target;
  return Status::OK();
}

void HtmlReport::Write(const std::function<void(std::ostream& out)>& part) {
  if (error_ != 0) return;
  std::ostream& out = is_standard_output() ? output_.out : file_;
  errno = 0;
  if (parts_++ == 0) StartPage(title_, out);
  part(out);
  if (!out.flush()) error_ = errno != 0 ? errno : EIO;
}

ExitCode HtmlReport::Add(const TableFile& file, const PictureBudget& budget) {
  FilePicture picture;
  const Status status = DrawFile(file, budget, &picture);
  const bool is_first = parts_ == 0;
  Write([&](std::ostream& out) { AddToPage(picture, is_first, out); });
  ExitCode worst = picture.damaged > 0 ? ExitCode::kFinding : ExitCode::kOk;
  if (!status.ok()) worst = std::max(worst, Judge(output_.err, status));
  return worst;
}

Status HtmlReport::Finish() {
  if (parts_ == 0) return Status::OK();
  Write([](std::ostream& out) { FinishPage(out); });
  if (error_ != 0) {
    return CannotWrite(is_standard_output() ? "standard output" : path_,
                       error_);
  }
  if (is_standard_output()) return Status::OK();
  // Some file systems report at the end that a write failed.
  errno = 0;
  file_.close();
  if (file_.fail()) return CannotWrite(path_, errno != 0 ? errno : EIO);
  if (partial_path_.empty()) return Status::OK();
  std::error_code failed;
  fs::rename(partial_path_, path_, failed);
  if (failed) return CannotWrite(path_, failed.value());
  partial_path_.clear();
  return Status::OK();
}

ExitCode WriteHtml(const std::string& path, const std::string& title,
                   const Streams& streams,
                   const std::function<ExitCode(HtmlReport* report)>& draw) {
  const Output output{streams.out, streams.err};
  HtmlReport report(path, title, output);
  Require(report.Open());
  const ExitCode worst = draw(&report);
  Require(report.Finish());
  return worst;
}

void AddHtmlTo(CLI::App* command, const char* meaning, std::string* path) {
  cli::AddOptionTo(command, "--html", path, meaning, "FILE")
      ->check([](const std::string& file) {
        return std::string(file.empty() ? "expected a path, found none" : "");
      })
      ->excludes("--json");
}

Action AddDrawn(CLI::App* command,
                ExitCode (*print)(const TableFile& file, const DrawnArgs& args,
                                  const Output& output)) {
  const auto args = std::make_shared<DrawnArgs>();
  args->AddTo(command);
  AddHtmlTo(command,
            "Write a page of the blocks and of the fill of the filters to this "
            "file, - for standard output, instead of text",
            &args->html);
  return [args, print](const Streams& streams) {
    if (args->html.empty()) {
      return PrintEachFile(*args, streams, print, Prints::kAllTheWhile);
    }
    const size_t files = args->CountFiles();
    CheckDrawnFiles(files);
    const PictureBudget budget = PictureBudget::Among(files);
    const std::string title = args->paths.size() == 1
                                  ? args->paths.front()
                                  : fmt::format("{} files", files);
    return WriteHtml(args->html, title, streams, [&](HtmlReport* report) {
      return args->ForEachFile(streams, [&](const TableFile& file) {
        return report->Add(file, budget);
      });
    });
  };
}

}  // namespace rowbloom::sst_inspect
