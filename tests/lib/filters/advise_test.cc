#include "rowbloom/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

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

TEST(Advise, TakesTheAdaptiveSplitWhereRowsAreInFewFiles) {
  for (const uint64_t cells : {2, 10}) {
    const FileProfile profile = Profile(cells, 1);
    const Advice advice = AdviseOrFail(profile, {});
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    EXPECT_EQ(advice.kind, FilterKind::kBloom);
    EXPECT_EQ(advice.section_split, SectionSplit::kAdaptive);
    EXPECT_EQ(advice.row_spread, 0.125);
    EXPECT_EQ(advice.false_positive_rate, 0.01);
    const Prediction equal =
        Predict(profile, BloomType::kRowCol, 0.01, SectionSplit::kEqual);
    EXPECT_EQ(advice.prediction.bytes(), equal.bytes());
    EXPECT_LT(advice.prediction.opens.Sum(), equal.opens.Sum());
    EXPECT_THAT(advice.reason, HasSubstr("ROWCOL with the adaptive split"));
  }
}

TEST(Advise, TakesTheEqualSplitWhereRowsAreInAllFilesOrItIsNotKnown) {
  for (const double files_per_row : {8.0, 0.0}) {
    const Advice advice = AdviseOrFail(Profile(10, files_per_row), {});
    EXPECT_EQ(advice.bloom_type, BloomType::kRowCol);
    EXPECT_EQ(advice.section_split, SectionSplit::kEqual);
    EXPECT_EQ(advice.row_spread, 1);
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
  EXPECT_THAT(advice.reason, HasSubstr("300 bytes are less than"));
}

TEST(Advise, KeepsToTheBudget) {
  BloomType last = BloomType::kNone;
  bool rowcol_seen = false;
  for (uint64_t bytes = 1000; bytes < 2'000'000; bytes = bytes * 5 / 4) {
    SCOPED_TRACE(bytes);
    const Advice advice = AdviseOrFail(Profile(10, 8), {.filter_bytes = bytes});
    EXPECT_LE(advice.prediction.bytes() + 100, bytes);
    // From none to rows to cells, as there is more.
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
       .section_split = advice.section_split,
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
             .section_split = advice.section_split,
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
      WrongOpens counts;
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
      const WrongOpens& predicted = advice.prediction.opens;
      expect(counts.scan_absent_row, predicted.scan_absent_row);
      expect(counts.get_absent_row, predicted.get_absent_row);
      expect(counts.get_absent_column, predicted.get_absent_column);
    }
  }
}

TEST(Advise, PredictsRowAloneAndNone) {
  const FileProfile profile = Profile(10, 1);
  const Prediction row =
      Predict(profile, BloomType::kRow, 0.01, SectionSplit::kEqual);
  EXPECT_NEAR(row.opens.scan_absent_row, 0.08, 0.001);
  EXPECT_NEAR(row.opens.get_absent_row, 0.08, 0.001);
  EXPECT_NEAR(row.opens.get_absent_column, 1.07, 0.001);
  EXPECT_NEAR(static_cast<double>(row.row_bytes), 20'000 * BitsPerKey(0.01) / 8,
              64);
  const Prediction none =
      Predict(profile, BloomType::kNone, 0.01, SectionSplit::kEqual);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_EQ(none.opens.get_absent_column, 8);
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
  EXPECT_THAT(error({.rows = 1}, {.false_positive_rate = 1}),
              HasSubstr("false_positive_rate 1"));
  EXPECT_EQ(error({.rows = 1}), "taken");
}

}  // namespace
}  // namespace rowbloom
