// No false negative: the same random operations on a database with rowbloom's
// filters, on one without filters, and on a std::map must give the same
// answers, over layouts, Bloom types, full and partitioned filters, with and
// without compaction, and what RocksDB hands over: whole keys and rows, rows
// alone, whole keys and prefixes that are not rows. Counters prove that the
// filters were consulted. Cases that differ in their filters alone do the same
// operations, so that one of them has the database without filters.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rocksdb/slice_transform.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using test::ExpectOk;
using test::Random;

constexpr uint64_t kOperations = 1'000'000;  // over all parameters together
constexpr uint32_t kRowPrefixLength = 6;

const KeyLayout& CustomLayout() {
  static const KeyLayout layout = *KeyLayout::RegisterCustom(
      "up_to_slash_or_bar", [](std::string_view key) -> std::optional<size_t> {
        const size_t at = key.find_first_of("/|");
        if (at == std::string_view::npos) return std::nullopt;
        return at + 1;
      });
  return layout;
}

struct NamedLayout {
  const char* name;
  KeyLayout layout;
};

const std::array<NamedLayout, 5>& Layouts() {
  static const std::array<NamedLayout, 5> layouts = {
      {{"Escaped", KeyLayout::Escaped()},
       {"Fixed", KeyLayout::FixedRow(8)},
       {"Delimited", KeyLayout::Delimited(':')},
       {"LengthPrefixed", KeyLayout::LengthPrefixed()},
       {"Custom", CustomLayout()}}};
  return layouts;
}

constexpr std::array kTypes = {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength};

// The entries that RocksDB adds to a filter.
enum class Entries { kKeysAndRows, kRows, kKeysAndPrefixes };
constexpr std::array kEntries = {Entries::kKeysAndRows, Entries::kRows,
                                 Entries::kKeysAndPrefixes};

struct Parameter {
  NamedLayout layout;
  BloomType type;
  bool partitioned;
  bool compacting;
  Entries entries;
};

// Files that compaction makes are large enough for the compact kind.
FilterKind KindOf(const Parameter& parameter) {
  return parameter.compacting ? FilterKind::kRibbon : FilterKind::kBloom;
}

std::string Name(const Parameter& parameter) {
  const std::string type(ToString(parameter.type));
  return parameter.layout.name + type.substr(0, type.find('_')) +
         (parameter.partitioned ? "Partitioned" : "Full") +
         (parameter.compacting ? "Compacted" : "Flushed") +
         (parameter.entries == Entries::kRows              ? "RowsAlone"
          : parameter.entries == Entries::kKeysAndPrefixes ? "OtherPrefixes"
                                                           : "");
}

// Tells whether the case has the database without filters, too.
bool HasPlain(const Parameter& parameter) {
  return parameter.type != BloomType::kRowCol && !parameter.partitioned;
}

void PrintTo(const Parameter& parameter, std::ostream* out) {
  *out << Name(parameter);
}

std::vector<Parameter> Parameters() {
  std::vector<Parameter> all;
  for (const NamedLayout& layout : Layouts()) {
    for (const BloomType type : kTypes) {
      for (const bool partitioned : {false, true}) {
        for (const bool compacting : {false, true}) {
          for (const Entries entries : kEntries) {
            all.push_back({layout, type, partitioned, compacting, entries});
          }
        }
      }
    }
  }
  return all;
}

class Model : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    const Parameter& parameter = GetParam();
    layout_ = parameter.layout.layout;
    const bool by_prefix = parameter.type == BloomType::kRowPrefixFixedLength;
    policy_ = test::MakeFilterPolicy(
        {.bloom_type = parameter.type,
         .key_layout = layout_,
         .kind = KindOf(parameter),
         .false_positive_rate = 0.02,
         .row_prefix_length = by_prefix ? kRowPrefixLength : 0});
    // Scans over all rows with a common prefix are what that type is for. A
    // u16 length stands between such rows, so there it is whole rows. The
    // capped transform takes short keys, at which the fixed one asserts.
    if (parameter.entries == Entries::kKeysAndPrefixes) {
      // Ends inside the row of no layout, and inside the qualifier of some.
      extractor_.reset(rocksdb::NewCappedPrefixTransform(10));
    } else if (by_prefix && layout_.RowOffset() == 0) {
      extractor_.reset(rocksdb::NewCappedPrefixTransform(kRowPrefixLength));
    } else {
      extractor_ = NewRowPrefixExtractor(layout_);
    }
    filtered_ = Open(policy_, "filtered");
    databases_ = {filtered_.get()};
    if (HasPlain(parameter)) {
      plain_ = Open(nullptr, "plain");
      databases_.push_back(plain_.get());
    }
  }

  std::unique_ptr<rocksdb::DB> Open(
      const std::shared_ptr<const rocksdb::FilterPolicy>& policy,
      const char* name) {
    rocksdb::Options options =
        test::TestDbOptions({policy, extractor_, GetParam().partitioned,
                             GetParam().entries != Entries::kRows});
    if (GetParam().compacting) {
      options.disable_auto_compactions = false;
      options.level0_file_num_compaction_trigger = 3;
      options.target_file_size_base = 8 << 10;
      options.max_bytes_for_level_base = 32 << 10;
    }
    return test::OpenDb(options, dir_.File(name));
  }

  // Row numbers are dense and columns few, so that every kind of lookup is
  // frequent. The first digits are shared by about a hundred rows.
  std::string Row(uint64_t number) const {
    const std::string digits = std::to_string(10'000'000 + number * 3);
    if (GetParam().layout.layout == CustomLayout()) {
      return digits + (number % 2 == 0 ? "/" : "|");
    }
    return *layout_.EncodeRow(digits);
  }
  std::string Key(Random* random) const {
    if (random->OneIn(50)) {  // most of these are outside every layout
      return random->Bytes(random->Below(3));
    }
    static const std::array<std::string, 7> kQualifiers = {
        "",
        "a",
        "b",
        "c",
        std::string(1, '\0'),
        "\xff\xff",
        "a long qualifier of more than sixteen bytes"};
    return Row(random->Below(600)) + kQualifiers[random->Below(7)];
  }

  void Put(const std::string& key, const std::string& value) {
    for (rocksdb::DB* db : databases_) ExpectOk(db->Put({}, key, value));
    model_[key] = value;
  }
  void Delete(const std::string& key) {
    for (rocksdb::DB* db : databases_) ExpectOk(db->Delete({}, key));
    model_.erase(key);
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    for (rocksdb::DB* db : databases_) {
      ExpectOk(db->DeleteRange({}, db->DefaultColumnFamily(), begin, end));
    }
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }
  void Flush() {
    for (rocksdb::DB* db : databases_) ExpectOk(db->Flush({}));
  }
  void Compact() {
    for (rocksdb::DB* db : databases_) {
      ExpectOk(db->CompactRange({}, nullptr, nullptr));
    }
  }

  void CheckGet(const std::string& key) {
    const auto expected = model_.find(key);
    for (rocksdb::DB* db : databases_) {
      std::string value;
      const rocksdb::Status status = db->Get({}, key, &value);
      if (expected == model_.end()) {
        ASSERT_TRUE(status.IsNotFound()) << status.ToString();
      } else {
        ExpectOk(status);
        ASSERT_EQ(value, expected->second);
      }
    }
  }

  void CheckMultiGet(const std::vector<std::string>& keys) {
    for (rocksdb::DB* db : databases_) {
      std::vector<std::string> values;
      const auto statuses = test::MultiGet(db, keys, &values);
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto expected = model_.find(keys[i]);
        if (expected == model_.end()) {
          ASSERT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
        } else {
          ExpectOk(statuses[i]);
          ASSERT_EQ(values[i], expected->second);
        }
      }
    }
  }

  // All keys with the extractor's prefix of `key`, forward, backward, and
  // between bounds.
  void CheckScan(const std::string& key) {
    ASSERT_TRUE(extractor_->InDomain(key));
    const std::string prefix = extractor_->Transform(key).ToString();
    std::vector<std::pair<std::string, std::string>> expected;
    std::vector<std::pair<std::string, std::string>> expected_in_bounds;
    for (auto it = model_.lower_bound(prefix);
         it != model_.end() && it->first.starts_with(prefix); ++it) {
      expected_in_bounds.push_back(*it);
      // A short key is a prefix of its own to the capped transform.
      if (extractor_->Transform(it->first) == prefix) expected.push_back(*it);
    }
    for (rocksdb::DB* db : databases_) {
      const std::unique_ptr<rocksdb::Iterator> it(
          db->NewIterator(test::SamePrefix()));
      std::vector<std::pair<std::string, std::string>> found;
      for (it->Seek(prefix); it->Valid(); it->Next()) {
        found.emplace_back(it->key().ToString(), it->value().ToString());
      }
      ExpectOk(it->status());
      ASSERT_EQ(found, expected);
      // Beyond all qualifiers, and for most prefixes still with that prefix.
      const std::string last = prefix + std::string(64, '\xff');
      if (extractor_->Transform(last) == prefix) {
        found.clear();
        for (it->SeekForPrev(last); it->Valid(); it->Prev()) {
          found.emplace(found.begin(), it->key().ToString(),
                        it->value().ToString());
        }
        ExpectOk(it->status());
        ASSERT_EQ(found, expected) << "backward";
      }

      const Slice upper_bound(last);
      rocksdb::ReadOptions bounded;
      bounded.auto_prefix_mode = true;
      bounded.iterate_upper_bound = &upper_bound;
      const std::unique_ptr<rocksdb::Iterator> in_bounds(
          db->NewIterator(bounded));
      found.clear();
      for (in_bounds->Seek(prefix); in_bounds->Valid(); in_bounds->Next()) {
        found.emplace_back(in_bounds->key().ToString(),
                           in_bounds->value().ToString());
      }
      ExpectOk(in_bounds->status());
      ASSERT_EQ(found, expected_in_bounds) << "auto_prefix_mode";
    }
  }

  void CheckEverything() {
    rocksdb::ReadOptions all;
    all.total_order_seek = true;
    for (rocksdb::DB* db : databases_) {
      const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(all));
      auto expected = model_.begin();
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
        ASSERT_NE(expected, model_.end());
        ASSERT_EQ(it->key().ToString(), expected->first);
        ASSERT_EQ(it->value().ToString(), expected->second);
      }
      ExpectOk(it->status());
      ASSERT_EQ(expected, model_.end());
    }
    for (const auto& [key, value] : model_) CheckGet(key);
  }

  void Step(Random* random, uint64_t step) {
    switch (random->Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        Put(Key(random), std::to_string(step));
        break;
      case 5:
        Delete(Key(random));
        break;
      case 6:
        if (random->OneIn(4)) {
          const std::string row = Row(random->Below(600));
          DeleteRange(row, row + std::string(64, '\xff'));
        } else {
          CheckGet(Row(600 + random->Below(600)) + "a");  // absent row
        }
        break;
      case 7:
      case 8: {
        const std::string key = Row(random->Below(900)) + "a";
        CheckScan(key);
        break;
      }
      case 9: {
        std::vector<std::string> keys;
        const uint64_t row = random->Below(600);
        for (uint64_t i = random->Below(20); i > 0; --i) {
          keys.push_back(Key(random));
          keys.push_back(Row(row) +
                         std::string(1, static_cast<char>('a' + i % 5)));
        }
        CheckMultiGet(keys);
        break;
      }
      case 10:
        CheckGet(Row(random->Below(600)) + "absent" + std::to_string(step));
        break;
      default:
        CheckGet(Key(random));
    }
    if (step % 700 == 699) Flush();
    if (GetParam().compacting && step % 3000 == 2999) Compact();
  }

  KeyLayout layout_ = KeyLayout::Escaped();
  test::TempDir dir_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  std::map<std::string, std::string> model_;
  std::unique_ptr<rocksdb::DB> filtered_;
  std::unique_ptr<rocksdb::DB> plain_;   // nullptr: see HasPlain
  std::vector<rocksdb::DB*> databases_;  // both
};

INSTANTIATE_TEST_SUITE_P(FilterPolicy, Model, testing::ValuesIn(Parameters()),
                         [](const auto& test) { return Name(test.param); });

TEST_P(Model, AnswersAreThoseOfAMap) {
  Random random(test::SeedFromEnv());
  const uint64_t steps = test::Scaled(kOperations / Parameters().size() + 1);
  for (uint64_t step = 0; step < steps; ++step) {
    Step(&random, step);
    if (HasFatalFailure()) FAIL() << "at step " << step;
  }
  Flush();
  if (GetParam().compacting) Compact();
  CheckEverything();
  for (uint64_t row = 0; row < 700; ++row) {
    CheckScan(Row(row) + "a");
    CheckGet(Row(row) + "a");
    CheckGet(Row(row) + "neither");
  }

  const FilterStats stats = test::StatsOf(*policy_);
  RecordProperty("operations", std::to_string(steps));
  RecordProperty("row_skipped", std::to_string(stats.row.skipped));
  RecordProperty("row_col_skipped", std::to_string(stats.row_col.skipped));
  EXPECT_EQ(stats.blocks_unusable, 0u);
  EXPECT_EQ(stats.row.unusable + stats.row_col.unusable, 0u);
  if (!IsFilterActive(filtered_.get())) {
    // RocksDB's partitions of rows alone lose rows, so they get no filter.
    EXPECT_TRUE(GetParam().partitioned);
    EXPECT_EQ(GetParam().entries, Entries::kRows);
    EXPECT_EQ(stats.blocks_built, 0u);
    return;
  }
  EXPECT_GT(stats.blocks_built, 0u);
  EXPECT_GT(stats.row.checked, 500u);
  EXPECT_GT(stats.row.skipped, 50u);
  if (GetParam().type == BloomType::kRowCol &&
      GetParam().entries != Entries::kRows) {
    EXPECT_GT(stats.row_col.checked, 100u);
    EXPECT_GT(stats.row_col.skipped, 50u);
  } else {
    EXPECT_EQ(stats.row_col.checked, 0u);
  }
}

}  // namespace
}  // namespace rowbloom
