#include <fmt/format.h>

#include <ostream>
#include <string>

#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

ExitCode Report(const std::string& path, const VerifyCounts& counts,
                const PrintedFindings& findings, const Output& output) {
  const ExitCode worst = findings.worst();
  const std::string_view verdict =
      worst == ExitCode::kOk
          ? "fine"
          : (worst == ExitCode::kFinding ? "damaged" : "not known");
  if (output.json) {
    Record("verify", path)
        .Number("blocks", counts.blocks)
        .Number("damaged_blocks", counts.damaged_blocks)
        .Number("cells", counts.cells)
        .Number("range_deletions", counts.range_deletions)
        .Number("keys_probed", counts.keys_probed)
        .Number("rows_probed", counts.rows_probed)
        .Number("false_negatives", counts.false_negatives)
        .Number("problems", findings.problems())
        .Text("verdict", verdict)
        .Print(output.out);
    return worst;
  }
  const auto line = [&output](std::string_view name, std::string_view text) {
    output.out << fmt::format("  {:<8}  {}\n", name, text);
  };
  const auto some = [](std::string_view joint, uint64_t count,
                       std::string_view of) {
    return count == 0 ? "" : fmt::format("{}{} {}", joint, Grouped(count), of);
  };
  line("blocks", fmt::format("{} read, {} damaged", Grouped(counts.blocks),
                             Grouped(counts.damaged_blocks)));
  line("cells", Grouped(counts.cells) +
                    some(", ", counts.range_deletions, "range deletions"));
  line("filter",
       !counts.has_filter
           ? "none"
           : fmt::format("{} keys{} probed, {} false negatives",
                         Grouped(counts.keys_probed),
                         some(" and ", counts.rows_probed, "rows or prefixes"),
                         Grouped(counts.false_negatives)));
  if (findings.problems() > 0) line("problems", Grouped(findings.problems()));
  line("verdict", verdict);
  return worst;
}

struct VerifyArgs : FileArgs {
  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    AddKeyLayoutTo(command);
  }
};

ExitCode PrintVerify(const TableFile& file, const VerifyArgs& args,
                     const Output& output) {
  const KeyFormat format =
      Require(FormatOf(file, args.key_layout, /*hex=*/false));
  output.Line(file.path());
  constexpr uint64_t kMostProblems = 20;
  PrintedFindings findings(file.path(), output, kMostProblems);
  VerifyCounts counts;
  file.Verify(format, &findings, &counts);
  return Report(file.path(), counts, findings, output);
}

}  // namespace

Action AddVerify(CLI::App* command) {
  return AddFileVerb(command, PrintVerify);
}

}  // namespace rowbloom::sst_inspect
