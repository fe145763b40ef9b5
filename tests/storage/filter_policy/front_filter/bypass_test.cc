#include "storage/filter_policy/front_filter/bypass.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::front_filter {
namespace {

using test::ExpectOk;

// Gets of which one in `absent_every` is absent; 0: none. Returns how many of
// them looked their row up.
int LookedUp(Bypass* bypass, int gets, int absent_every) {
  int looked_up = 0;
  for (int i = 0; i < gets; ++i) {
    const Bypass::Get get = bypass->Next();
    if (get == Bypass::Get::kSkips) continue;
    ++looked_up;
    const bool absent = absent_every != 0 && i % absent_every == 0;
    if (get == Bypass::Get::kIsSample) bypass->Learn(1, absent ? 1 : 0);
  }
  return looked_up;
}

constexpr int kMany = 100'000;
// This many gets lead to a decision, with much to spare.
constexpr int kSome = 4 * Bypass::kEvery * Bypass::kRows;

TEST(Bypass, SkipsWhereFewRowsAreAbsent) {
  Bypass bypass(true);
  EXPECT_EQ(LookedUp(&bypass, 200, 0), 200);
  LookedUp(&bypass, kSome, 0);
  constexpr int kSamples = kMany / Bypass::kEvery;
  EXPECT_NEAR(LookedUp(&bypass, kMany, 0), kSamples, kSamples / 5);
  EXPECT_NEAR(LookedUp(&bypass, kMany, 200), kSamples, kSamples / 5);
}

TEST(Bypass, LooksUpWhereManyAre) {
  Bypass bypass(true);
  LookedUp(&bypass, kSome, 0);
  LookedUp(&bypass, kSome, 10);
  EXPECT_EQ(LookedUp(&bypass, kMany, 10), kMany);
  LookedUp(&bypass, kSome, 0);
  EXPECT_LT(LookedUp(&bypass, kMany, 0), kMany / 8);
}

// A sample at each kEvery-th get would see all of these rows absent, or none.
TEST(Bypass, NoPatternEscapes) {
  constexpr int kPeriod = Bypass::kEvery / 4;
  Bypass bypass(true);
  LookedUp(&bypass, kSome, kPeriod);
  EXPECT_EQ(LookedUp(&bypass, kMany, kPeriod), kMany);
}

// Threads that make fewer gets than there are from one sample to the next.
TEST(Bypass, ShortThreads) {
  constexpr int kGets = Bypass::kEvery / 2;
  Bypass bypass(true);
  LookedUp(&bypass, kSome, 0);
  for (int i = 0; i < kSome / kGets; ++i) {
    std::thread([&bypass] { LookedUp(&bypass, kGets, 1); }).join();
  }
  EXPECT_EQ(LookedUp(&bypass, kGets, 1), kGets);
}

TEST(Bypass, OffLooksUpAlways) {
  Bypass bypass(false);
  LookedUp(&bypass, kSome, 0);
  EXPECT_EQ(LookedUp(&bypass, kMany, 0), kMany);
}

// Through a database: gets of present rows stop to look their rows up, and
// those of absent ones begin to again. Answers are the same.
TEST(Bypass, OfADatabase) {
  test::TempDir dir;
  for (const bool bypass : {true, false}) {
    std::unique_ptr<FrontFilterDB> db;
    ExpectOk(OpenWithFrontFilter(
        {.bypass = bypass},
        test::TestDbOptions(
            {test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':')}),
             nullptr}),
        dir.File(bypass ? "on" : "off"), &db));
    db->front_filter()->WaitUntilArmed();
    ExpectOk(db->Put({}, "row:a", "v"));
    ExpectOk(db->Flush({}));
    std::string value;
    // Keys outside the layout say nothing of rows.
    for (int i = 0; i < kSome; ++i) {
      EXPECT_TRUE(db->Get({}, "outside", &value).IsNotFound());
    }
    EXPECT_EQ(db->front_filter()->Stats().bypassed, 0u);
    for (int i = 0; i < kSome; ++i) ExpectOk(db->Get({}, "row:a", &value));
    const auto present = db->front_filter()->Stats();
    EXPECT_EQ(present.asked + present.bypassed, kSome);
    EXPECT_EQ(present.bypassed > kSome / 4, bypass);
    EXPECT_EQ(present.passed_found, present.asked);
    const rocksdb::Slice keys[] = {"no:a", "no:b"};
    rocksdb::PinnableSlice values[2];
    rocksdb::Status statuses[2];
    for (int i = 0; i < kSome; ++i) {
      EXPECT_TRUE(db->Get({}, "no:a", &value).IsNotFound());
      if (i % 16 != 0) continue;
      db->MultiGet({}, db->DefaultColumnFamily(), 2, keys, values, statuses);
      EXPECT_TRUE(statuses[0].IsNotFound() && statuses[1].IsNotFound());
    }
    const auto absent = db->front_filter()->Stats();
    EXPECT_GT(absent.answered, kSome / 4);
    EXPECT_EQ(absent.families.at(0).answered, absent.answered);
    const uint64_t asked = absent.asked;
    EXPECT_FALSE(
        db->front_filter()->MayHaveRow(db->DefaultColumnFamily(), "no:"));
    EXPECT_EQ(db->front_filter()->Stats().asked, asked + 1);
  }
}

}  // namespace
}  // namespace rowbloom::front_filter
