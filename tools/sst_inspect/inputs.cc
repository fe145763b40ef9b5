#include "tools/sst_inspect/inputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/sst_inspect/file_kind.h"

namespace rowbloom::sst_inspect {
namespace {

namespace fs = std::filesystem;

// Files of such names are table files, however damaged.
bool IsNamedAsTable(const fs::path& path) {
  return path.extension() == ".sst" || path.extension() == ".hfile";
}

ExitCode ExpandDirectory(const std::string& path, std::ostream& err,
                         std::vector<InputFile>* files) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().string();
    if (IsNamedAsTable(entry->path()) || KindOf(name) != FileKind::kOther) {
      found.push_back(name);
    }
  }
  if (error) {
    return ReportUsage(path + ": cannot list: " + error.message(), err);
  }
  if (found.empty()) {
    return ReportUsage(path + ": a directory without SSTs and HFiles", err);
  }
  std::sort(found.begin(), found.end());
  for (std::string& file : found) files->push_back({std::move(file), true});
  return ExitCode::kOk;
}

}  // namespace

ExitCode ExpandInputs(const std::vector<std::string>& paths, std::ostream& err,
                      std::vector<InputFile>* files) {
  ExitCode worst = ExitCode::kOk;
  for (const std::string& path : paths) {
    std::error_code ignored;  // opening the file reports it
    if (fs::is_directory(path, ignored)) {
      worst = std::max(worst, ExpandDirectory(path, err, files));
    } else {
      files->push_back({path, false});
    }
  }
  return worst;
}

}  // namespace rowbloom::sst_inspect
