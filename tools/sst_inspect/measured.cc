#include "tools/sst_inspect/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

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

}  // namespace

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

}  // namespace rowbloom::sst_inspect
