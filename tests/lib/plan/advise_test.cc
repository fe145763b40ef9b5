#include "rowbloom/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/plan/level_plan.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using testing::HasSubstr;

Advice AdviseOrFail(const FileProfile& profile, const FilterBudget& budget) {
  const Result<Advice> advice = Advise(profile, budget);
  EXPECT_TRUE(advice) << (advice ? "" : advice.error());
  return advice ? *advice : Advice{};
}

// 20,000 rows in one of eight files each.
FileProfile Profile(uint64_t cells_per_row, double files_per_row) {
  return {.rows = 20'000,
          .cells = 20'000 * cells_per_row,
          .files = 8,
          .files_per_row = files_per_row};
}

// A section has 2^24 blocks at most (FORMAT.md), which are too few from some
// 0.9 * 10^9 keys at 1 % on.
TEST(Predict, TellsTheRateOfASectionThatHoldsMoreKeysThanFit) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  // The best probes of 8 and of 2 bits for each row; 1 % has six.
  for (const auto& [rows, probes] :
       {std::pair(kGiB, 5), std::pair(4 * kGiB, 1)}) {
    const Prediction built =
        Predict({.rows = rows, .files = 2}, {.bloom_type = BloomType::kRow});
    EXPECT_EQ(built.row_bytes, kGiB);
    EXPECT_DOUBLE_EQ(built.row_rate,
                     BlockedFalsePositiveRate(rows, uint64_t{1} << 24, probes));
    EXPECT_GT(built.row_rate, 0.02);
  }
  const Prediction fits =
      Predict({.rows = kGiB / 2, .files = 2}, {.bloom_type = BloomType::kRow});
  EXPECT_NEAR(fits.row_rate, 0.01, 1e-6);
}

TEST(Predict, TellsTheRateOfARibbonThatNoSectionCanHold) {
  const Prediction built = Predict({.rows = uint64_t{1} << 63, .files = 2},
                                   {.bloom_type = BloomType::kRow,
                                    .kind = FilterKind::kRibbon,
                                    .false_positive_rate = 1e-7});
  EXPECT_EQ(built.row_bytes, uint64_t{1} << 30);
  EXPECT_EQ(built.row_rate, 1);
}

TEST(Advise, TakesTheAdaptiveSplitWhereRowsAreInFewFiles) {
  for (const uint64_t cells : {2, 10}) {
    const FileProfile profile = Profile(cells, 1);
    const Advice advice = AdviseOrFail(profile, {});
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    EXPECT_EQ(advice.kind, FilterKind::kBloom);
    EXPECT_EQ(advice.row_spread, 0.125);
    EXPECT_EQ(advice.false_positive_rate, 0.01);
    const Prediction equal =
        Predict(profile, {.bloom_type = BloomType::kRowCol});
    EXPECT_EQ(advice.prediction.bytes(), equal.bytes());
    EXPECT_LT(advice.prediction.wasted.Sum(), equal.wasted.Sum());
    EXPECT_THAT(advice.reason,
                HasSubstr("ROWCOL of kind bloom with the adaptive split"));
  }
}

TEST(Advise, TakesTheEqualSplitWhereRowsAreInAllFilesOrItIsNotKnown) {
  for (const double files_per_row : {8.0, 0.0}) {
    const Advice advice = AdviseOrFail(Profile(10, files_per_row), {});
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    EXPECT_EQ(advice.row_spread, std::nullopt);
  }
}

TEST(Advise, TakesRowWhereNoColumnsAreAskedForInVain) {
  FileProfile profile = Profile(10, 1);
  profile.reads = {.scan_absent_row = 1, .get_absent_column = 0};
  const Advice advice = AdviseOrFail(profile, {});
  EXPECT_EQ(advice.bloom_type, BloomType::kRow);
  EXPECT_EQ(advice.prediction.row_col_bytes, 0u);
  EXPECT_THAT(advice.reason, HasSubstr("do not halve"));
  // Bare rows have no columns at all.
  EXPECT_EQ(AdviseOrFail({.rows = 10, .files = 4}, {}).bloom_type,
            BloomType::kRow);
}

TEST(Advise, TakesNoneWhereNothingHelps) {
  FileProfile profile = Profile(10, 1);
  profile.reads = {0, 0, 0};
  EXPECT_EQ(AdviseOrFail(profile, {}).bloom_type, BloomType::kNone);
  EXPECT_EQ(AdviseOrFail({}, {}).bloom_type, BloomType::kNone);
  const Advice advice = AdviseOrFail(Profile(10, 1), {.filter_bytes = 300});
  EXPECT_EQ(advice.bloom_type, BloomType::kNone);
  EXPECT_THAT(advice.reason, HasSubstr("300 bytes have no room"));
  // A filter has 160 bytes around its sections.
  EXPECT_THAT(
      AdviseOrFail({.rows = 10, .files = 4}, {.filter_bytes = 100}).reason,
      HasSubstr("100 bytes have no room for 2 bits a row"));
}

TEST(Advise, KeepsToTheBudget) {
  BloomType last = BloomType::kNone;
  bool rowcol_seen = false;
  for (uint64_t bytes = 1000; bytes < 2'000'000; bytes = bytes * 5 / 4) {
    SCOPED_TRACE(bytes);
    const Advice advice = AdviseOrFail(Profile(10, 8), {.filter_bytes = bytes});
    EXPECT_LE(advice.prediction.bytes() + 100, bytes);
    // More bytes lead from NONE to ROW to ROWCOL.
    EXPECT_GE(static_cast<int>(advice.bloom_type), static_cast<int>(last));
    last = advice.bloom_type;
    rowcol_seen |= last == BloomType::kRowCol;
    EXPECT_FALSE(advice.reason.empty());
  }
  EXPECT_TRUE(rowcol_seen);
  // The builder keeps to it too, with what is around the sections.
  const Advice advice = AdviseOrFail(Profile(10, 1), {.filter_bytes = 200'000});
  FilterBlockBuilder builder(
      {.key_layout = KeyLayout::FixedRow(8),
       .bits_per_key = BitsPerKey(advice.false_positive_rate),
       .row_spread = advice.row_spread});
  for (uint64_t row = 0; row < 20'000; ++row) {
    for (int cell = 0; cell < 10; ++cell) {
      builder.AddKey(test::DistinctKey(row) + std::to_string(cell));
    }
  }
  const size_t size = builder.Finish().size();
  EXPECT_LE(size, 200'000u);
  EXPECT_GE(size, 198'000u);
  ASSERT_EQ(builder.finished_sections().size(), 2u);
  const auto row_bytes =
      static_cast<double>(builder.finished_sections()[0].size_bytes);
  EXPECT_NEAR(row_bytes, static_cast<double>(advice.prediction.row_bytes),
              0.01 * row_bytes);
}

// Eight files of 2,000 rows as advised, and what they really open.
TEST(Advise, PredictsWhatBlocksDo) {
  constexpr uint64_t kFiles = 8;
  constexpr uint64_t kRows = 2000;
  for (const uint64_t columns : {2, 10}) {
    for (const bool in_all_files : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << columns << " columns, all files " << in_all_files);
      const FileProfile profile = {
          .rows = kRows,
          .cells = kRows * columns,
          .files = kFiles,
          .files_per_row = in_all_files ? double{kFiles} : 1};
      const Advice advice =
          AdviseOrFail(profile, {.false_positive_rate = 0.05});
      const uint64_t all_rows = in_all_files ? kRows : kRows * kFiles;
      std::vector<std::string> blocks;
      for (uint64_t file = 0; file < kFiles; ++file) {
        FilterBlockBuilder builder(
            {.bloom_type = advice.bloom_type,
             .key_layout = KeyLayout::FixedRow(8),
             .bits_per_key = BitsPerKey(advice.false_positive_rate),
             .row_spread = advice.row_spread});
        for (uint64_t row = 0; row < kRows; ++row) {
          for (uint64_t column = 0; column < columns; ++column) {
            builder.AddKey(
                test::DistinctKey(in_all_files ? row : kRows * file + row) +
                std::to_string(file * columns + column));
          }
        }
        blocks.push_back(builder.Finish());
      }
      WastedReads counts;
      const uint64_t asked = test::Scaled(50'000);
      for (const std::string& bytes : blocks) {
        const FilterBlock block = FilterBlock::Open(bytes);
        for (uint64_t i = 0; i < asked; ++i) {
          const std::string absent = test::DistinctKey(all_rows + i);
          counts.scan_absent_row += block.MayMatchRow(absent);
          counts.get_absent_row += block.MayMatchRowCol(absent, "1");
          counts.get_absent_column += block.MayMatchRowCol(
              test::DistinctKey(i % all_rows), std::to_string(1000 + i));
        }
      }
      const auto expect = [asked](double counted, double predicted) {
        const double expected = predicted * static_cast<double>(asked);
        EXPECT_NEAR(counted, expected,
                    0.1 * expected + 5 * std::sqrt(expected));
      };
      const WastedReads& predicted = advice.prediction.wasted;
      expect(counts.scan_absent_row, predicted.scan_absent_row);
      expect(counts.get_absent_row, predicted.get_absent_row);
      expect(counts.get_absent_column, predicted.get_absent_column);
    }
  }
}

// The predicted bytes are those of the sections that the builder makes.
TEST(Advise, PredictsTheBytesOfEachAlternative) {
  for (const uint64_t rows : {200, 2000, 20'000}) {
    for (const double rate : {0.1, 0.01, 0.001}) {
      const FileProfile profile = {
          .rows = rows, .cells = 3 * rows, .files = 8, .files_per_row = 1};
      const Advice advice =
          AdviseOrFail(profile, {.false_positive_rate = rate});
      ASSERT_EQ(advice.alternatives.size(), 7u);
      for (const FilterAlternative& filter : advice.alternatives) {
        if (filter.bloom_type == BloomType::kNone) continue;
        SCOPED_TRACE(testing::Message()
                     << rows << " rows, " << ToString(filter.bloom_type) << ", "
                     << ToString(filter.kind) << ", " << rate << ", adaptive "
                     << filter.row_spread.has_value());
        FilterBlockBuilder builder(
            {.bloom_type = filter.bloom_type,
             .key_layout = KeyLayout::FixedRow(8),
             .kind = filter.kind,
             .bits_per_key = BitsPerKey(filter.false_positive_rate),
             .row_spread = filter.row_spread});
        for (uint64_t row = 0; row < rows; ++row) {
          for (int cell = 0; cell < 3; ++cell) {
            builder.AddKey(test::DistinctKey(row) + std::to_string(cell));
          }
        }
        builder.Finish();
        const auto& sections = builder.finished_sections();
        const auto expect = [](uint64_t built, uint64_t predicted) {
          EXPECT_NEAR(static_cast<double>(built),
                      static_cast<double>(predicted),
                      0.03 * static_cast<double>(built) + 64);
        };
        expect(sections[0].size_bytes, filter.prediction.row_bytes);
        if (filter.bloom_type == BloomType::kRowCol) {
          ASSERT_EQ(sections.size(), 2u);
          expect(sections[1].size_bytes, filter.prediction.row_col_bytes);
        }
      }
    }
  }
}

TEST(Advise, RibbonsKeepToTheBudgetWithLowerRates) {
  FileProfile profile = Profile(10, 1);
  profile.lifetime_seconds = 86'400;
  int compared = 0;
  for (uint64_t bytes = 1000; bytes < 2'000'000; bytes = bytes * 4 / 3) {
    SCOPED_TRACE(bytes);
    const Advice advice = AdviseOrFail(profile, {.filter_bytes = bytes});
    for (const FilterAlternative& filter : advice.alternatives) {
      EXPECT_LE(filter.prediction.bytes() + 100, bytes);
      for (const FilterAlternative& other : advice.alternatives) {
        if (other.bloom_type == filter.bloom_type &&
            other.row_spread == filter.row_spread &&
            filter.kind == FilterKind::kRibbon &&
            other.kind == FilterKind::kBloom) {
          ++compared;
          EXPECT_LE(filter.false_positive_rate,
                    1.01 * other.false_positive_rate);
        }
      }
    }
  }
  EXPECT_GT(compared, 30);
}

// A million keys at 0.01, of which a ribbon saves 390,000 bytes.
TEST(Advise, TakesTheRibbonWhereMemoryIsWorthMoreThanTime) {
  const auto kind = [](double lifetime_seconds, double questions_per_second,
                       uint64_t rows = 100'000) {
    const Advice advice =
        AdviseOrFail({.rows = rows,
                      .cells = 9 * rows,
                      .files = 8,
                      .lifetime_seconds = lifetime_seconds,
                      .questions_per_second = questions_per_second},
                     {});
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    EXPECT_EQ(advice.alternatives[advice.taken].kind, advice.kind);
    return advice.kind;
  };
  // An unknown lifetime counts as a short one.
  EXPECT_EQ(kind(0, 0), FilterKind::kBloom);
  // Twenty minutes, as the header says.
  EXPECT_EQ(kind(15 * 60, 0), FilterKind::kBloom);
  EXPECT_EQ(kind(20 * 60, 0), FilterKind::kRibbon);
  // The limit is some 4,500 lookups a second.
  EXPECT_EQ(kind(1e9, 4'000), FilterKind::kRibbon);
  EXPECT_EQ(kind(1e9, 5'000), FilterKind::kBloom);
  // A tenth of the file can bear a tenth of the lookups.
  EXPECT_EQ(kind(1e9, 400, 10'000), FilterKind::kRibbon);
  EXPECT_EQ(kind(1e9, 500, 10'000), FilterKind::kBloom);
  // A ribbon of so few keys saves nothing.
  EXPECT_EQ(kind(1e9, 0, 3), FilterKind::kBloom);
}

FileProfile InTree(uint32_t level) {
  FileProfile profile = Profile(10, 1);
  profile.place = {.level = level};
  return profile;
}

TEST(Advise, TakesTheRibbonAtTheLastLevel) {
  for (uint32_t level = 0; level <= 4; ++level) {
    SCOPED_TRACE(level);
    const Advice advice = AdviseOrFail(InTree(level), {});
    EXPECT_EQ(advice.kind,
              level == 4 ? FilterKind::kRibbon : FilterKind::kBloom);
    EXPECT_THAT(advice.reason,
                HasSubstr(level == 4 ? "A ribbon saves"
                                     : "not known that the file lives long"));
  }
  FileProfile asked = InTree(4);
  asked.questions_per_second = 1e6;
  EXPECT_EQ(AdviseOrFail(asked, {}).kind, FilterKind::kBloom);
  FileProfile long_lived = InTree(1);
  long_lived.lifetime_seconds = 1e6;
  EXPECT_EQ(AdviseOrFail(long_lived, {}).kind, FilterKind::kRibbon);
}

TEST(Advise, TakesOptimalBitsByLevelInATree) {
  for (const uint32_t level : {0U, 4U}) {
    const FileProfile profile = InTree(level);
    const Advice advice = AdviseOrFail(profile, {});
    EXPECT_EQ(advice.level_allocation, profile.place->tree);
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    // NONE, and each kind: ROW by allocation, ROWCOL by allocation and split.
    EXPECT_EQ(advice.alternatives.size(), 13u);
    EXPECT_EQ(static_cast<const FilterSpec&>(advice.alternatives[advice.taken]),
              static_cast<const FilterSpec&>(advice));
    // The file's own rates are those of its level, the opens are of the tree.
    FilterSpec uniform = advice;
    uniform.level_allocation.reset();
    const Prediction before = Predict(profile, uniform);
    if (level == 0) {
      EXPECT_LT(advice.prediction.row_rate, 0.1 * before.row_rate);
      EXPECT_GT(advice.prediction.bytes(), before.bytes());
    } else {
      EXPECT_GT(advice.prediction.row_col_rate, before.row_col_rate);
      EXPECT_LT(advice.prediction.bytes(), before.bytes());
    }
    EXPECT_LT(advice.prediction.wasted.scan_absent_row,
              0.6 * before.wasted.scan_absent_row);
    EXPECT_LT(advice.prediction.wasted.get_absent_row,
              0.6 * before.wasted.get_absent_row);
    EXPECT_LT(advice.prediction.wasted.get_absent_column,
              1.01 * before.wasted.get_absent_column);
  }
  // All reads are of absent columns, in rows at one level: nothing to win.
  FileProfile columns = InTree(4);
  columns.reads = {.scan_absent_row = 0, .get_absent_row = 0};
  EXPECT_EQ(
      AdviseOrFail(columns, {.false_positive_rate = 0.001}).level_allocation,
      std::nullopt);
}

// The arithmetic of the model in a small tree, by hand: runs of 1/20, 1/20,
// 1/10 and 1 of the last one's entries, each with its share of a row that is in
// one.
TEST(Advise, PredictsTrees) {
  FileProfile profile = {.rows = 10'000, .cells = 10'000, .files_per_row = 1};
  profile.place = {.tree = {.levels = 2, .level0_files = 2}, .level = 2};
  const auto expect = [&](std::optional<LevelShape> allocation,
                          const std::vector<double>& rates) {
    const Prediction prediction = Predict(
        profile,
        {.bloom_type = BloomType::kRowCol, .level_allocation = allocation});
    const std::vector<double> spread = {0.05 / 1.2, 0.05 / 1.2, 0.1 / 1.2,
                                        1 / 1.2};
    WastedReads sum;
    for (size_t i = 0; i < rates.size(); ++i) {
      const WastedReads wasted =
          PredictWastedReads({rates[i], rates[i]}, spread[i]);
      sum.scan_absent_row += wasted.scan_absent_row;
      sum.get_absent_row += wasted.get_absent_row;
      sum.get_absent_column += wasted.get_absent_column;
    }
    EXPECT_NEAR(prediction.wasted.scan_absent_row, sum.scan_absent_row, 1e-9);
    EXPECT_NEAR(prediction.wasted.get_absent_row, sum.get_absent_row, 1e-9);
    EXPECT_NEAR(prediction.wasted.get_absent_column, sum.get_absent_column,
                1e-9);
    EXPECT_NEAR(prediction.row_rate, rates.back(), 1e-9);
  };
  expect(std::nullopt, std::vector<double>(4, 0.01));
  std::vector<double> rates =
      LevelRates(profile.place->tree, BloomType::kRowCol,
                 std::array{FilterKind::kBloom}, 0.01);
  rates.insert(rates.begin(), rates[0]);
  expect(profile.place->tree, rates);
}

// A row that is at several levels is in the large ones for sure.
TEST(Advise, SpreadsRowsOverTheLevels) {
  FileProfile profile = InTree(4);
  profile.reads = {.scan_absent_row = 0, .get_absent_row = 0};
  const FilterSpec row = {.bloom_type = BloomType::kRow,
                          .false_positive_rate = 1e-6};
  for (const double files_per_row : {1.0, 1.5, 3.0, 7.5, 8.0}) {
    profile.files_per_row = files_per_row;
    // ROW passes the files of the row, and no others.
    EXPECT_NEAR(Predict(profile, row).wasted.get_absent_column, files_per_row,
                1e-4);
  }
  profile.files_per_row = 0;
  EXPECT_NEAR(Predict(profile, row).wasted.get_absent_column, 8, 1e-4);
  // The deepest tree.
  profile.place = {.tree = {.levels = 63, .size_ratio = 1000}, .level = 63};
  profile.files_per_row = 1;
  EXPECT_NEAR(Predict(profile, row).wasted.get_absent_column, 1, 1e-3);
}

TEST(Advise, PredictsRowAloneAndNone) {
  const FileProfile profile = Profile(10, 1);
  const Prediction row = Predict(profile, {.bloom_type = BloomType::kRow});
  EXPECT_NEAR(row.wasted.scan_absent_row, 0.08, 0.001);
  EXPECT_NEAR(row.wasted.get_absent_row, 0.08, 0.001);
  EXPECT_NEAR(row.wasted.get_absent_column, 1.07, 0.001);
  EXPECT_NEAR(static_cast<double>(row.row_bytes), 20'000 * BitsPerKey(0.01) / 8,
              64);
  const Prediction none = Predict(profile, {.bloom_type = BloomType::kNone});
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_EQ(none.wasted.get_absent_column, 8);
}

TEST(Advise, NumbersOutOfTheirRangeAreRefused) {
  const auto error = [](const FileProfile& profile,
                        const FilterBudget& budget = {}) {
    const Result<Advice> advice = Advise(profile, budget);
    return advice ? std::string("taken") : advice.error();
  };
  EXPECT_THAT(error({.cells = 1}), HasSubstr("rows 0"));
  EXPECT_THAT(error({.rows = 1, .files = 0.5}), HasSubstr("files 0.5"));
  EXPECT_THAT(error({.rows = 1, .files = NAN}), HasSubstr("files nan"));
  EXPECT_THAT(error({.rows = 1, .files = 2, .files_per_row = 3}),
              HasSubstr("files_per_row 3"));
  EXPECT_THAT(error({.rows = 1, .reads = {.get_absent_row = -1}}),
              HasSubstr("share of reads -1"));
  const auto tree = [](const LevelShape& shape, uint32_t level) {
    FileProfile profile = {.rows = 1};
    profile.place = {shape, level};
    return profile;
  };
  EXPECT_THAT(error(tree({.levels = 0}, 0)), HasSubstr("tree: levels 0"));
  EXPECT_THAT(error(tree({.levels = 3}, 4)),
              HasSubstr("level 4: expected 0 to 3"));
  FileProfile rows_in_too_many = tree({.levels = 3, .level0_files = 2}, 0);
  rows_in_too_many.files_per_row = 5.5;
  EXPECT_THAT(error(rows_in_too_many),
              HasSubstr("files_per_row 5.5: expected 0, or from 1 to 5"));
  EXPECT_THAT(error({.rows = 1, .lifetime_seconds = -1}),
              HasSubstr("lifetime_seconds -1"));
  EXPECT_THAT(error({.rows = 1, .questions_per_second = NAN}),
              HasSubstr("questions_per_second nan"));
  EXPECT_THAT(error({.rows = 1}, {.false_positive_rate = 1}),
              HasSubstr("false_positive_rate 1"));
  EXPECT_EQ(error({.rows = 1}), "taken");
}

}  // namespace
}  // namespace rowbloom
