#include "tools/sst_inspect/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/filter_verb.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/sst_inspect/inputs.h"
#include "tools/sst_inspect/probe_verb.h"
#include "tools/sst_inspect/progress.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/table_file.h"
#include "tools/sst_inspect/text.h"
#include "tools/sst_inspect/verbs.h"
#include "tools/terminal/progress.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 fine; 1 a file is damaged, its filter lies, or two differ; "
    "2 "
    "wrong usage,\nor a file could not be read.\nThe worst file decides; the "
    "others are still processed.";

// The time at which a verb prints its output.
enum class Prints : uint8_t {
  kAtTheEnd,     // after each file
  kAllTheWhile,  // which on a terminal is progress enough
};

// Calls `use` for each file that can be opened. A database in use may delete
// files meanwhile: one that was found in a directory and is gone is no failure.
ExitCode ForEachFile(const std::vector<std::string>& paths, std::ostream& err,
                     const std::function<ExitCode(const TableFile& file)>& use,
                     Prints prints = Prints::kAtTheEnd) {
  const bool progress =
      terminal::StandardErrorIsTerminal() &&
      (prints == Prints::kAtTheEnd || !terminal::StandardOutputIsTerminal());
  std::vector<InputFile> files;
  ExitCode worst = ExpandInputs(paths, err, &files);
  for (const InputFile& input : files) {
    std::unique_ptr<TableFile> file;
    const rocksdb::Status status = OpenTable(input.path, &file);
    std::error_code ignored;
    if (status.ok()) {
      if (progress) file->SetProgress(ProgressOn(err, *file));
      worst = std::max(worst, use(*file));
    } else if (input.listed && !std::filesystem::exists(input.path, ignored)) {
      err << "sst_inspect: " << WithoutControls(input.path)
          << ": gone since its directory was listed\n";
    } else {
      worst = std::max(worst, ReportStatus(status, err));
    }
  }
  return worst;
}

// The bytes that a command line says, as escapes or as hex digits.
Result<std::string> ParseBytes(const std::string& name, const std::string& text,
                               bool hex) {
  const auto bytes = hex ? ParseHex(text) : FromPrintable(text);
  if (!bytes) return Error{name + ": " + bytes.error()};
  return *bytes;
}

// One run of the program: options in, exit code out.
class CommandLine {
 public:
  CommandLine(std::ostream& out, std::ostream& err)
      : out_(out),
        err_(err),
        app_("Shows what is inside RocksDB's SSTs and HBase's HFiles.",
             "sst_inspect") {
    app_.set_version_flag("--version", "sst_inspect " ROWBLOOM_VERSION);
    app_.require_subcommand(1);
    app_.footer(kFooter);
    AddVerbs();
  }

  ExitCode Run(const std::vector<std::string>& args) {
    try {
      // The parser wants the arguments last to first.
      app_.parse(WithVerb(args));
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) {  // --help, --version
        app_.exit(error, out_, err_);
        return ExitCode::kOk;
      }
      return ReportUsage(
          std::string(error.what()) + " (see sst_inspect --help)", err_);
    }
    return action_();
  }

 private:
  // If the first argument is a file and no verb, `summary` is meant.
  std::vector<std::string> WithVerb(const std::vector<std::string>& args) {
    std::vector<std::string> all = args;
    std::error_code ignored;
    const std::vector<CLI::App*> verbs = app_.get_subcommands({});
    const auto is_verb = [&args](const CLI::App* verb) {
      return verb->get_name() == args[0];
    };
    if (!args.empty() && std::none_of(verbs.begin(), verbs.end(), is_verb) &&
        std::filesystem::exists(args[0], ignored)) {
      all.insert(all.begin(), "summary");
    }
    return {all.rbegin(), all.rend()};
  }

  using Action = std::function<ExitCode(const Output& output)>;

  CLI::App* AddVerb(const std::string& name, const std::string& description,
                    Action action) {
    CLI::App* verb = app_.add_subcommand(name, description);
    verb->add_option("FILE", paths_, "SST or HFile, or a directory of them")
        ->required();
    verb->add_flag("--json", json_, "One JSON object a line, see README.md");
    verb->footer(kFooter);
    verb->callback([this, action = std::move(action)] {
      action_ = [this, action] { return action({out_, err_, json_}); };
    });
    return verb;
  }

  // A verb that tells about each file by itself.
  template <typename Print>
  CLI::App* AddFileVerb(const std::string& name, const std::string& description,
                        const Print& print) {
    return AddVerb(name, description, [this, print](const Output& output) {
      return ForEachFile(paths_, err_, [&](const TableFile& file) {
        return print(file, output);
      });
    });
  }

  // A verb that is also drawn.
  template <typename Print>
  void AddDrawnVerb(const std::string& name, const std::string& description,
                    const Print& print) {
    AddVerb(name, description,
            [this, print](const Output& output) {
              if (!html_.empty()) return RunHtml(output);
              return ForEachFile(
                  paths_, err_,
                  [&](const TableFile& file) { return print(file, output); },
                  Prints::kAllTheWhile);
            })
        ->add_option("--html", html_,
                     "Draw the blocks and the fill of the filters as a page "
                     "there, - for standard output, instead of text")
        ->excludes("--json");
  }

  void AddHex(CLI::App* verb, const std::string& description) {
    verb->add_flag("--hex", hex_, description);
  }
  void AddLayout(CLI::App* verb) {
    verb->add_option("--key-layout", key_layout_,
                     "How keys split: escaped, fixed:N, delimited:C, u16; "
                     "default: as the file's filter or extractor says");
  }

  void AddVerbs() {
    constexpr const char* kHexOut = "Keys and values as hex digits";
    AddDrawnVerb("summary", "What each file says of itself; the default.",
                 PrintSummary);
    AddDrawnVerb("layout", "Each block: offset, sizes, codec, checksum.",
                 PrintLayout);
    AddHex(AddFileVerb("props", "Each property.",
                       [this](const TableFile& file, const Output& output) {
                         return PrintProps(file, {.hex = hex_}, output);
                       }),
           "Properties that are no numbers as hex digits");
    AddHex(AddFileVerb("index", "Each entry of the index.",
                       [this](const TableFile& file, const Output& output) {
                         return PrintIndex(file, {.hex = hex_}, output);
                       }),
           kHexOut);
    AddData();
    AddFilter();
    AddProbe();
    AddLayout(AddFileVerb(
        "verify",
        "Reads everything: checksums, order, index, properties, filter.",
        [this](const TableFile& file, const Output& output) {
          return PrintVerify(file, {.key_layout = key_layout_}, output);
        }));
    AddStats();
    AddMeasure();
    AddAdvise();
    AddDiff();
  }

  void AddData() {
    CLI::App* verb =
        AddVerb("data", "The cells.",
                [this](const Output& output) { return RunData(output); });
    row_option_ = verb->add_option("--row", row_, "Only this row");
    from_option_ = verb->add_option("--from", from_, "Only from this key on");
    to_option_ = verb->add_option("--to", to_, "Only keys before this one");
    verb->add_option("--limit", data_.limit, "At most so many of each file");
    verb->add_flag("--raw", data_.raw, "Whole keys, not row and qualifier");
    AddLayout(verb);
    AddHex(verb, "Keys and values are hex digits, here and in what is printed");
  }

  void AddFilter() {
    AddFileVerb("filter", "Decodes the filter of each file.",
                [this](const TableFile& file, const Output& output) {
                  return PrintFilter(file, filter_, output);
                })
        ->add_flag("--partitions", filter_.partitions,
                   "Also list each partition of a partitioned filter");
  }

  void AddProbe() {
    CLI::App* verb =
        AddVerb("probe", "Asks each file for a row, a cell or a key.",
                [this](const Output& output) { return RunProbe(output); });
    CLI::Option_group* what = verb->add_option_group("question");
    what->add_option("--row", row_,
                     "The application's row; \\xHH stands for any byte");
    probe_key_option_ =
        what->add_option("--key", key_, "A whole key as it is in the file");
    what->require_option(1);
    qualifier_option_ =
        verb->add_option("--qualifier", qualifier_,
                         "The qualifier; without it only the row is asked")
            ->excludes(probe_key_option_);
    AddLayout(verb);
    AddHex(verb, "The row, the qualifier and the key are hex digits");
  }

  void AddStats() {
    CLI::App* verb =
        AddFileVerb("stats", "Counts, sizes, histograms, the biggest rows.",
                    [this](const TableFile& file, const Output& output) {
                      stats_.key_layout = key_layout_;
                      stats_.hex = hex_;
                      return PrintStats(file, stats_, output);
                    });
    verb->add_option("--biggest", stats_.biggest, "How many rows to list")
        ->check(CLI::Range(0, 100'000));
    AddLayout(verb);
    AddHex(verb, "Rows as hex digits");
  }

  void AddMeasure() {
    CLI::App* verb =
        AddFileVerb("measure-fpr", "Asks for absent keys like the file's own.",
                    [this](const TableFile& file, const Output& output) {
                      measure_.key_layout = key_layout_;
                      return PrintMeasure(file, measure_, output);
                    });
    verb->add_option("--count", measure_.count, "Absent keys of each kind")
        ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
    verb->add_option("--seed", measure_.seed, "The same seed, the same keys");
    AddLayout(verb);
  }

  void AddAdvise() {
    CLI::App* verb =
        AddFileVerb("advise", "Which filter the data wants, and what it costs.",
                    [this](const TableFile& file, const Output& output) {
                      advise_.key_layout = key_layout_;
                      return PrintAdvice(file, advise_, output);
                    });
    verb->add_option("--rate", advise_.false_positive_rate,
                     "False positive rate to aim at");
    verb->add_option("--files", advise_.files, "Files that a read considers");
    verb->add_option("--files-per-row", advise_.files_per_row,
                     "Of these, files with cells of one row; 0: all");
    AddLayout(verb);
  }

  void AddDiff() {
    CLI::App* verb =
        AddVerb("diff", "How two files differ; exit code 1 if they do.",
                [this](const Output& output) { return RunDiff(output); });
    verb->add_option("--limit", diff_.limit, "Differing cells to print");
    AddHex(verb, kHexDiff);
  }
  static constexpr const char* kHexDiff = "Keys and values as hex digits";

  // Into *bytes, if the option was given. False after a usage error.
  bool Parse(const CLI::Option* option, const std::string& text,
             std::optional<std::string>* bytes) {
    if (option->count() == 0) return true;
    const auto parsed = ParseBytes(option->get_name(), text, hex_);
    if (!parsed) {
      ReportUsage(parsed.error(), err_);
      return false;
    }
    *bytes = *parsed;
    return true;
  }

  ExitCode RunHtml(const Output& output) {
    std::vector<InputFile> files;
    std::ostringstream told_later;
    ExpandInputs(paths_, told_later, &files);
    if (files.size() > HtmlReport::kMostFiles) {
      return ReportUsage(
          fmt::format("--html: expected at most {} files, found {}",
                      HtmlReport::kMostFiles, files.size()),
          err_);
    }
    std::unique_ptr<HtmlReport> report;
    rocksdb::Status status =
        HtmlReport::Open(html_, files.size(), output, &report);
    if (!status.ok()) return ReportStatus(status, err_);
    const ExitCode worst = ForEachFile(
        paths_, err_, [&](const TableFile& file) { return report->Add(file); });
    status = report->Finish();
    return status.ok() ? worst : ReportStatus(status, err_);
  }

  ExitCode RunData(const Output& output) {
    if (!Parse(row_option_, row_, &data_.row) ||
        !Parse(from_option_, from_, &data_.from) ||
        !Parse(to_option_, to_, &data_.to)) {
      return ExitCode::kUnreadable;
    }
    data_.key_layout = key_layout_;
    data_.hex = hex_;
    return ForEachFile(
        paths_, err_,
        [&](const TableFile& file) { return PrintData(file, data_, output); },
        Prints::kAllTheWhile);
  }

  ExitCode RunProbe(const Output& output) {
    ProbeVerbOptions options;
    options.key_layout = key_layout_;
    const auto row = ParseBytes("--row", row_, hex_);
    if (!row) return ReportUsage(row.error(), err_);
    options.row = *row;
    if (!Parse(qualifier_option_, qualifier_, &options.qualifier) ||
        !Parse(probe_key_option_, key_, &options.key)) {
      return ExitCode::kUnreadable;
    }
    ProbeCounts counts;
    const ExitCode worst =
        ForEachFile(paths_, err_, [&](const TableFile& file) {
          return PrintProbe(file, options, output, &counts);
        });
    if (counts.answered > 1 && !output.json) {
      out_ << counts.may_be_there << " of " << counts.answered
           << " files may hold "
           << (options.key         ? "the key"
               : options.qualifier ? "the cell"
                                   : "the row")
           << "\n";
    }
    return worst;
  }

  ExitCode RunDiff(const Output& output) {
    if (paths_.size() != 2) {
      return ReportUsage("diff: expected two files", err_);
    }
    diff_.hex = hex_;
    std::unique_ptr<TableFile> files[2];
    for (size_t i = 0; i < 2; ++i) {
      const rocksdb::Status status = OpenTable(paths_[i], &files[i]);
      if (!status.ok()) return ReportStatus(status, err_);
    }
    return PrintDiff(*files[0], *files[1], diff_, output);
  }

  std::ostream& out_;
  std::ostream& err_;
  CLI::App app_;
  std::function<ExitCode()> action_;

  // The options that several verbs share; a run has one verb.
  std::vector<std::string> paths_;
  bool json_ = false;
  std::string html_;
  bool hex_ = false;
  std::string key_layout_;
  std::string row_;
  std::string qualifier_;
  std::string key_;
  std::string from_;
  std::string to_;
  const CLI::Option* row_option_ = nullptr;
  const CLI::Option* from_option_ = nullptr;
  const CLI::Option* to_option_ = nullptr;
  const CLI::Option* qualifier_option_ = nullptr;
  CLI::Option* probe_key_option_ = nullptr;

  DataOptions data_;
  FilterVerbOptions filter_;
  StatsOptions stats_;
  MeasureOptions measure_;
  AdviseOptions advise_;
  DiffOptions diff_;
};

}  // namespace

int Run(const std::vector<std::string>& args, std::ostream& out,
        std::ostream& err) {
  try {
    return static_cast<int>(CommandLine(out, err).Run(args));
  } catch (const std::exception& error) {
    err << "sst_inspect: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kUnreadable);
  }
}

}  // namespace rowbloom::sst_inspect
