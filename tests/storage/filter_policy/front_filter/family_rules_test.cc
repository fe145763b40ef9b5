#include "storage/filter_policy/front_filter/family_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/memtablerep.h"
#include "tests/storage/filter_policy/test_db.h"

namespace rowbloom::front_filter {
namespace {

using test::MakeFilterPolicy;
using test::TestDbOptions;
using testing::HasSubstr;

rocksdb::Options Options() {
  return TestDbOptions(
      {MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':')}), nullptr});
}

TEST(FamilyRules, AreThoseOfTheOptions) {
  auto options = Options();
  auto rules = RulesOf(options);
  ASSERT_TRUE(rules) << rules.error();
  EXPECT_EQ(rules->layout, KeyLayout::Delimited(':'));
  EXPECT_EQ(rules->order, RowOrder::kBytewise);
  EXPECT_EQ(rules->RowOf("a:b"), "a:");
  EXPECT_EQ(rules->RowOf("ab"), std::nullopt);
  options.comparator = rocksdb::ReverseBytewiseComparator();
  rules = RulesOf(options);
  ASSERT_TRUE(rules) << rules.error();
  EXPECT_EQ(rules->order, RowOrder::kReverseBytewise);
}

class Caseless : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "caseless"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/,
                             const rocksdb::Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

TEST(FamilyRules, SayWhyThereIsNoFilter) {
  const auto expect = [](const rocksdb::Options& options, const char* why) {
    const auto rules = RulesOf(options);
    ASSERT_FALSE(rules) << why;
    EXPECT_THAT(rules.error(), HasSubstr(why));
  };
  expect(rocksdb::Options(), "no filter policy");
  expect(TestDbOptions({test::StockBloom(), nullptr}), "filter policy id");
  const Caseless caseless;
  auto options = Options();
  options.comparator = &caseless;
  expect(options, "different bytes for one key");
  options = Options();
  test::ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options.comparator));
  expect(options, "timestamps");
  options = Options();
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  expect(options, "memtables are of");
}

// Against all keys of up to three letters.
TEST(FamilyRules, ARangeHoldsTheRowsThatItHasKeysOf) {
  std::vector<std::string> keys = {""};
  for (size_t i = 0; keys[i].size() < 3; ++i) {
    for (const char c : {'a', 'b', 'c'}) keys.push_back(keys[i] + c);
  }
  std::sort(keys.begin(), keys.end());
  for (size_t low = 0; low < keys.size(); ++low) {
    for (size_t high = low; high < keys.size(); ++high) {
      for (const std::string& row : keys) {
        const bool has = std::any_of(
            keys.begin() + static_cast<ptrdiff_t>(low),
            keys.begin() + static_cast<ptrdiff_t>(high) + 1,
            [&row](const std::string& key) { return key.starts_with(row); });
        EXPECT_EQ(MayLieBetween(keys[low], keys[high], row), has)
            << keys[low] << " to " << keys[high] << ", row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom::front_filter
