#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile_transfer.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/cli/input.h"
#include "tools/cli/interruption.h"
#include "tools/cli/progress.h"
#include "tools/rowbloom/line_reader.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

const std::map<std::string, HFileCompression> kCompressions = {
    {"NONE", HFileCompression::kNone}, {"GZ", HFileCompression::kGz},
    {"LZ4", HFileCompression::kLz4},   {"SNAPPY", HFileCompression::kSnappy},
    {"ZSTD", HFileCompression::kZstd},
};

const std::map<std::string, HFileEncoding> kEncodings = {
    {"NONE", HFileEncoding::kNone},
    {"PREFIX", HFileEncoding::kPrefix},
    {"DIFF", HFileEncoding::kDiff},
    {"FAST_DIFF", HFileEncoding::kFastDiff},
    {"ROW_INDEX_V1", HFileEncoding::kRowIndexV1},
};

const std::map<std::string, HFileCodecClasses> kCodecClasses = {
    {"hadoop", HFileCodecClasses::kHadoop},
    {"native", HFileCodecClasses::kHBaseNative},
    {"aircompressor", HFileCodecClasses::kHBaseAircompressor},
};

// Adds an option that takes one of the names.
template <typename Value>
void AddChoiceTo(CLI::App* command, const char* name, std::string* choice,
                 const std::map<std::string, Value>& values,
                 const char* meaning, const char* unit) {
  AddOptionTo(command, name, choice, meaning, unit)
      ->transform(CLI::IsMember(values, CLI::ignore_case))
      ->capture_default_str();
}

// The rows that a file has, one a line, which may end as those of Windows do: a
// carriage return of a row is \x0D. A file that cannot be read ends the verb.
std::vector<std::string> ReadRows(const std::string& path) {
  // Each byte takes four characters as \xHH.
  constexpr size_t kMaxLineBytes = 4 * kHFileMaxRowBytes;
  const auto file = Require(InputFile::Open(path));
  std::vector<std::string> rows;
  LineReader lines(file->stream(), path, kMaxLineBytes);
  while (true) {
    std::string_view line;
    bool at_end = false;
    Require(lines.Next(&line, &at_end));
    if (at_end) return rows;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) rows.push_back(FromPrintable(line));
  }
}

// Shows what a transfer tells of itself, and stops it when it is interrupted.
HFileProgressCallback ShowIn(Progress* progress,
                             const Interruption* interruption) {
  return [progress, interruption](const HFileProgress& done) {
    progress->Update(done.cell_bytes, done.cells, done.expected_cells);
    return interruption->signal() == 0;
  };
}

// Ends the verb whose transfer failed, and has left `what_is_there`.
ExitCode TransferFailed(const Status& s, const Interruption& interruption,
                        const std::string& what_is_there,
                        const Diagnostics& err) {
  // A transfer is Incomplete when the callback stopped it.
  const std::string problem = s.IsIncomplete() ? "interrupted" : Describe(s);
  Complain(err, problem + "; " + what_is_there);
  return FailedBy(interruption.signal());
}

// The families that a failed export has exported, as a clause.
std::string WhatIsThere(const HFileExportReport& report) {
  std::set<std::string> families;
  for (const HFileExported& file : report.files) {
    families.insert(ToPrintable(file.family));
  }
  if (families.empty()) return "nothing was exported";
  return fmt::format("exported: {}", fmt::join(families, ", "));
}

// Warns of options that the bulk load needs.
void WarnOfBulkLoad(const HFileExportReport& report, const Store& store,
                    bool has_regions, const Diagnostics& err) {
  if (report.most_files_per_region > kHFilesPerRegion) {
    Complain(err,
             fmt::format(
                 "warning: {0} files for one region and family; the bulk load "
                 "needs -Dhbase.mapreduce.bulkload.max.hfiles.perRegion."
                 "perFamily={0}",
                 report.most_files_per_region));
  }
  if (has_regions) return;
  const std::map<std::string, FamilyOptions> families = store.Families();
  std::map<std::string, uint32_t> prefixes;
  for (const HFileExported& file : report.files) {
    const FamilyOptions& family = families.at(file.family);
    if (family.bloom_type == BloomType::kRowPrefixFixedLength &&
        file.first_row != file.last_row) {
      prefixes[file.family] = family.row_prefix_length;
    }
  }
  for (const auto& [family, bytes] : prefixes) {
    Complain(err,
             fmt::format(
                 "warning: family \"{}\" has a filter of row prefixes; where "
                 "one of its files crosses a region's end, the bulk load needs "
                 "-DRowPrefixBloomFilter.prefix_length={}; with --regions none "
                 "does",
                 ToPrintable(family), bytes));
  }
}

struct ExportHFileArgs {
  PrintingStoreArgs store;
  HFileExportOptions options;  // but what the others say
  std::optional<std::string> regions_file;
  std::string compression = "NONE";
  std::string encoding = "NONE";
  std::string codec_classes = "hadoop";
  bool keep_deletes = false;
  std::string directory;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddListTo(command, "--family", &options.families,
              "A family to export; repeatable; default all", "F")
        ->transform(FromPrintable);
    AddRowRangeTo(command, &options.start_row, &options.stop_row);
    AddOptionTo(command, "--regions", &regions_file,
                "The rows at which the table's regions start, one a line, "
                "\\xHH for any byte",
                "FILE");
    AddNumberTo(command, "--max-file-bytes", &options.max_file_bytes,
                "A file this large ends with its row", "BYTES")
        ->capture_default_str();
    AddChoiceTo(command, "--compression", &compression, kCompressions,
                "Compression of the files", "CODEC");
    AddChoiceTo(command, "--encoding", &encoding, kEncodings,
                "Encoding of the data blocks", "ENCODING");
    AddChoiceTo(command, "--codec-classes", &codec_classes, kCodecClasses,
                "Whose codecs the cluster has: Hadoop's, HBase's native ones, "
                "or its aircompressor's",
                "CLASSES");
    command->add_flag("--keep-deletes", keep_deletes,
                      "Export the deletes, too, not only what they left");
    AddArgumentTo(command, "OUT", &directory,
                  "A directory that is new or empty");
  }
};

ExitCode ExportHFile(const ExportHFileArgs& args, const Streams& streams) {
  HFileExportOptions options = args.options;
  options.deletes =
      args.keep_deletes ? HFileDeletes::kKept : HFileDeletes::kApplied;
  options.file.compression = kCompressions.at(args.compression);
  options.file.encoding = kEncodings.at(args.encoding);
  options.file.codec_classes = kCodecClasses.at(args.codec_classes);
  if (args.regions_file) {
    options.region_start_rows = ReadRows(*args.regions_file);
  }
  const Interruption interruption;
  const std::shared_ptr<Store> store = args.store.OpenToRead(streams);
  Progress progress(streams.err,
                    {ToPrintable(args.directory), std::nullopt, "cells"});
  options.progress = ShowIn(&progress, &interruption);
  HFileExportReport report;
  const Status s = ExportHFiles(options, store.get(), args.directory, &report);
  progress.Finish();
  if (!s.ok()) {
    return TransferFailed(s, interruption, WhatIsThere(report), streams.err);
  }
  uint64_t cells = 0;
  uint64_t file_bytes = 0;
  for (const HFileExported& file : report.files) {
    cells += file.cells;
    file_bytes += file.file_bytes;
  }
  WarnOfBulkLoad(report, *store, args.regions_file.has_value(), streams.err);
  args.store.To(streams).PrintSum(Record()
                                      .Number("files", report.files.size())
                                      .Number("cells", cells)
                                      .Number("bytes", file_bytes)
                                      .Seconds("seconds", progress.seconds()));
  return ExitCode::kOk;
}

struct ImportHFileArgs {
  PrintingStoreArgs store;
  HFileImportOptions options;
  std::vector<std::string> snapshot;  // directory and name, or nothing
  std::vector<std::string> paths;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddFamilyTo(command, &options.family,
                "The family of all cells; default: the one that each names");
    AddListTo(command, "--only", &options.families,
              "A family to take; repeatable; default all", "F")
        ->transform(FromPrintable);
    AddRowRangeTo(command, &options.start_row, &options.stop_row);
    command->add_flag("--latest-as-new", options.latest_as_new,
                      "If a family keeps the latest version only, write the "
                      "newest of each cell, in place of what is there");
    command->add_flag("--drop-tags", options.drop_tags,
                      "Take cells without the tags that a store has none of");
    command->add_flag("--keep-going", options.keep_going,
                      "Leave out files that are damaged or refused, and load "
                      "the others");
    command->add_flag("--dry-run", options.dry_run,
                      "Say what would be imported, and change nothing");
    CLI::Option* const from_snapshot =
        AddOptionTo(command, "--snapshot", &snapshot,
                    "An exported snapshot: the directory it was exported to, "
                    "and its name; families are created as the table has "
                    "them, the store if need be",
                    "DIR NAME")
            ->expected(2)
            ->allow_extra_args(false);
    AddArgumentsTo(command, "PATH", &paths,
                   "HFiles, and directories of a bulk load, region or table")
        ->excludes(from_snapshot);
    command->callback([this] {
      if (snapshot.empty() && paths.empty()) {
        throw CLI::RequiredError("PATH or --snapshot");
      }
    });
  }
};

// A snapshot creates its families, and the store if need be; a dry run only
// looks at the store that is there, and at none where a snapshot would make it.
std::shared_ptr<Store> OpenForImport(const ImportHFileArgs& args,
                                     const Streams& streams) {
  const bool is_snapshot = !args.snapshot.empty();
  StoreOptions options = args.store.Options();
  if (args.options.dry_run) {
    options.read_only = true;
    std::shared_ptr<Store> store;
    const Status s = args.store.TryOpen(options, {}, streams, &store);
    if (!s.IsNotFound() || !is_snapshot) Require(s);
    return store;
  }
  if (is_snapshot) {
    Require(CheckHFileSnapshot({args.snapshot[0], args.snapshot[1]}));
    options.create_if_missing = true;
  }
  return args.store.Open(options, {}, streams);
}

void PrintSummary(const HFileImportReport& report, bool dry_run, double seconds,
                  const Output& output) {
  Record created;
  for (const FamilyDescriptor& family : report.new_families) {
    created.Object(ToPrintable(family.name), SettingsOf(family.options));
  }
  Record passed_over;
  for (const auto& [what, count] : report.passed_over) {
    passed_over.Number(ToPrintable(what), count);
  }
  output.PrintSum(Record()
                      .Number("files", report.files)
                      .Number("cells", report.cells)
                      .Number("puts", report.puts)
                      .Number("deletes", report.deletes)
                      .Number("skipped", report.skipped)
                      .Number("without_tags", report.without_tags)
                      .Number("left_out", report.left_out.size())
                      .Object("passed_over", passed_over)
                      .Object("created", created)
                      .Seconds("seconds", seconds));
  if (output.json) return;
  if (dry_run) output.Line("a dry run, nothing was imported");
  for (const FamilyDescriptor& family : report.new_families) {
    output.Line("new family " +
                FamilySpec::ToText(family.name, family.options));
  }
  std::string names;
  for (const auto& [what, count] : report.passed_over) {
    names += fmt::format("{}{} {}", names.empty() ? "passed over: " : ", ",
                         count, ToPrintable(what));
  }
  if (!names.empty()) output.Line(names);
}

ExitCode ImportHFile(const ImportHFileArgs& args, const Streams& streams) {
  const Interruption interruption;
  const std::shared_ptr<Store> store = OpenForImport(args, streams);
  HFileImportOptions options = args.options;
  const std::string& source =
      args.snapshot.empty() ? args.paths.front() : args.snapshot[1];
  Progress progress(streams.err, {ToPrintable(source), std::nullopt, "cells"});
  options.progress = ShowIn(&progress, &interruption);
  HFileImportReport report;
  const Status s =
      args.snapshot.empty()
          ? ImportHFiles(options, args.paths, store.get(), &report)
          : ImportHFileSnapshot(options, {args.snapshot[0], args.snapshot[1]},
                                store.get(), &report);
  progress.Finish();
  for (const Status& why : report.left_out) {
    Complain(streams.err, Describe(why) + "; the file was left out");
  }
  if (!s.ok()) {
    return TransferFailed(s, interruption,
                          report.may_be_loaded
                              ? "cells may be in the store: import again"
                              : "nothing was imported",
                          streams.err);
  }
  // A directory that is mistyped or not mounted is no table without cells.
  if (args.snapshot.empty() && report.files == 0 && report.left_out.empty() &&
      report.passed_over.empty()) {
    const std::string searched = fmt::format("{}", fmt::join(args.paths, ", "));
    return Fail(streams.err,
                ToPrintable(searched) + ": no HFiles; nothing was imported");
  }
  PrintSummary(report, args.options.dry_run, progress.seconds(),
               args.store.To(streams));
  return report.left_out.empty() ? ExitCode::kOk : ExitCode::kFinding;
}

}  // namespace

std::vector<Verb> HFileVerbs() {
  return {
      {"export-hfile", "Writes cells as HFiles for HBase's bulk load.",
       "--db users.db out\n"
       "--db users.db out.regions --regions regions.txt --compression gz",
       Of<ExportHFile>},
      {"import-hfile", "Loads HFiles of HBase, or of export-hfile.",
       "--db users.db out --dry-run\n"
       "--db users.db out --latest-as-new",
       Of<ImportHFile>},
  };
}

}  // namespace rowbloom::cli
