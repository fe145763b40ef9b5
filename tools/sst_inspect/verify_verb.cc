#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <string>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// Prints what is found, the first problems as they come.
class FindingPrinter final : public Findings {
 public:
  FindingPrinter(const TableFile& file, const Output& output)
      : file_(file), output_(output) {}

  void Problem(std::string_view sentence) override {
    constexpr uint64_t kMostPrinted = 20;
    MoreProblems(1);
    if (problems_ <= kMostPrinted)
      PrintRemark(output_, file_.path(), "problem", sentence);
  }

  void MoreProblems(uint64_t count) override {
    problems_ += count;
    if (count > 0) worst_ = std::max(worst_, ExitCode::kFinding);
  }

  void Failure(const Status& status) override {
    if (status.IsCorruption()) {
      Problem(Describe(status));
    } else {
      worst_ = std::max(worst_, Judge(output_.err, status));
    }
  }

  void Note(const std::string& sentence) override {
    if (notes_.insert(sentence).second)
      PrintRemark(output_, file_.path(), "note", sentence);
  }

  ExitCode Report(const VerifyCounts& counts) const {
    const std::string_view verdict =
        worst_ == ExitCode::kOk
            ? "fine"
            : (worst_ == ExitCode::kFinding ? "damaged" : "not known");
    if (output_.json) {
      Record("verify", ToPrintable(file_.path()))
          .Number("blocks", counts.blocks)
          .Number("damaged_blocks", counts.damaged_blocks)
          .Number("cells", counts.cells)
          .Number("range_deletions", counts.range_deletions)
          .Number("keys_asked", counts.keys_asked)
          .Number("rows_asked", counts.rows_asked)
          .Number("false_negatives", counts.false_negatives)
          .Number("problems", problems_)
          .Text("verdict", verdict)
          .Print(output_.out);
      return worst_;
    }
    const auto line = [this](std::string_view name, const std::string& text) {
      output_.out << fmt::format("  {:<8}  {}\n", name, text);
    };
    line("blocks", fmt::format("{} read, {} damaged", Grouped(counts.blocks),
                               Grouped(counts.damaged_blocks)));
    const auto some = [](std::string_view joint, uint64_t count,
                         std::string_view of) {
      return count == 0 ? ""
                        : fmt::format("{}{} {}", joint, Grouped(count), of);
    };
    line("cells", Grouped(counts.cells) +
                      some(", ", counts.range_deletions, "range deletions"));
    line("filter",
         !counts.has_filter
             ? "none"
             : fmt::format("{} keys{} asked, {} false negatives",
                           Grouped(counts.keys_asked),
                           some(" and ", counts.rows_asked, "rows or prefixes"),
                           Grouped(counts.false_negatives)));
    if (problems_ > 0) line("problems", Grouped(problems_));
    line("verdict", std::string(verdict));
    return worst_;
  }

 private:
  const TableFile& file_;
  const Output& output_;
  ExitCode worst_ = ExitCode::kOk;
  uint64_t problems_ = 0;
  std::set<std::string> notes_;
};

ExitCode PrintVerify(const TableFile& file, const FileArgs& args,
                     const Output& output) {
  KeyFormat format;
  const Status status = FormatOf(file, args.key_layout, false, &format);
  if (!status.ok()) return Judge(output.err, status);
  if (!output.json) output.out << WithoutControls(file.path()) << "\n";
  FindingPrinter findings(file, output);
  VerifyCounts counts;
  file.Verify(format, &findings, &counts);
  return findings.Report(counts);
}

}  // namespace

Action AddVerify(CLI::App* command) {
  const auto args = std::make_shared<FileArgs>();
  args->AddTo(command);
  args->AddKeyLayoutTo(command);
  return EachFile(args, PrintVerify);
}

}  // namespace rowbloom::sst_inspect
