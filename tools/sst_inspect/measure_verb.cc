#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/absent_keys.h"
#include "tools/sst_inspect/decoded_filter.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/record.h"
#include "tools/sst_inspect/text.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

struct Measured {
  std::string_view question;
  uint64_t asked = 0;
  uint64_t passed = 0;
  double predicted = 0;  // sum over what was asked

  double Rate() const {
    return static_cast<double>(passed) / static_cast<double>(asked);
  }
  double Predicted() const { return predicted / static_cast<double>(asked); }
};

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

// The rate that a filter predicts for a question.
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
  Measurer(const TableFile& file, const Output& output)
      : file_(file), facts_(file.Facts()), output_(output) {}

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

  void Print(uint64_t seed) const {
    if (!output_.json) {
      output_.out << WithoutControls(file_.path()) << "\n"
                  << "  seed " << seed << "\n";
    }
    Table table({{"question"},
                 {"asked", Table::Align::kRight},
                 {"passed", Table::Align::kRight},
                 {"measured FPR", Table::Align::kRight},
                 {"95 % interval", Table::Align::kRight},
                 {"predicted", Table::Align::kRight}});
    for (const Measured& measured : results_) {
      const Interval interval = WilsonInterval(measured.passed, measured.asked);
      if (output_.json) {
        Record("measured", ToPrintable(file_.path()))
            .Text("question", measured.question)
            .Number("seed", seed)
            .Number("asked", measured.asked)
            .Number("passed", measured.passed)
            .Real("rate", measured.Rate())
            .Real("low", interval.low)
            .Real("high", interval.high)
            .Real("predicted", measured.Predicted())
            .Print(output_.out);
        continue;
      }
      table.AddRow({std::string(measured.question), Grouped(measured.asked),
                    Grouped(measured.passed), Percent(measured.Rate()),
                    fmt::format("{:.3g}-{:.3g} %", 100 * interval.low,
                                100 * interval.high),
                    Percent(measured.Predicted())});
    }
    if (!output_.json) table.Print(output_.out);
  }

  bool empty() const { return results_.empty(); }

 private:
  const TableFile& file_;
  const TableFacts facts_;
  const Output& output_;
  FilterAsker filter_;
  std::vector<Measured> results_;
};

}  // namespace

ExitCode PrintMeasure(const TableFile& file, const MeasureOptions& options,
                      const Output& output) {
  KeyFormat format;
  Status status = FormatOf(file, options.key_layout, false, &format);
  Measurer measurer(file, output);
  if (status.ok()) status = measurer.Open();
  if (!status.ok()) return ReportStatus(status, output.err);
  const std::string path = WithoutControls(file.path());
  if (!measurer.askable()) {
    return ReportUsage(path + ": no filter that can be asked", output.err);
  }
  std::vector<AbsentKeys> absent;
  status = MakeAbsentKeys(file, format, options.count, options.seed, &absent);
  for (const AbsentKeys& keys : absent) {
    if (status.ok()) status = measurer.Measure(keys);
  }
  if (!status.ok()) return ReportStatus(status, output.err);
  if (measurer.empty()) {
    return ReportUsage(path +
                           ": nothing to ask: no keys, or a filter of "
                           "prefixes alone that no row is",
                       output.err);
  }
  measurer.Print(options.seed);
  return ExitCode::kOk;
}

}  // namespace rowbloom::sst_inspect
