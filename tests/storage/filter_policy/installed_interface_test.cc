// RocksDB's private filter interface, as rowbloom declares it again, against
// the installed library: its own builders and readers, called through our
// declaration, do in each function what only this function does. A function in
// another's place would do something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"

namespace rowbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;
using test::DistinctKey;
using test::IsOk;
using test::StatusIs;
using testing::ElementsAre;
using Buffer = std::unique_ptr<const char[]>;

constexpr size_t kKeys = 5000;

class InstalledInterface : public testing::Test {
 protected:
  InstalledInterface() { builder_ = NewBuilder(false); }

  // `verify`: entries stay until MaybePostVerify has compared them.
  std::unique_ptr<FilterBitsBuilder> NewBuilder(bool verify) {
    table_.detect_filter_construct_corruption = verify;
    return std::unique_ptr<FilterBitsBuilder>(
        policy_->GetBuilderWithContext(rocksdb::FilterBuildingContext(table_)));
  }

  void AddKeys() {
    for (size_t i = 0; i < kKeys; ++i) builder_->AddKey(DistinctKey(i));
  }

  rocksdb::BlockBasedTableOptions table_;
  const std::unique_ptr<const rocksdb::FilterPolicy> policy_{
      rocksdb::NewBloomFilterPolicy(10)};
  std::unique_ptr<FilterBitsBuilder> builder_;
};

TEST_F(InstalledInterface, AddedKeysAreCountedUntilFinish) {
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 0u);
  builder_->AddKey("a");
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 1u);
  builder_->AddKey("a");
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 1u);
  builder_->AddKey("b");
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 2u);
  Buffer buffer;
  builder_->Finish(&buffer);
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 0u);
}

TEST_F(InstalledInterface, EachFinishMakesTheFilterAndOneSetsAStatus) {
  AddKeys();
  Buffer buffer;
  const std::string filter = builder_->Finish(&buffer).ToString();
  EXPECT_GT(filter.size(), kKeys);
  AddKeys();
  Status status = Status::Busy();
  Buffer other_buffer;
  const Slice same = builder_->Finish(&other_buffer, &status);
  EXPECT_THAT(status, IsOk());
  EXPECT_TRUE(same == filter);
  EXPECT_EQ(same.data(), other_buffer.get());
}

TEST_F(InstalledInterface, PostVerifyTellsTheFilterFromADamagedOne) {
  builder_ = NewBuilder(true);
  AddKeys();
  Buffer buffer;
  Status status;
  const Slice filter = builder_->Finish(&buffer, &status);
  EXPECT_THAT(builder_->MaybePostVerify(filter), IsOk());
  AddKeys();
  Buffer damaged;
  const Slice zeros = builder_->Finish(&damaged, &status);
  // All but the metadata at the end.
  std::fill_n(const_cast<char*>(damaged.get()), zeros.size() - 5, '\0');
  EXPECT_THAT(builder_->MaybePostVerify(zeros),
              StatusIs(Status::kCorruption, testing::_));
}

TEST_F(InstalledInterface, EntriesThatFitAreThoseOfTenBitsEach) {
  EXPECT_NEAR(static_cast<double>(builder_->ApproximateNumEntries(1 << 20)),
              (8 << 20) / 10, 1000);
}

#if ROWBLOOM_FILTER_INTERFACE >= 906
TEST_F(InstalledInterface, AKeyAndItsAlternativeAreTwoEntries) {
  builder_->AddKeyAndAlt("row:cell", "row:");
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 2u);
  builder_->AddKeyAndAlt("row:other", "row:");
  EXPECT_EQ(builder_->EstimateEntriesAdded(), 3u);
}
#endif

#if ROWBLOOM_FILTER_INTERFACE >= 1009
TEST_F(InstalledInterface, SpaceAndRateAreThoseOfTenBitsEach) {
  const size_t bytes = builder_->CalculateSpace(kKeys);
  EXPECT_NEAR(static_cast<double>(bytes), kKeys * 10 / 8, 100);
  EXPECT_NEAR(builder_->EstimatedFpRate(kKeys, bytes), 0.01, 0.005);
}
#endif

TEST_F(InstalledInterface, ReaderAnswersOneAndMany) {
  AddKeys();
  Buffer buffer;
  Status status;
  const Slice filter = builder_->Finish(&buffer, &status);
  const std::unique_ptr<FilterBitsReader> reader(
      policy_->GetFilterBitsReader(filter));
  size_t wrong = 0;
  for (size_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(reader->MayMatch(DistinctKey(i))) << i;
    wrong += reader->MayMatch(DistinctKey(kKeys + i));
  }
  EXPECT_LT(wrong, kKeys / 50);
  size_t absent = kKeys;
  while (reader->MayMatch(DistinctKey(absent))) ++absent;
  const std::string there = DistinctKey(7);
  const std::string away = DistinctKey(absent);
  Slice slices[] = {there, away, there};
  Slice* keys[] = {&slices[0], &slices[1], &slices[2]};
  bool may_match[] = {true, true, true, false};
  reader->MayMatch(3, keys, may_match);
  EXPECT_THAT(may_match, ElementsAre(true, false, true, false));
}

}  // namespace
}  // namespace rowbloom
