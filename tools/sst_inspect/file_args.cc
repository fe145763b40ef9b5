#include "tools/sst_inspect/file_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "tools/cli/arguments.h"
#include "tools/cli/progress.h"

namespace rowbloom::sst_inspect {
namespace {

namespace fs = std::filesystem;

struct ListedFile {
  std::string path;
  bool listed = false;  // found in a directory; false: an argument
};

// Tells whether a file is a table file by its name, whatever its damage.
bool IsNamedAsTable(const fs::path& path) {
  return path.extension() == ".sst" || path.extension() == ".hfile";
}

ExitCode ExpandDirectory(const std::string& path, const Diagnostics& err,
                         std::vector<ListedFile>* files) {
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
    return Fail(err, path + ": cannot list: " + error.message());
  }
  if (found.empty()) {
    return Fail(err, path + ": a directory without SSTs and HFiles");
  }
  std::sort(found.begin(), found.end());
  for (std::string& file : found) files->push_back({std::move(file), true});
  return ExitCode::kOk;
}

// Tells whether a file is in the directory of a database whose MANIFEST does
// not name it: a process may be writing it, or a crash may have left it.
bool IsUnnamed(const fs::path& file) {
  DatabaseTree tree;
  const std::string database = file.parent_path().string();
  if (!IsDatabase(database) || !ReadTree(database, {}, &tree).ok()) {
    return false;
  }
  for (const TreeFamily& family : tree.families) {
    for (const TreeFile& named : family.files) {
      if (fs::path(named.path).filename() == file.filename()) return false;
    }
  }
  return true;
}

ExitCode ExpandInputs(const std::vector<std::string>& paths,
                      const Diagnostics& err, std::vector<ListedFile>* files) {
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

}  // namespace

ExitCode OrComplain(const Diagnostics& err,
                    const std::function<ExitCode()>& use) {
  try {
    return use();
  } catch (const cli::Failure& failure) {
    Complain(err, failure.what());
    return failure.code();
  }
}

void FileArgs::AddTo(CLI::App* command, const char* name, const char* meaning) {
  cli::AddArgumentsTo(command, name, &paths, meaning)->required();
  cli::AddJsonTo(command, &json);
}

void FileArgs::AddHexTo(CLI::App* command) {
  command->add_flag("--hex", hex, "Print keys and values as hex digits");
}

void FileArgs::AddKeyLayoutTo(CLI::App* command) {
  cli::AddOptionTo(command, "--key-layout", &key_layout,
                   "How keys split: escaped, fixed:N, delimited:C, u16; "
                   "default: as the file's filter or extractor says",
                   "LAYOUT")
      ->check([](const std::string& layout) {
        const auto known = KeyLayout::FromString(layout);
        return known ? std::string() : known.error();
      });
}

void FileArgs::AddDbPathTo(CLI::App* command) {
  cli::AddListTo(command, "--db-path", &db_paths,
                 "Another directory that files of the database are in; may be "
                 "given again",
                 "DIR");
}

size_t FileArgs::CountFiles() const {
  std::ostringstream told_later;
  std::vector<ListedFile> files;
  ExpandInputs(paths, {told_later}, &files);
  return files.size();
}

ExitCode FileArgs::ForEachFile(const Streams& streams, const Use& use,
                               Prints prints) const {
  const FileOpener opener(streams, prints);
  std::vector<ListedFile> files;
  ExitCode worst = ExpandInputs(paths, streams.err, &files);
  for (const ListedFile& input : files) {
    worst = std::max(worst, opener.Open(input.path, input.listed, use));
  }
  return worst;
}

ExitCode FileArgs::ForEachTree(
    const Streams& streams,
    const std::function<ExitCode(DatabaseTree* tree)>& use) const {
  ExitCode worst = ExitCode::kOk;
  for (const std::string& path : paths) {
    DatabaseTree tree;
    worst = std::max(worst, OrComplain(streams.err, [&] {
                       Require(ReadTree(path, db_paths, &tree));
                       const ExitCode code =
                           tree.options.ok() ? ExitCode::kOk
                                             : Judge(streams.err, tree.options);
                       return std::max(code, use(&tree));
                     }));
  }
  return worst;
}

ExitCode FileOpener::Open(const std::string& path, bool listed,
                          const Use& use) const {
  interruption_.Check(streams_.out);
  std::unique_ptr<TableFile> file;
  rocksdb::Status status = OpenTable(path, &file);
  std::error_code ignored;
  // A link without its file is not gone, nor is a file whose directory may not
  // be searched.
  if (!status.ok() && listed &&
      fs::symlink_status(path, ignored).type() == fs::file_type::not_found) {
    Complain(streams_.err, path + ": gone since it was listed");
    return ExitCode::kOk;
  }
  if (status.IsCorruption() && listed) {
    if (IsUnnamed(path)) {
      Complain(streams_.err, path + ": not whole, and not in the MANIFEST");
      return ExitCode::kOk;
    }
    status = OpenTable(path, &file);  // it may be whole by now
  }
  return OrComplain(streams_.err, [&] {
    Require(status);
    file->SetProgress([&, show = shows_progress_
                                     ? ProgressOn(streams_.err, *file)
                                     : nullptr](uint64_t offset_bytes) {
      interruption_.Check(streams_.out);
      if (show) show(offset_bytes);
    });
    return use(*file);
  });
}

ExitCode FileOpener::Open(const TreeFile& file, const Use& use) const {
  if (!file.missing) return Open(file.path, /*listed=*/true, use);
  return Judge(streams_.err,
               rocksdb::Status::Corruption(
                   file.path + ": named by the MANIFEST, and not there"));
}

TableFile::Progress ProgressOn(const Diagnostics& err, const TableFile& file,
                               uint64_t from_bytes) {
  const uint64_t size_bytes = file.size_bytes();
  if (!err.is_terminal || size_bytes < from_bytes) return {};
  const cli::Job job{WithoutControls(file.path()), size_bytes, ""};
  return [size_bytes, progress = std::make_shared<cli::Progress>(err, job)](
             uint64_t offset_bytes) {
    if (offset_bytes < size_bytes) {
      progress->Update(offset_bytes);
    } else {
      progress->Finish();
    }
  };
}

Result<KeyFormat> FormatOf(const TableFile& file, const std::string& layout_id,
                           bool hex) {
  KeyFormat format{.hex = hex,
                   .form = file.key_form(),
                   .timestamp_bytes = file.timestamp_bytes()};
  if (format.form == KeyForm::kHFile) {
    format.family = file.Facts().column_family;
    if (layout_id.empty()) return format;
    return Error{file.path() +
                 ": --key-layout is for SSTs, HFiles have their own"};
  }
  const std::string id = layout_id.empty() ? file.KeyLayoutId() : layout_id;
  if (id.empty()) return format;
  const auto layout = KeyLayout::FromString(id);
  if (layout) {
    format.layout = *layout;
  } else if (layout_id.empty()) {
    format.layout_problem = layout.error();
  } else {
    return Error{"--key-layout: " + layout.error()};
  }
  return format;
}

}  // namespace rowbloom::sst_inspect
