// `verify` for HFiles: HFileReader's own, told as the verb tells.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

void PrintProblems(const std::string& path, const HFileReport& report,
                   const Output& output) {
  constexpr size_t kMostPrinted = 20;
  const size_t count = std::min(report.problems.size(), kMostPrinted);
  for (size_t i = 0; i < count; ++i) {
    const std::string problem = WithoutControls(report.problems[i]);
    if (output.json) {
      Record("problem", ToPrintable(path))
          .Text("problem", problem)
          .Print(output.out);
    } else {
      output.out << "  problem: " << problem << "\n";
    }
  }
}

void PrintReport(const std::string& path, const HFileReport& report,
                 bool has_filter, std::string_view verdict,
                 const Output& output) {
  if (output.json) {
    Record("verify", ToPrintable(path))
        .Number("blocks", report.blocks)
        .Number("damaged_blocks", report.damaged_blocks)
        .Number("cells", report.cells)
        .Number("range_deletions", 0)
        .Number("keys_asked", report.bloom_keys_checked)
        .Number("rows_asked", 0)
        .Number("false_negatives", report.false_negatives)
        .Number("problems", report.problem_count)
        .Text("verdict", verdict)
        .Print(output.out);
    return;
  }
  const auto line = [&output](std::string_view name, const std::string& text) {
    output.out << fmt::format("  {:<8}  {}\n", name, text);
  };
  line("blocks", fmt::format("{} read, {} damaged", Grouped(report.blocks),
                             Grouped(report.damaged_blocks)));
  line("cells", Grouped(report.cells));
  line("filter", has_filter ? fmt::format("{} keys asked, {} false negatives",
                                          Grouped(report.bloom_keys_checked),
                                          Grouped(report.false_negatives))
                            : "none");
  if (report.problem_count > 0) {
    line("problems", Grouped(report.problem_count));
  }
  line("verdict", std::string(verdict));
}

}  // namespace

ExitCode HFileTable::PrintVerify(const FileArgs& args,
                                 const Output& output) const {
  KeyFormat format;
  Status status = FormatOf(*this, args.key_layout, false, &format);
  if (!status.ok()) return Judge(output.err, status);
  if (!output.json) output.out << WithoutControls(path()) << "\n";
  if (key_order() == sst::KeyOrder::kUnknown) {
    const std::string note = "the order of keys is not checked: comparator " +
                             ToPrintable(reader_->trailer().comparator);
    if (output.json) {
      Record("note", ToPrintable(path())).Text("note", note).Print(output.out);
    } else {
      output.out << "  note: " << note << "\n";
    }
  }
  HFileReport report;
  status = reader_->Verify(
      [this](uint64_t twice_bytes) {
        if (progress_) progress_(twice_bytes / 2);
      },
      &report);
  if (progress_) progress_(size_bytes());
  ExitCode worst =
      report.problem_count > 0 ? ExitCode::kFinding : ExitCode::kOk;
  PrintProblems(path(), report, output);
  if (!status.ok() && !status.IsCorruption()) {
    worst = Judge(output.err, status);
  }
  const std::string_view verdict = worst == ExitCode::kOk        ? "fine"
                                   : worst == ExitCode::kFinding ? "damaged"
                                                                 : "not known";
  PrintReport(path(), report,
              reader_->GeneralBloom() != nullptr ||
                  reader_->DeleteFamilyBloom() != nullptr,
              verdict, output);
  return worst;
}

}  // namespace rowbloom::sst_inspect
