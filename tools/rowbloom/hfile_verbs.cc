#include "tools/rowbloom/hfile_verbs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <system_error>

#include "rowbloom/hfile_transfer.h"
#include "rowbloom/printable.h"
#include "rowbloom/result.h"
#include "rowbloom/store.h"
#include "tools/rowbloom/line_reader.h"
#include "tools/terminal/progress.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

const std::map<std::string, HFileCompression> kCompressions = {
    {"NONE", HFileCompression::kNone}, {"GZ", HFileCompression::kGz},
    {"LZ4", HFileCompression::kLz4},   {"SNAPPY", HFileCompression::kSnappy},
    {"ZSTD", HFileCompression::kZstd},
};

const std::map<std::string, HFileCodecClasses> kCodecClasses = {
    {"hadoop", HFileCodecClasses::kHadoop},
    {"native", HFileCodecClasses::kHBaseNative},
    {"aircompressor", HFileCodecClasses::kHBaseAircompressor},
};

// Names of a map, for CLI11.
template <typename Value>
std::vector<std::string> Names(const std::map<std::string, Value>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

// The rows that a file has, one a line.
Result<std::vector<std::string>> ReadRows(const std::string& path) {
  // As \xHH each byte takes four.
  constexpr size_t kMaxLineBytes = 4 * kHFileMaxRowBytes;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    const std::error_code why(errno, std::generic_category());
    return Error{path + ": " + why.message()};
  }
  std::vector<std::string> rows;
  LineReader lines(file, kMaxLineBytes);
  while (true) {
    std::string_view line;
    switch (lines.Next(&line)) {
      case LineReader::Outcome::kLine:
        if (!line.empty()) rows.push_back(FromPrintable(line));
        break;
      case LineReader::Outcome::kEnd:
        return rows;
      case LineReader::Outcome::kTooLong:
        return Error{fmt::format("{}:{}: a line of more than {} bytes", path,
                                 lines.line_number(), kMaxLineBytes)};
      case LineReader::Outcome::kReadError:
        return Error{
            fmt::format("{}:{}: cannot be read", path, lines.line_number())};
    }
  }
}

// Shows what a transfer tells of itself.
HFileProgressCallback ShowIn(terminal::Progress* progress) {
  return [progress](const HFileProgress& done) {
    progress->Update(done.cell_bytes, done.cells);
    return true;
  };
}

Status OpenStore(const StoreLocation& location, bool read_only,
                 std::unique_ptr<Store>* store) {
  StoreOptions options;
  options.create_if_missing = false;
  options.read_only = read_only;
  options.key_layout = location.key_layout;
  return Store::Open(options, location.db, {}, store);
}

// What an export that failed has done.
std::string WhatIsThere(const HFileExportReport& report) {
  std::set<std::string> families;
  for (const HFileExported& file : report.files) families.insert(file.family);
  if (families.empty()) return "nothing was exported";
  std::string names;
  for (const std::string& name : families) {
    names += names.empty() ? name : ", " + name;
  }
  return "exported: " + names;
}

}  // namespace

void ExportHFileArgs::AddTo(CLI::App* command) {
  command
      ->add_option("--family", families, "To export; repeatable; default all")
      ->allow_extra_args(false)
      ->type_name("F");
  command
      ->add_option("--regions", regions_file,
                   "The rows at which the table's regions start, one a line, "
                   "\\xHH for any byte")
      ->type_name("FILE");
  max_file_bytes = HFileExportOptions().max_file_bytes;
  command
      ->add_option("--max-file-bytes", max_file_bytes,
                   "After which the next file begins, with a row")
      ->check(CLI::PositiveNumber)
      ->type_name("BYTES")
      ->capture_default_str();
  compression = "NONE";
  command->add_option("--compression", compression, "Of the files")
      ->check(CLI::IsMember(Names(kCompressions)))
      ->type_name("")
      ->capture_default_str();
  codec_classes = "hadoop";
  command
      ->add_option("--codec-classes", codec_classes,
                   "Whose codecs the cluster has: Hadoop's, HBase's native "
                   "ones, or its aircompressor's")
      ->check(CLI::IsMember(Names(kCodecClasses)))
      ->type_name("")
      ->capture_default_str();
  command->add_flag("--keep-deletes", keep_deletes,
                    "Export the deletes, too, not only what they left");
  command->add_option("OUT", directory, "A directory that is new or empty")
      ->required()
      ->type_name("");
}

ExitCode ExportHFile(const StoreLocation& location, const ExportHFileArgs& args,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal) {
  HFileExportOptions options;
  options.families = args.families;
  options.max_file_bytes = args.max_file_bytes;
  options.deletes =
      args.keep_deletes ? HFileDeletes::kKept : HFileDeletes::kApplied;
  options.file.compression = kCompressions.at(args.compression);
  options.file.codec_classes = kCodecClasses.at(args.codec_classes);
  if (!args.regions_file.empty()) {
    auto rows = ReadRows(args.regions_file);
    if (!rows) {
      Complain(err, rows.error());
      return ExitCode::kFailed;
    }
    options.region_start_rows = *std::move(rows);
  }
  std::unique_ptr<Store> store;
  if (Status s = OpenStore(location, /*read_only=*/true, &store); !s.ok()) {
    Complain(err, Describe(s));
    return ExitCode::kFailed;
  }
  terminal::Progress progress(
      err, err_is_terminal,
      {ToPrintable(args.directory), std::nullopt, "cells"});
  options.progress = ShowIn(&progress);
  HFileExportReport report;
  const Status s = ExportHFiles(options, store.get(), args.directory, &report);
  progress.Finish();
  if (!s.ok()) {
    Complain(err, Describe(s) + "; " + WhatIsThere(report));
    return ExitCode::kFailed;
  }
  uint64_t cells = 0;
  uint64_t file_bytes = 0;
  for (const HFileExported& file : report.files) {
    cells += file.cells;
    file_bytes += file.file_bytes;
  }
  if (report.most_files_per_region > kHFilesPerRegion) {
    Complain(err,
             fmt::format(
                 "warning: {0} files for one region and family; the bulk load "
                 "needs -Dhbase.mapreduce.bulkload.max.hfiles.perRegion."
                 "perFamily={0}",
                 report.most_files_per_region));
  }
  out << fmt::format("{} files, {} cells, {} bytes, {:.2f} s\n",
                     report.files.size(), cells, file_bytes,
                     progress.seconds());
  return ExitCode::kOk;
}

void ImportHFileArgs::AddTo(CLI::App* command) {
  command
      ->add_option("--family", family,
                   "Where all cells go; default: as the cells say")
      ->type_name("F");
  command->add_flag("--latest-as-new", latest_as_new,
                    "Where a family keeps the latest version only, write the "
                    "newest of each cell, now");
  command->add_flag("--drop-tags", drop_tags, "Take cells without their tags");
  command
      ->add_option("PATH", paths,
                   "HFiles, and directories of a bulk load, region or table")
      ->required()
      ->type_name("");
}

ExitCode ImportHFile(const StoreLocation& location, const ImportHFileArgs& args,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal) {
  std::unique_ptr<Store> store;
  if (Status s = OpenStore(location, /*read_only=*/false, &store); !s.ok()) {
    Complain(err, Describe(s));
    return ExitCode::kFailed;
  }
  HFileImportOptions options;
  options.family = args.family;
  options.latest_as_new = args.latest_as_new;
  options.drop_tags = args.drop_tags;
  terminal::Progress progress(
      err, err_is_terminal,
      {ToPrintable(args.paths.front()), std::nullopt, "cells"});
  options.progress = ShowIn(&progress);
  HFileImportReport report;
  const Status s = ImportHFiles(options, args.paths, store.get(), &report);
  progress.Finish();
  if (!s.ok()) {
    Complain(err, Describe(s) + "; nothing was imported");
    return ExitCode::kFailed;
  }
  out << fmt::format(
      "{} files, {} cells; loaded {} puts and {} deletes, skipped {}; "
      "{:.2f} s\n",
      report.files, report.cells, report.puts, report.deletes, report.skipped,
      progress.seconds());
  return ExitCode::kOk;
}

}  // namespace rowbloom::cli
