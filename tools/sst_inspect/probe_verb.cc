// `sst_inspect probe` prints a filter's answer for a row, a cell or a key.
//
// The exit code is kFinding if a filter block that was probed is damaged (its
// answer is then "may be there"), or gives a false negative; kFailed if the
// layout cannot hold the row.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "tools/cli/arguments.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// --key-layout is for filters that do not name their layout.
struct ProbeArgs : FileArgs {
  // The application's row and qualifier, which the key layout encodes.
  std::string row;
  std::optional<std::string> qualifier;  // nullopt: look up the row alone
  // A whole key as it is in the file, instead of row and qualifier.
  std::optional<std::string> key;

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    CLI::Option_group* const what = command->add_option_group("question");
    cli::AddBytesTo(what, "--row", &row,
                    "The application's row; \\xHH stands for any byte", "ROW");
    CLI::Option* const whole = cli::AddBytesTo(
        what, "--key", &key,
        "A whole key as it is in the file, \\xHH for any byte", "KEY");
    what->require_option(1);
    cli::AddBytesTo(command, "--qualifier", &qualifier,
                    "The qualifier; without it only the row is looked up",
                    "QUALIFIER")
        ->excludes(whole);
    AddKeyLayoutTo(command);
  }
};

// The counts of the files that could be read.
struct ProbeCounts {
  size_t answered = 0;
  size_t may_be_there = 0;  // of these
  // Files in which a row cannot be looked up, such as those of a store's
  // records.
  size_t without_layout = 0;
};

// The lookup in one file's filter.
class Prober {
 public:
  Prober(const TableFile& file, const ProbeArgs& args, const Output& output)
      : file_(file),
        args_(args),
        output_(output),
        findings_(file.path(), output),
        record_("probe", file.path()) {}

  ExitCode Run(ProbeCounts* counts) {
    output_.Line(file_.path());
    Encode();
    bool may_match = true;
    std::unique_ptr<FilterReader> filter;
    const Status status = file_.NewFilterReader(&filter);
    if (status.ok()) {
      may_match = LookUpInFilter(filter.get());
    } else {
      findings_.Failure(status);
      if (!status.IsCorruption()) return findings_.worst();
    }
    Line("verdict", MayText(may_match));
    if (lookup_) {
      ++counts->answered;
      if (may_match) ++counts->may_be_there;
      LookUpInData(may_match);
    } else {
      ++counts->without_layout;
    }
    if (output_.json) record_.Print(output_.out);
    return findings_.worst();
  }

 private:
  void Line(std::string_view name, std::string_view text) {
    if (!output_.json) {
      output_.out << fmt::format("  {:<14}  {}\n", name, text);
      return;
    }
    std::string member(name);
    std::replace(member.begin(), member.end(), ' ', '_');
    record_.Text(member, text);
  }

  static std::string_view MayText(bool may_match) {
    return may_match ? "may be there" : "not there";
  }

  // Prints the answer of the filter, and returns whether it may match.
  bool LookUpInFilter(FilterReader* filter) {
    FilterAnswer answer;
    filter->LookUp(lookup_.value_or(FilterLookup{.is_row = true}), &answer);
    if (!answer.filter.empty()) Line("filter", answer.filter);
    if (lookup_) {
      if (!answer.parts.empty()) Line(file_.filter_part(), answer.parts);
      for (const SectionAnswer& section : answer.sections)
        PrintSection(section);
      for (const auto& [name, text] :
           filter->OtherAnswers(*lookup_, &answer.may_match)) {
        Line(name, text);
      }
    }
    for (const FilterProblem& problem : answer.problems) {
      findings_.Failure(problem.status, problem.place);
    }
    return !lookup_ || answer.may_match;
  }

  void PrintSection(const SectionAnswer& section) {
    std::string_view text;
    if (section.verdict == Verdict::kUnusable) {
      text = "section unusable";
    } else if (section.verdict != Verdict::kNotProbed) {
      text = MayText(section.verdict == Verdict::kMayMatch);
    }
    Line(section.section, std::string(text) + section.note);
  }

  [[noreturn]] void Refuse(const std::string& why) const {
    throw cli::Failure(file_.path() + ": " + why, ExitCode::kFailed);
  }

  // Sets lookup_. It stays empty for a row if no layout is known for the file.
  void Encode() {
    const bool own_layout = file_.key_form() == KeyForm::kUserKey;
    format_ = Require(
        FormatOf(file_, own_layout ? "" : args_.key_layout, /*hex=*/false));
    if (own_layout && !format_.layout && !args_.key_layout.empty()) {
      format_ = Require(FormatOf(file_, args_.key_layout, /*hex=*/false));
    }
    if (args_.key) {
      key_ = *args_.key;
      const auto parts = format_.Split(key_);
      if (format_.form == KeyForm::kHFile && !parts) {
        Refuse("--key: not a key of an HFile's");
      }
      if (parts) row_ = parts->row;
      lookup_ = {.key = key_};
      return;
    }
    if (!format_.has_rows()) {
      if (!format_.layout_problem.empty()) Refuse(format_.layout_problem);
      return;
    }
    auto row = format_.EncodeRow(args_.row);
    if (!row) Refuse(row.error());
    row_ = *std::move(row);
    key_ = args_.qualifier ? format_.JoinKey(row_, *args_.qualifier) : row_;
    lookup_ = {.key = key_, .is_row = !args_.qualifier, .in_every_part = true};
  }

  // Returns 0 if the key matches the lookup, and a number above 0 if it is
  // after it in the order of bytes.
  int Place(std::string_view key) const {
    if (format_.form == KeyForm::kUserKey) {
      const bool match = lookup_->is_row ? key.starts_with(key_) : key == key_;
      return match ? 0 : key.compare(key_);
    }
    const auto parts = format_.Split(key);
    if (!parts) return -1;
    const int rows = parts->row.compare(row_);
    if (rows != 0 || lookup_->is_row) return rows;
    return parts->qualifier.compare(format_.Split(key_)->qualifier);
  }

  // Prints whether the file has the key, deleted or not.
  void LookUpInData(bool may_match) {
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    // In a reversed order the keys of a row are before the row itself.
    const bool bytewise = file_.key_order() == sst::KeyOrder::kBytewise;
    if (lookup_->is_row) {
      if (bytewise) cells->SkipToRow(row_);
    } else {
      cells->SkipTo(key_);
    }
    bool found = false;
    while (!found && cells->Next()) {
      const int place = Place(format_.WithoutTimestamp(cells->cell().user_key));
      found = place == 0;
      if (place > 0 && bytewise) break;
    }
    if (found) {
      const Cell cell = cells->cell();
      const auto timestamp = format_.TimestampOf(cell.user_key);
      Line("in file",
           fmt::format(
               "yes, {}{} with sequence number {}", file_.TypeName(cell.type),
               timestamp ? " at " + ToString(*timestamp) : "", cell.sequence));
      if (!may_match) findings_.Problem("false negative: it is in the file");
    } else if (cells->status().ok()) {
      Line("in file", "no");
    } else {
      Line("in file", "not known");
      findings_.Failure(cells->status());
    }
  }

  const TableFile& file_;
  const ProbeArgs& args_;
  const Output& output_;
  PrintedFindings findings_;
  Record record_;
  KeyFormat format_;
  std::string row_;  // in the form of keys
  std::string key_;
  std::optional<FilterLookup> lookup_;
};

ExitCode Probe(const ProbeArgs& args, const Streams& streams) {
  const Output output{streams.out, streams.err, args.json};
  ProbeCounts counts;
  const ExitCode worst = args.ForEachFile(streams, [&](const TableFile& file) {
    return Prober(file, args, output).Run(&counts);
  });
  // A single file shows its answer, unless it has none.
  if ((counts.answered > 1 || counts.without_layout > 0) && !args.json) {
    streams.out << fmt::format("{} of {} files may hold the {}",
                               counts.may_be_there, counts.answered,
                               args.key         ? "key"
                               : args.qualifier ? "cell"
                                                : "row");
    if (counts.without_layout > 0) {
      streams.out << fmt::format("; {} without a key layout",
                                 counts.without_layout);
    }
    streams.out << "\n";
  }
  return worst;
}

}  // namespace

Action AddProbe(CLI::App* command) { return cli::AddVerb(command, Probe); }

}  // namespace rowbloom::sst_inspect
