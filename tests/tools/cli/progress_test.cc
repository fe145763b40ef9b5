#include "tools/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>

namespace rowbloom::test {
namespace {

using cli::Job;
using cli::Progress;
using cli::ProgressText;
using std::chrono::milliseconds;

TEST(ProgressText, HasShareRateAndTimeLeft) {
  EXPECT_EQ(
      ProgressText({"cells.tsv", 100'000'000, "cells"},
                   {.bytes = 25'000'000, .count = 1'234'567, .seconds = 10}),
      "cells.tsv: 25 % of 95.4 MiB, 1,234,567 cells, 123,456 cells/s, "
      "0:30 left");
}

TEST(ProgressText, WithoutAUnitTheRateIsOfBytes) {
  EXPECT_EQ(ProgressText({"a.sst", 3'000'000'000, ""},
                         {.bytes = 1'000'000'000, .seconds = 4000}),
            "a.sst: 33 % of 2.8 GiB, 244.1 KiB/s, 2:13:20 left");
}

TEST(ProgressText, OfUnknownLengthHasNoTimeLeft) {
  EXPECT_EQ(ProgressText({"standard input", std::nullopt, "lines"},
                         {.bytes = 2'500'000, .count = 10, .seconds = 5}),
            "standard input: 2.4 MiB, 10 lines, 2 lines/s");
}

TEST(ProgressText, TheShareIsOfTheCountWhereBytesAreUnknown) {
  EXPECT_EQ(
      ProgressText({"orders", std::nullopt, "cells"}, {.bytes = 2'500'000,
                                                       .count = 1000,
                                                       .seconds = 5,
                                                       .total_count = 4000}),
      "orders: 25 % of 4,000 cells, 200 cells/s, 0:15 left");
  // An estimate that was too low.
  EXPECT_EQ(ProgressText({"orders", std::nullopt, "cells"},
                         {.count = 9, .seconds = 3, .total_count = 4}),
            "orders: 100 % of 4 cells, 3 cells/s, 0:00 left");
}

// Numbers that a division or a cast could not take.
TEST(ProgressText, TakesAnyState) {
  EXPECT_EQ(ProgressText({"f", 10, ""}, {}), "f: 0 % of 10 B, 0 B/s");
  EXPECT_EQ(ProgressText({"f", 0, ""}, {.bytes = 0, .seconds = 2}),
            "f: 0 B, 0 B/s");
  EXPECT_EQ(ProgressText({"grown", 1'000'000, ""},
                         {.bytes = 2'000'000, .seconds = 2}),
            "grown: 100 % of 976.6 KiB, 976.6 KiB/s, 0:00 left");
  EXPECT_EQ(ProgressText({"slow", uint64_t{1} << 63, ""},
                         {.bytes = 1, .seconds = 1e6}),
            "slow: 0 % of 8.0 EiB, 0 B/s, days left");
}

// Less than a second tells nothing of the rest.
TEST(ProgressText, TimeLeftWantsASecond) {
  EXPECT_EQ(
      ProgressText({"f", 2'000'000, ""}, {.bytes = 1'000'000, .seconds = 0.5}),
      "f: 50 % of 1.9 MiB, 1.9 MiB/s");
}

TEST(ProgressText, LongTitlesKeepTheirEnd) {
  EXPECT_EQ(ProgressText({std::string(40, 'd') + "/cells-of-2026.tsv", {}, ""},
                         {.seconds = 1}),
            "...ddd/cells-of-2026.tsv: 0 B, 0 B/s");
}

// A clock that the test moves.
class ProgressLine : public ::testing::Test {
 protected:
  Progress::Clock Clock() {
    return [this] { return std::chrono::duration<double>(now_); };
  }

  std::ostringstream err_;
  milliseconds now_{5'000};
};

TEST_F(ProgressLine, IsRewrittenTenTimesASecond) {
  Progress progress({err_, true}, Job{"f", std::nullopt, "cells"}, Clock());
  EXPECT_EQ(err_.str(), "");
  progress.Update(0, 1);
  EXPECT_EQ(err_.str(), "\rf: 0 B, 1 cells, 1,000 cells/s\x1b[K\r");
  err_.str("");
  now_ += milliseconds(99);
  progress.Update(0, 2);
  EXPECT_EQ(err_.str(), "");
  now_ += milliseconds(401);
  progress.Update(0, 3);
  EXPECT_EQ(err_.str(), "\rf: 0 B, 3 cells, 6 cells/s\x1b[K\r");
}

TEST_F(ProgressLine, IsErasedAtTheEndOnce) {
  {
    Progress progress({err_, true}, Job{"f", 10, ""}, Clock());
    progress.Update(1);
    err_.str("");
    progress.Finish();
    EXPECT_EQ(err_.str(), "\r\x1b[K");
  }
  EXPECT_EQ(err_.str(), "\r\x1b[K");
  err_.str("");
  { const Progress unused({err_, true}, Job{"f", 10, ""}, Clock()); }
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ProgressLine, IsForTerminalsOnly) {
  {
    Progress progress({err_}, Job{"f", 10, ""}, Clock());
    progress.Update(5);
    now_ += milliseconds(1'500);
    EXPECT_EQ(progress.seconds(), 1.5);
  }
  EXPECT_EQ(err_.str(), "");
}

}  // namespace
}  // namespace rowbloom::test
