// Turns are balanced, contenders that do not do the same are refused, and
// intervals and claims are those of the books.
#include "bench/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/comparison.h"

namespace rowbloom::bench {
namespace {

Contender Doing(const std::string& name, uint64_t work) {
  return {name, [work](uint64_t, uint64_t, uint64_t* done) {
            *done = work;
            return rocksdb::Status::OK();
          }};
}

TEST(Turns, EachContenderDoesAllOperationsInTurn) {
  std::vector<uint64_t> begins[2];
  const auto note = [&begins](size_t i) {
    return Contender{std::to_string(i),
                     [&begins, i](uint64_t begin, uint64_t end,
                                  uint64_t* work) -> rocksdb::Status {
                       begins[i].push_back(begin);
                       *work = end - begin;
                       return rocksdb::Status::OK();
                     }};
  };
  std::vector<Measurement> measured;
  ASSERT_TRUE(TakeTurns({note(0), note(1)},
                        {.operations = 25,
                         .turn = 10,
                         .min_rounds = 4,
                         .seconds = 0,
                         .control = false},
                        &measured)
                  .ok());
  const std::vector<uint64_t> expected = {0, 10, 0, 10, 0};
  EXPECT_EQ(begins[0], expected);
  EXPECT_EQ(begins[1], expected);
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_EQ(measured[0].turns, 4u);
  EXPECT_EQ(measured[0].cpu_ratio.value, 1);
  EXPECT_EQ(measured[1].name, "1");
}

TEST(Turns, EachContenderFollowsEachOtherEquallyOften) {
  for (size_t count = 1; count <= 6; ++count) {
    SCOPED_TRACE(std::to_string(count) + " contenders");
    std::vector<size_t> first(count);
    std::vector<std::vector<size_t>> after(count, std::vector<size_t>(count));
    for (uint64_t round = 0; round < 2 * count; ++round) {
      ++first[ContenderAt(0, round, count)];
      for (size_t place = 1; place < count; ++place) {
        ++after[ContenderAt(place - 1, round, count)]
               [ContenderAt(place, round, count)];
      }
    }
    for (size_t a = 0; a < count; ++a) {
      EXPECT_EQ(first[a], 2u);
      for (size_t b = 0; b < count; ++b) EXPECT_EQ(after[a][b], a == b ? 0 : 2);
    }
  }
}

double told_nanos = 0;

// A turn takes four times as long as the same one a place earlier, so that
// ratios differ by the order of the round.
std::vector<Measurement> TakeTurnsThatDependOnTheirPlace(size_t count,
                                                         uint64_t rounds) {
  uint64_t runs = 0;
  std::vector<Contender> contenders;
  for (size_t i = 0; i < count; ++i) {
    contenders.push_back(Doing(std::to_string(i), 1));
    contenders.back().run = [&runs, count, i](uint64_t, uint64_t,
                                              uint64_t* work) {
      told_nanos += static_cast<double>((i + 1) << (2 * (runs++ % count)));
      *work = 1;
      return rocksdb::Status::OK();
    };
  }
  told_nanos = 0;
  std::vector<Measurement> measured;
  EXPECT_TRUE(TakeTurns(contenders,
                        {.min_rounds = rounds,
                         .seconds = 0,
                         .control = false,
                         .cpu_nanos = [] { return told_nanos; }},
                        &measured)
                  .ok());
  return measured;
}

TEST(Turns, RatiosOfRoundsInOppositeOrdersAreOneSample) {
  for (size_t count = 2; count <= 5; ++count) {
    SCOPED_TRACE(std::to_string(count) + " contenders");
    const auto measured = TakeTurnsThatDependOnTheirPlace(count, 12 * count);
    for (size_t i = 0; i < count; ++i) {
      const auto ratio = static_cast<double>(i + 1);
      EXPECT_EQ(measured[i].cpu_ratio.value, ratio);
      EXPECT_EQ(measured[i].cpu_ratio.low, ratio);
      EXPECT_EQ(measured[i].cpu_ratio.high, ratio);
      EXPECT_EQ(measured[i].turns, 12 * count);
    }
  }
}

TEST(Turns, RatiosOfFewRoundsAreSamplesByThemselves) {
  const Estimate paired = TakeTurnsThatDependOnTheirPlace(2, 12)[1].cpu_ratio;
  EXPECT_EQ(paired.low, 2);
  EXPECT_EQ(paired.high, 2);
  const Estimate single = TakeTurnsThatDependOnTheirPlace(2, 11)[1].cpu_ratio;
  EXPECT_EQ(single.low, 0.5);
  EXPECT_EQ(single.high, 8);
}

TEST(Turns, ContendersThatDoDifferentWorkAreNotCompared) {
  const TurnOptions once = {.min_rounds = 1, .seconds = 0};
  std::vector<Measurement> measured;
  EXPECT_TRUE(TakeTurns({Doing("a", 5), Doing("b", 5)}, once, &measured).ok());
  EXPECT_TRUE(TakeTurns({Doing("a", 5), Doing("b", 4)}, once, &measured)
                  .IsInvalidArgument());
  EXPECT_TRUE(TakeTurns({Doing("a", 0)}, once, &measured).IsInvalidArgument());
}

TEST(Turns, ContendersThatAnswerDifferentlyAreNotCompared) {
  const TurnOptions once = {.min_rounds = 1, .seconds = 0};
  const auto answering = [](uint64_t digest) {
    Contender contender = Doing(std::to_string(digest), 1);
    contender.answers = [digest] { return digest; };
    return contender;
  };
  std::vector<Measurement> measured;
  EXPECT_TRUE(TakeTurns({answering(7), answering(7)}, once, &measured).ok());
  EXPECT_TRUE(TakeTurns({answering(7), answering(8)}, once, &measured)
                  .IsInvalidArgument());
}

// A contender of its own would leave its data in the caches for the first one.
TEST(Turns, ControlIsTheFirstContenderInSuccessiveTurns) {
  int runs = 0;
  Contender counted = Doing("a", 1);
  counted.run = [&runs](uint64_t, uint64_t, uint64_t* work) {
    ++runs;
    *work = 1;
    return rocksdb::Status::OK();
  };
  std::vector<Measurement> measured;
  ASSERT_TRUE(TakeTurns({counted, Doing("b", 1)},
                        {.min_rounds = 8, .seconds = 0}, &measured)
                  .ok());
  ASSERT_EQ(measured.size(), 3u);
  EXPECT_EQ(measured[2].name, kControl);
  EXPECT_EQ(measured[2].turns, measured[0].turns / 2);
  EXPECT_EQ(static_cast<uint64_t>(runs), 1 + measured[0].turns);
}

TEST(Turns, SlowContendersTakePartInSomeRounds) {
  int runs = 0;
  Contender slow = {"slow", [&runs](uint64_t, uint64_t, uint64_t* work) {
                      ++runs;
                      *work = 1;
                      return rocksdb::Status::OK();
                    }};
  slow.every = 7;
  Turns turns({Doing("a", 1), slow});
  const TurnOptions options = {.min_rounds = 14, .seconds = 0};
  ASSERT_TRUE(turns.Take(options).ok());
  ASSERT_TRUE(turns.Take(options).ok());
  EXPECT_EQ(runs, 6);
  EXPECT_EQ(turns.Results()[0].turns, 28u);
  EXPECT_EQ(turns.Results()[1].turns, 4u);
}

TEST(Estimates, QuantilesAreOfTheSortedValues) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 1), 5);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 0), 1);
}

// The ranks that tables of the sign test give for 95 %.
TEST(Estimates, IntervalsOfMediansHaveTheRanksOfTheTables) {
  struct Row {
    int samples, low, high;
  };
  for (const Row& row :
       {Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9}, Row{15, 4, 12},
        Row{20, 6, 15}, Row{25, 8, 18}, Row{30, 10, 21}, Row{50, 18, 33},
        Row{100, 40, 61}}) {
    SCOPED_TRACE(row.samples);
    std::vector<double> samples;
    for (int i = row.samples; i > 0; --i) samples.push_back(i);
    const Estimate median = MedianOf(samples);
    EXPECT_EQ(median.low, row.low);
    EXPECT_EQ(median.high, row.high);
  }
  const Estimate few = MedianOf({1, 2, 3, 4, 5});
  EXPECT_EQ(few.value, 3);
  EXPECT_EQ(few.low, 0);
  EXPECT_TRUE(std::isinf(few.high));
}

// 10 of 20: Wilson's interval is 0.2993 to 0.7007.
TEST(Estimates, RatiosOfCountsHaveTheIntervalOfTheirShare) {
  const Estimate even = RatioOfCounts(10, 10);
  EXPECT_EQ(even.value, 1);
  EXPECT_NEAR(even.low, 0.2993 / 0.7007, 1e-3);
  EXPECT_NEAR(even.high, 0.7007 / 0.2993, 1e-3);
  EXPECT_EQ(RatioOfCounts(0, 50).value, 0);
  EXPECT_GT(RatioOfCounts(0, 50).high, 0.02);
  EXPECT_TRUE(std::isinf(RatioOfCounts(0, 0).high));
}

TEST(Claims, HoldAreMissedOrUndecidedByTheInterval) {
  EXPECT_EQ(Judge({1.0, 0.9, 1.1}, 1.1), Verdict::kHolds);
  EXPECT_EQ(Judge({1.2, 1.15, 1.3}, 1.1), Verdict::kMissed);
  EXPECT_EQ(Judge({1.0, 0.9, 1.2}, 1.1), Verdict::kUndecided);
  EXPECT_EQ(Judge({1.2, 1.0, 1.3}, 1.1), Verdict::kUndecided);
  EXPECT_EQ(Judge(MedianOf({1, 1, 1}), 2), Verdict::kUndecided);
}

TEST(Claims, AreOfTheContenderAndTimeThatTheyName) {
  Comparison comparison{"get", "16 files", "get", AtMost(1.1)};
  comparison.measurements = {{.name = "RocksDB"},
                             {.name = "store",
                              .cpu_ratio = {1.2, 1.19, 1.21},
                              .wall_ratio = {1, 0.99, 1.01}}};
  EXPECT_EQ(ClaimsThatAre(Verdict::kMissed, {comparison}).size(), 1u);
  comparison.claims = AtMost(1.1, &Measurement::wall_ratio);
  EXPECT_EQ(ClaimsThatAre(Verdict::kHolds, {comparison}).size(), 1u);
  comparison.claims = AtMost(std::nullopt);
  for (const Verdict verdict :
       {Verdict::kHolds, Verdict::kUndecided, Verdict::kMissed}) {
    EXPECT_TRUE(ClaimsThatAre(verdict, {comparison}).empty());
  }
}

}  // namespace
}  // namespace rowbloom::bench
