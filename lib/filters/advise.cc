#include "rowbloom/advise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/filters/rate_table.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr uint64_t kBlockBytes = kBloomBlockBits / 8;
// What a filter block has around its sections, about.
constexpr uint64_t kOverheadBytes = 100;
// Less rules out too little to be asked; more rules out nothing to speak of
// that less would not.
constexpr double kFewestBits = 2;
constexpr double kMostBits = 24;
// ROWCOL has to have less than this share of ROW's wrong opens.
constexpr double kWorthAllCells = 0.5;

uint64_t SectionBytes(uint64_t keys, double bits_per_key) {
  return kBlockBytes *
         static_cast<uint64_t>(std::ceil(static_cast<double>(keys) *
                                         bits_per_key / kBloomBlockBits));
}

double RowSpread(const FileProfile& profile) {
  if (profile.files_per_row == 0) return 1;
  return profile.files_per_row / profile.files;
}

double Cost(const WrongOpens& opens, const ReadShares& reads) {
  return opens.scan_absent_row * reads.scan_absent_row +
         opens.get_absent_row * reads.get_absent_row +
         opens.get_absent_column * reads.get_absent_column;
}

// The rate that `type` can have within the budget; nothing if that would not be
// worth asking.
std::optional<double> RateWithin(const FileProfile& profile, BloomType type,
                                 const FilterBudget& budget) {
  if (budget.filter_bytes == 0) return budget.false_positive_rate;
  const bool row_col = type == BloomType::kRowCol;
  const uint64_t entries = profile.rows + (row_col ? profile.cells : 0);
  // Each section is rounded up to whole blocks.
  const uint64_t lost = kOverheadBytes + kBlockBytes * (row_col ? 2 : 1);
  if (budget.filter_bytes <= lost) return std::nullopt;
  const double bits = 8 * static_cast<double>(budget.filter_bytes - lost) /
                      static_cast<double>(entries);
  if (bits < kFewestBits) return std::nullopt;
  return RateTable::Get().Rate(std::min(bits, kMostBits));
}

// With three digits that count.
std::string Text(double number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::general, 3)
                       .ptr;
  return {text.data(), end};
}

std::string OpensText(const WrongOpens& opens) {
  return Text(opens.scan_absent_row) + " for a scan of an absent row, " +
         Text(opens.get_absent_row) + " for a get of an absent row, " +
         Text(opens.get_absent_column) + " for a get of an absent column";
}

std::string DataText(const FileProfile& profile) {
  return "A file has " + std::to_string(profile.rows) + " rows with " +
         Text(static_cast<double>(profile.cells) /
              static_cast<double>(profile.rows)) +
         " cells each; a read considers " + Text(profile.files) + " files, " +
         (profile.files_per_row == 0
              ? std::string("of which it is not known how many have its row.")
              : Text(profile.files_per_row) + " of which have its row.");
}

std::string NameText(const Advice& advice) {
  return std::string(ToString(advice.bloom_type)) +
         (advice.section_split == SectionSplit::kAdaptive
              ? " with the adaptive split"
              : "");
}

std::string PredictionText(const Advice& advice) {
  return NameText(advice) + " at a rate of " +
         Text(advice.false_positive_rate) + " takes " +
         std::to_string(advice.prediction.bytes()) +
         " bytes a file and opens files for nothing: " +
         OpensText(advice.prediction.opens) + ".";
}

std::string Problem(const FileProfile& profile, const FilterBudget& budget) {
  if (profile.rows == 0 && profile.cells > 0) {
    return "rows 0: expected some, as there are cells";
  }
  if (!(profile.files >= 1 && std::isfinite(profile.files))) {
    return "files " + std::to_string(profile.files) +
           ": expected a number from 1 up";
  }
  if (profile.files_per_row != 0 &&
      !(profile.files_per_row >= 1 && profile.files_per_row <= profile.files)) {
    return "files_per_row " + std::to_string(profile.files_per_row) +
           ": expected 0, or from 1 to files";
  }
  for (const double share :
       {profile.reads.scan_absent_row, profile.reads.get_absent_row,
        profile.reads.get_absent_column}) {
    if (!(share >= 0 && std::isfinite(share))) {
      return "share of reads " + std::to_string(share) +
             ": expected a number from 0 up";
    }
  }
  if (budget.filter_bytes == 0 &&
      !IsFalsePositiveRate(budget.false_positive_rate)) {
    return "false_positive_rate " + std::to_string(budget.false_positive_rate) +
           ": expected a number between 0 and 1, both excluded";
  }
  return "";
}

Advice MakeAdvice(const FileProfile& profile, BloomType type, double rate,
                  SectionSplit split) {
  return {
      .bloom_type = type,
      .false_positive_rate = rate,
      .section_split = split,
      .row_spread = split == SectionSplit::kAdaptive ? RowSpread(profile) : 1,
      .prediction = Predict(profile, type, rate, split)};
}

}  // namespace

Prediction Predict(const FileProfile& profile, BloomType type, double rate,
                   SectionSplit split) {
  const RateTable& table = RateTable::Get();
  const double bits = table.Bits(rate);
  Prediction result;
  if (type != BloomType::kNone && profile.rows > 0) {
    result.row_bytes = SectionBytes(profile.rows, bits);
    result.row_rate = table.Rate(bits);
  }
  if (type == BloomType::kRowCol && profile.cells > 0) {
    result.row_col_bytes = SectionBytes(profile.cells, bits);
    result.row_col_rate = table.Rate(bits);
    if (split == SectionSplit::kAdaptive) {
      const SectionBits adaptive =
          AdaptiveSplit(profile.rows, profile.cells, bits, RowSpread(profile));
      const uint64_t both = result.bytes();
      result.row_bytes =
          std::min(both, SectionBytes(profile.rows, adaptive.row));
      result.row_col_bytes = both - result.row_bytes;
      result.row_rate = table.Rate(adaptive.row);
      result.row_col_rate = table.Rate(adaptive.row_col);
    }
  }
  result.opens = PredictWrongOpens(result.row_rate, result.row_col_rate,
                                   RowSpread(profile));
  result.opens.scan_absent_row *= profile.files;
  result.opens.get_absent_row *= profile.files;
  result.opens.get_absent_column *= profile.files;
  return result;
}

Result<Advice> Advise(const FileProfile& profile, const FilterBudget& budget) {
  if (std::string problem = Problem(profile, budget); !problem.empty()) {
    return Error{std::move(problem)};
  }
  const auto cost = [&profile](const Advice& advice) {
    return Cost(advice.prediction.opens, profile.reads);
  };
  Advice none =
      MakeAdvice(profile, BloomType::kNone,
                 budget.filter_bytes == 0 ? budget.false_positive_rate : 0.01,
                 SectionSplit::kEqual);
  if (profile.rows == 0) {
    none.reason = "NONE: there are no keys in the layout.";
    return none;
  }
  if (cost(none) == 0) {
    none.reason = DataText(profile) +
                  " NONE: nothing is asked that is not there, and a filter "
                  "helps no other read.";
    return none;
  }

  std::optional<Advice> row;
  if (const auto rate = RateWithin(profile, BloomType::kRow, budget)) {
    row = MakeAdvice(profile, BloomType::kRow, *rate, SectionSplit::kEqual);
  }
  std::optional<Advice> row_col;
  if (const auto rate = RateWithin(profile, BloomType::kRowCol, budget);
      rate && profile.cells > 0) {
    row_col =
        MakeAdvice(profile, BloomType::kRowCol, *rate, SectionSplit::kEqual);
    Advice adaptive =
        MakeAdvice(profile, BloomType::kRowCol, *rate, SectionSplit::kAdaptive);
    if (cost(adaptive) < cost(*row_col)) row_col = std::move(adaptive);
  }
  if (!row) {
    none.reason = DataText(profile) +
                  " NONE: " + std::to_string(budget.filter_bytes) +
                  " bytes are less than 2 bits a row.";
    return none;
  }

  // What the cells of a ROWCOL filter add shows against ROW with as many bits
  // for each row.
  const bool takes_row_col =
      row_col &&
      cost(*row_col) <
          kWorthAllCells *
              std::min(cost(*row), cost(MakeAdvice(profile, BloomType::kRow,
                                                   row_col->prediction.row_rate,
                                                   SectionSplit::kEqual)));
  Advice advice = takes_row_col ? *row_col : *row;
  advice.reason = DataText(profile) + " " + PredictionText(advice);
  if (takes_row_col) {
    advice.reason += " " + PredictionText(*row);
  } else if (row_col) {
    advice.reason += " " + PredictionText(*row_col) +
                     " For the reads that were given the cells do not halve "
                     "what as many bits for the rows alone open.";
  } else if (profile.cells > 0) {
    advice.reason += " For ROWCOL " + std::to_string(budget.filter_bytes) +
                     " bytes are less than 2 bits an entry.";
  }
  return advice;
}

}  // namespace rowbloom
