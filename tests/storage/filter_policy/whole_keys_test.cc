// Keys outside the layout, on real databases: gets of them skip files as with
// RocksDB's own filter, whatever else the filter has, and none is ever lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rocksdb/slice_transform.h"
#include "rocksdb/version.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::whole_keys_test {
namespace {

using test::ExpectOk;
using test::MakeFilterPolicy;
using test::MultiGet;
using test::OpenDb;
using test::Scaled;
using test::StatsOf;
using test::TableChoices;
using test::TempDir;

const KeyLayout kLayout = KeyLayout::Delimited(':');

enum class Extractor { kNone, kOwn, kFixed, kCapped };

constexpr int kFiles = 4;
// A file has so many keys of each kind.
const int kKeys = static_cast<int>(std::max<uint64_t>(Scaled(400), 100));

std::string Number(int number) {
  std::string text = std::to_string(100'000 + number);
  return text;
}
// Files have different keys, whose ranges overlap.
std::string Inside(int file, int i) {
  return "row" + Number(i * kFiles + file) + ":c" + std::to_string(i % 3);
}
std::string Outside(int file, int i) {
  return "row" + Number(i * kFiles + file) + "/c" + std::to_string(i % 3);
}

class WholeKeys
    : public testing::TestWithParam<std::tuple<BloomType, Extractor, bool>> {
 protected:
  WholeKeys() {
    const auto [type, extractor, partitioned] = GetParam();
    const bool prefix = type == BloomType::kRowPrefixFixedLength;
    policy_ = MakeFilterPolicy({.bloom_type = type,
                                .key_layout = kLayout,
                                .false_positive_rate = 0.001,
                                .row_prefix_length = prefix ? 9u : 0u});
    TableChoices choices{.policy = policy_, .partitioned = partitioned};
    switch (extractor) {
      case Extractor::kNone:
        break;
      case Extractor::kOwn:
        choices.extractor = NewRowPrefixExtractor(kLayout);
        break;
      case Extractor::kFixed:
        choices.extractor.reset(rocksdb::NewFixedPrefixTransform(9));
        break;
      case Extractor::kCapped:
        choices.extractor.reset(rocksdb::NewCappedPrefixTransform(9));
        break;
    }
    options_ = test::TestDbOptions(choices);
    db_ = OpenDb(options_, dir_.File("db"));
    for (int file = 0; file < kFiles; ++file) {
      for (int i = 0; i < kKeys; ++i) {
        Put(Inside(file, i));
        Put(Outside(file, i));
      }
      Put(std::string(1, static_cast<char>('A' + file)));  // shorter than most
      ExpectOk(db_->Flush({}));
    }
    std::sort(written_.begin(), written_.end());
  }

  void Put(const std::string& key) {
    ExpectOk(db_->Put({}, key, key + "'s value"));
    written_.push_back(key);
  }

  TempDir dir_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<std::string> written_;
};

INSTANTIATE_TEST_SUITE_P(
    Each, WholeKeys,
    testing::Combine(testing::Values(BloomType::kRow, BloomType::kRowCol,
                                     BloomType::kRowPrefixFixedLength),
                     testing::Values(Extractor::kNone, Extractor::kOwn,
                                     Extractor::kFixed, Extractor::kCapped),
                     testing::Bool()));

TEST_P(WholeKeys, AreFoundByGetAndMultiGet) {
  std::string value;
  for (const std::string& key : written_) {
    ExpectOk(db_->Get({}, key, &value));
    EXPECT_EQ(value, key + "'s value");
  }
  // Batches have both kinds of keys, and keys that are nowhere.
  for (size_t start = 0; start < written_.size(); start += 40) {
    std::vector<std::string> keys;
    const size_t end = std::min(start + 40, written_.size());
    for (size_t i = start; i < end; ++i) {
      keys.push_back(written_[i]);
      keys.push_back(written_[i] + "x");
    }
    std::vector<std::string> values;
    const auto statuses = MultiGet(db_.get(), keys, &values);
    for (size_t i = 0; i < keys.size(); i += 2) {
      EXPECT_TRUE(statuses[i].ok()) << keys[i];
      EXPECT_EQ(values[i], keys[i] + "'s value");
      EXPECT_TRUE(statuses[i + 1].IsNotFound()) << keys[i + 1];
    }
  }
}

TEST_P(WholeKeys, GetsOfThemSkipFiles) {
  std::string value;
  const FilterStats before = StatsOf(*policy_);
  int gets = 0;
  for (int i = 0; i < kKeys; ++i) {
    for (int file = 0; file < kFiles; ++file) {
      EXPECT_TRUE(db_->Get({}, Outside(file, i) + "y", &value).IsNotFound());
      ++gets;
    }
  }
  const FilterStats after = StatsOf(*policy_);
  // A key is outside all files' ranges only at the edges.
  const uint64_t asked = after.asked - before.asked;
  EXPECT_GT(asked, uint64_t{kFiles} * gets * 9 / 10);
  EXPECT_LT(after.may_match - before.may_match, asked / 100);
}

TEST_P(WholeKeys, PrefixSeeksFindThem) {
  const Extractor extractor = std::get<1>(GetParam());
  if (extractor == Extractor::kNone) GTEST_SKIP() << "no prefixes";
  const auto transform = db_->GetOptions().prefix_extractor;
  uint64_t found = 0;
  for (size_t at = 0; at < written_.size(); at += 7) {
    const std::string& key = written_[at];
    if (!transform->InDomain(key)) continue;
    const std::string prefix = transform->Transform(key).ToString();
    std::vector<std::string> expected;
    for (size_t i = at; i < written_.size(); ++i) {
      if (transform->InDomain(written_[i]) &&
          transform->Transform(written_[i]) == prefix) {
        expected.push_back(written_[i]);
      } else {
        break;
      }
    }
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(test::SamePrefix()));
    std::vector<std::string> seen;
    for (it->Seek(key); it->Valid(); it->Next()) {
      // Iterators end at a key outside the extractor's domain, or go on to it.
      if (!transform->InDomain(it->key()) ||
          transform->Transform(it->key()) != prefix) {
        break;
      }
      seen.push_back(it->key().ToString());
    }
    ExpectOk(it->status());
    EXPECT_EQ(seen, expected) << key;
    found += seen.size();
  }
  EXPECT_GT(found, static_cast<uint64_t>(kKeys / 2));
}

TEST_P(WholeKeys, SurviveCompactionAndReopening) {
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  db_.reset();
  db_ = OpenDb(options_, dir_.File("db"));
  std::string value;
  for (const std::string& key : written_) ExpectOk(db_->Get({}, key, &value));
  const FilterStats before = StatsOf(*policy_);
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_TRUE(db_->Get({}, Outside(1, i) + "y", &value).IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  const auto gets = static_cast<uint64_t>(kKeys);
  EXPECT_GT(after.asked - before.asked, gets * 9 / 10);
  EXPECT_LT(after.may_match - before.may_match, gets / 20);
}

// RocksDB adds prefixes and probes for them under the policy of the rows alone.
TEST(WholeKeysOfPrefixes, AnExtractorOfAnotherKindIsServed) {
  for (const bool partitioned : {false, true}) {
    const auto policy = MakeFilterPolicy({.key_layout = kLayout});
    TempDir dir;
    TableChoices choices{
        .policy = policy,
        .extractor = std::shared_ptr<const rocksdb::SliceTransform>(
            rocksdb::NewFixedPrefixTransform(9)),
        .partitioned = partitioned,
        .whole_key_filtering = false};
    const auto db = OpenDb(test::TestDbOptions(choices), dir.File("db"));
    if (!IsFilterActive(db.get())) {
      EXPECT_TRUE(partitioned && ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 905);
      continue;
    }
    for (int file = 0; file < kFiles; ++file) {
      for (int i = 0; i < kKeys; ++i) {
        ExpectOk(db->Put({}, Outside(file, i), "v"));
      }
      ExpectOk(db->Flush({}));
    }
    std::string value;
    for (int i = 0; i < kKeys; ++i) {
      for (int file = 0; file < kFiles; ++file) {
        ExpectOk(db->Get({}, Outside(file, i), &value));
      }
    }
    // Each row is in one file: the others are skipped by its prefix.
    const FilterStats stats = StatsOf(*policy);
    EXPECT_GT(stats.asked, uint64_t{kFiles} * kKeys);
    EXPECT_GT(stats.row.skipped, stats.asked / 2);
  }
}

// RocksDB adds no prefix of a key that is outside the extractor's domain, as
// one is whose layout throws, for want of memory perhaps.
TEST(ThrowingLayout, LosesNoRowWithoutWholeKeys) {
  static std::atomic<bool> throws{false};
  const auto layout = KeyLayout::RegisterCustom(
      "throws_for_a_while", [](std::string_view key) -> std::optional<size_t> {
        if (throws && key.starts_with('b')) throw std::bad_alloc();
        return 1;
      });
  ASSERT_TRUE(layout);
  const TempDir dir;
  const auto policy =
      MakeFilterPolicy({.bloom_type = BloomType::kRow, .key_layout = *layout});
  const auto db =
      OpenDb(test::TestDbOptions({.policy = policy,
                                  .extractor = NewRowPrefixExtractor(*layout),
                                  .whole_key_filtering = false}),
             dir.File("db"));
  const auto finds = [&db](const std::string& row) {
    const std::unique_ptr<rocksdb::Iterator> it(
        db->NewIterator(test::SamePrefix()));
    it->Seek(row);
    return it->Valid();
  };
  for (const bool failing : {true, false}) {
    for (const char* key : {"a1", "b1", "c1"}) ExpectOk(db->Put({}, key, "v"));
    throws = failing;
    ExpectOk(db->Flush({}));
    throws = false;
    for (const char* row : {"a", "b", "c"}) EXPECT_TRUE(finds(row)) << row;
  }
  const FilterStats stats = StatsOf(*policy);
  EXPECT_EQ(stats.blocks_failed, 1);
  EXPECT_EQ(stats.blocks_built, 1);
}

}  // namespace
}  // namespace rowbloom::whole_keys_test
