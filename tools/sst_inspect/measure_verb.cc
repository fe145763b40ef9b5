// measure-fpr: looks up keys that the file does not have.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
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

struct MeasureArgs : FileArgs {
  uint64_t count = 100'000;  // each kind of absent key
  uint64_t seed = 1;

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddNumberTo(command, "--count", &count, "Absent keys of each kind")
        ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
    cli::AddNumberTo(command, "--seed", &seed, "The same seed, the same keys");
    AddKeyLayoutTo(command);
  }
};

// The results for one kind of absent key.
struct Measured {
  std::string_view question;
  uint64_t probed = 0;
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

Measured Measure(const AbsentKeys& absent, FilterReader* filter) {
  Measured measured;
  FilterAnswer answer;
  for (const std::string& key : absent.keys) {
    const bool is_row = absent.kind == AbsentKind::kRow;
    filter->LookUp({.key = key, .is_row = is_row, .with_rates = true}, &answer);
    if (answer.unusable) Require(answer.problems.front().status);
    const bool by_key = answer.by == FilterAnswer::By::kKey;
    // A present row or prefix lets the absent keys of it pass, too.
    if (!answer.probed() || (!is_row && !by_key)) continue;
    measured.question =
        NameOf(absent.kind, answer.by == FilterAnswer::By::kPrefix);
    ++measured.probed;
    measured.passed += answer.may_match ? 1 : 0;
    measured.predicted +=
        absent.kind == AbsentKind::kColumn ? answer.column_rate : answer.rate;
  }
  return measured;
}

struct Interval {
  double low = 0;
  double high = 1;
};

// E. B. Wilson's interval of 95 % for a share, which also holds for shares near
// 0 ("Probable Inference, the Law of Succession, and Statistical Inference",
// 1927).
Interval WilsonInterval(uint64_t passed, uint64_t probed) {
  constexpr double kZ = 1.959963985;
  const auto n = static_cast<double>(probed);
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
  output.Line(file.path());
  output.Line(fmt::format("  seed {}", seed));
  Listing listing(output,
                  "question probed passed rate=measured_FPR "
                  "interval=95_%_interval predicted");
  for (const Measured& measured : results) {
    const auto probed = static_cast<double>(measured.probed);
    const Interval interval = WilsonInterval(measured.passed, measured.probed);
    listing.Add(
        Record("measured", ToPrintable(file.path()))
            .Text("question", measured.question)
            .Number("seed", seed)
            .Count("probed", measured.probed)
            .Count("passed", measured.passed)
            .Share("rate", static_cast<double>(measured.passed) / probed)
            .Share("low", interval.low)
            .Share("high", interval.high)
            .InText("interval",
                    fmt::format("{:.3g}-{:.3g} %", 100 * interval.low,
                                100 * interval.high))
            .Share("predicted", measured.predicted / probed));
  }
}

void PrintMeasure(const TableFile& file, const MeasureArgs& args,
                  const Output& output) {
  const KeyFormat format =
      Require(FormatOf(file, args.key_layout, /*hex=*/false));
  std::unique_ptr<FilterReader> filter;
  Require(file.NewFilterReader(&filter));
  if (!filter->can_probe()) {
    Require(Error{file.path() + ": no filter that can be probed"});
  }
  std::vector<Measured> results;
  for (const AbsentKeys& keys :
       MakeAbsentKeys(file, format, *filter, args.count, args.seed)) {
    const Measured measured = Measure(keys, filter.get());
    if (measured.probed > 0) results.push_back(measured);
  }
  if (results.empty()) {
    Require(Error{file.path() +
                  ": nothing to look up: no keys, or none whose absence such a "
                  "filter could tell"});
  }
  PrintMeasured(file, args.seed, results, output);
}

}  // namespace

Action AddMeasure(CLI::App* command) {
  return AddFileVerb(command, PrintMeasure);
}

}  // namespace rowbloom::sst_inspect
