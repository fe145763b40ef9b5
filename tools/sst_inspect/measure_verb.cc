#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/whole_number.h"
#include "tools/sst_inspect/absent_keys.h"
#include "tools/sst_inspect/decoded_filter.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/format_verbs.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/measured.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

std::string_view NameOf(AbsentKind kind, const DecodedFilter* filter) {
  switch (kind) {
    case AbsentKind::kRow:
      return filter != nullptr && filter->is_rowbloom() ? "absent row"
                                                        : "absent row, prefix";
    case AbsentKind::kCell:
      return "cell of an absent row";
    case AbsentKind::kColumn:
      return "absent cell of a row";
    case AbsentKind::kKey:
      return "absent key";
  }
  return "";
}

// The rate that a filter predicts for a kind of lookup.
double PredictedRate(AbsentKind kind,
                     const std::vector<SectionFacts>& sections) {
  double row = 1;
  double row_col = 1;
  double stock = 1;
  for (const SectionFacts& section : sections) {
    const double rate = section.rate.value_or(1);
    if (section.section == "ROWCOL") {
      row_col = rate;
    } else if (section.section.starts_with("ROW")) {
      row = rate;
    } else {
      stock = rate;
    }
  }
  switch (kind) {
    case AbsentKind::kRow:
      return row * stock;
    case AbsentKind::kCell:
    case AbsentKind::kKey:
      return row * row_col * stock;
    case AbsentKind::kColumn:
      return row_col * stock;
  }
  return 1;
}

class Measurer {
 public:
  explicit Measurer(const TableFile& file)
      : file_(file), facts_(file.Facts()) {}

  Status Open() { return filter_.Open(file_); }
  bool askable() const { return filter_.askable(); }

  Status Measure(const AbsentKeys& absent) {
    const bool rows = absent.kind == AbsentKind::kRow;
    Measured measured;
    size_t partition = static_cast<size_t>(-1);
    double predicted = 1;
    const PrefixRule prefix_of = PrefixRuleOf(facts_.prefix_extractor);
    for (const std::string& key : absent.keys) {
      Status status;
      const DecodedFilter* filter = filter_.FilterFor(key, &status);
      if (filter == nullptr) return status;
      // RocksDB's own filter is asked for a row only as the prefix that it
      // would have been added as.
      if (rows && !filter->is_rowbloom() &&
          (!facts_.prefix_filter || !prefix_of || prefix_of(key) != key)) {
        continue;
      }
      if (!rows && !filter->is_rowbloom() && !facts_.whole_key_filter) {
        continue;
      }
      if (filter_.partition() != partition) {
        partition = filter_.partition();
        predicted = PredictedRate(absent.kind, filter->Sections());
        measured.question = NameOf(absent.kind, filter);
      }
      ++measured.asked;
      measured.predicted += predicted;
      const bool match =
          rows ? filter->PrefixMayMatch(key) : filter->KeyMayMatch(key);
      measured.passed += match ? 1 : 0;
    }
    if (measured.asked > 0) results_.push_back(measured);
    return Status::OK();
  }

  const std::vector<Measured>& results() const { return results_; }

 private:
  const TableFile& file_;
  const TableFacts facts_;
  FilterAsker filter_;
  std::vector<Measured> results_;
};

ExitCode PrintMeasure(const TableFile& file, const MeasureArgs& args,
                      const Output& output) {
  if (const FormatVerbs* own = file.own_verbs()) {
    return own->PrintMeasure(args, output);
  }
  KeyFormat format;
  Status status = FormatOf(file, args.key_layout, false, &format);
  Measurer measurer(file);
  if (status.ok()) status = measurer.Open();
  if (!status.ok()) return Judge(output.err, status);
  const std::string path = WithoutControls(file.path());
  if (!measurer.askable()) {
    return Fail(output.err, path + ": no filter that can be asked");
  }
  std::vector<AbsentKeys> absent;
  status = MakeAbsentKeys(file, format, args.count, args.seed, &absent);
  for (const AbsentKeys& keys : absent) {
    if (status.ok()) status = measurer.Measure(keys);
  }
  if (!status.ok()) return Judge(output.err, status);
  if (measurer.results().empty()) {
    return Fail(output.err, path +
                                ": nothing to ask: no keys, or a filter of "
                                "prefixes alone that no row is");
  }
  PrintMeasured(file, args.seed, measurer.results(), output);
  return ExitCode::kOk;
}

}  // namespace

Action AddMeasure(CLI::App* command) {
  const auto args = std::make_shared<MeasureArgs>();
  args->AddTo(command);
  command->add_option("--count", args->count, "Absent keys of each kind")
      ->check(cli::WholeNumber())
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}))
      ->type_name("N");
  command->add_option("--seed", args->seed, "The same seed, the same keys")
      ->check(cli::WholeNumber())
      ->type_name("N");
  args->AddKeyLayoutTo(command);
  return EachFile(args, PrintMeasure);
}

}  // namespace rowbloom::sst_inspect
