#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "rowbloom/printable.h"
#include "tools/cli/arguments.h"
#include "tools/sst_inspect/absent_keys.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

struct MeasureArgs : FileArgs {
  uint64_t count = 100'000;  // each kind of absent key
  uint64_t seed = 1;
};

// The results for one kind of absent key.
struct Measured {
  std::string_view question;
  uint64_t asked = 0;
  uint64_t passed = 0;
  double predicted = 0;  // sum over all lookups
};

std::string_view NameOf(AbsentKind kind, bool of_prefix) {
  switch (kind) {
    case AbsentKind::kRow:
      return of_prefix ? "absent row, prefix" : "absent row";
    case AbsentKind::kCell:
      return "cell of an absent row";
    case AbsentKind::kColumn:
      return "absent cell of a row";
    case AbsentKind::kKey:
      return "absent key";
  }
  return "";
}

FilterQuestion QuestionOf(AbsentKind kind, std::string_view key) {
  return {.key = key, .is_row = kind == AbsentKind::kRow};
}

// Leaves what passes rightly out of `absent`. Reads the file if there may be
// such keys.
Status RemovePresent(const TableFile& file, const KeyFormat& format,
                     const FilterReader& filter, AbsentKeys* absent) {
  const auto shared_by = [&](const std::string& key) {
    return filter.SharedByAbsent(QuestionOf(absent->kind, key));
  };
  std::unordered_set<std::string> shared;
  for (const std::string& key : absent->keys) {
    if (const auto bytes = shared_by(key)) shared.emplace(*bytes);
  }
  if (shared.empty()) return Status::OK();
  const std::unique_ptr<CellReader> cells = file.NewCellReader();
  while (cells->Next()) {
    const auto bytes =
        filter.SharedByPresent(format.WithoutTimestamp(cells->cell().user_key));
    if (bytes) shared.erase(std::string(*bytes));
  }
  // The filter is asked for only one of the rows that share bytes.
  const bool once = absent->kind == AbsentKind::kRow;
  std::erase_if(absent->keys, [&](const std::string& key) {
    const std::string bytes(shared_by(key).value_or(""));
    return once ? shared.erase(bytes) == 0 : !shared.contains(bytes);
  });
  return cells->status();
}

Status Measure(const AbsentKeys& absent, FilterReader* filter,
               Measured* measured) {
  for (const std::string& key : absent.keys) {
    FilterReader::Answer answer;
    const Status status = filter->Ask(QuestionOf(absent.kind, key), &answer);
    if (!status.ok()) return status;
    if (!answer.asked) continue;
    measured->question = NameOf(absent.kind, answer.of_prefix);
    ++measured->asked;
    measured->passed += answer.may_match ? 1 : 0;
    measured->predicted +=
        absent.kind == AbsentKind::kColumn ? answer.column_rate : answer.rate;
  }
  return Status::OK();
}

struct Interval {
  double low = 0;
  double high = 1;
};

// E. B. Wilson's interval of 95 % for a share, which also holds for shares near
// 0 ("Probable Inference, the Law of Succession, and Statistical Inference",
// 1927).
Interval WilsonInterval(uint64_t passed, uint64_t asked) {
  constexpr double kZ = 1.959963985;
  const auto n = static_cast<double>(asked);
  const double share = static_cast<double>(passed) / n;
  const double middle = share + kZ * kZ / (2 * n);
  const double half =
      kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (middle - half) / scale),
          std::min(1.0, (middle + half) / scale)};
}

void PrintMeasured(const TableFile& file, uint64_t seed,
                   const std::vector<Measured>& results, const Output& output) {
  if (!output.json) {
    output.out << WithoutControls(file.path()) << "\n"
               << "  seed " << seed << "\n";
  }
  Table table({{"question"},
               {"asked", Table::Align::kRight},
               {"passed", Table::Align::kRight},
               {"measured FPR", Table::Align::kRight},
               {"95 % interval", Table::Align::kRight},
               {"predicted", Table::Align::kRight}});
  for (const Measured& measured : results) {
    const auto asked = static_cast<double>(measured.asked);
    const double rate = static_cast<double>(measured.passed) / asked;
    const double predicted = measured.predicted / asked;
    const Interval interval = WilsonInterval(measured.passed, measured.asked);
    if (output.json) {
      Record("measured", ToPrintable(file.path()))
          .Text("question", measured.question)
          .Number("seed", seed)
          .Number("asked", measured.asked)
          .Number("passed", measured.passed)
          .Real("rate", rate)
          .Real("low", interval.low)
          .Real("high", interval.high)
          .Real("predicted", predicted)
          .Print(output.out);
      continue;
    }
    table.AddRow({std::string(measured.question), Grouped(measured.asked),
                  Grouped(measured.passed), Percent(rate),
                  fmt::format("{:.3g}-{:.3g} %", 100 * interval.low,
                              100 * interval.high),
                  Percent(predicted)});
  }
  if (!output.json) table.Print(output.out);
}

ExitCode PrintMeasure(const TableFile& file, const MeasureArgs& args,
                      const Output& output) {
  KeyFormat format;
  Status status = FormatOf(file, args.key_layout, false, &format);
  std::unique_ptr<FilterReader> filter;
  if (status.ok()) status = file.NewFilterReader(&filter);
  if (!status.ok()) return Judge(output.err, status);
  const std::string path = WithoutControls(file.path());
  if (!filter->askable()) {
    return Fail(output.err, path + ": no filter that can be asked");
  }
  std::vector<AbsentKeys> absent;
  status = MakeAbsentKeys(file, format, args.count, args.seed, &absent);
  std::vector<Measured> results;
  for (AbsentKeys& keys : absent) {
    Measured measured;
    if (status.ok()) status = RemovePresent(file, format, *filter, &keys);
    if (status.ok()) status = Measure(keys, filter.get(), &measured);
    if (measured.asked > 0) results.push_back(measured);
  }
  if (!status.ok()) return Judge(output.err, status);
  if (results.empty()) {
    return Fail(output.err, path +
                                ": nothing to ask: no keys, or none whose "
                                "absence such a filter could tell");
  }
  PrintMeasured(file, args.seed, results, output);
  return ExitCode::kOk;
}

}  // namespace

Action AddMeasure(CLI::App* command) {
  const auto args = std::make_shared<MeasureArgs>();
  args->AddTo(command);
  cli::AddNumberTo(command, "--count", &args->count, "Absent keys of each kind")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
  cli::AddNumberTo(command, "--seed", &args->seed,
                   "The same seed, the same keys");
  args->AddKeyLayoutTo(command);
  return EachFile(args, PrintMeasure);
}

}  // namespace rowbloom::sst_inspect
