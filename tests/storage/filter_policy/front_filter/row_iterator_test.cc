// Iterators of a FrontFilterDB, beside those of a database without one.
#include "storage/filter_policy/front_filter/row_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/front_filter/all_listed.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using test::ExpectOk;
using test::Random;

const KeyLayout kLayout = KeyLayout::Delimited(':');

std::string RowAt(uint64_t row) { return "row" + std::to_string(100 + row); }

class RowIteratorTest : public testing::Test {
 protected:
  using Iterator = std::unique_ptr<rocksdb::Iterator>;
  using Extractor = std::shared_ptr<const rocksdb::SliceTransform>;

  void Open(const Extractor& extractor = NewRowPrefixExtractor(kLayout)) {
    auto options = test::TestDbOptions(
        {test::MakeFilterPolicy({.key_layout = kLayout}), extractor});
    ExpectOk(OpenWithFrontFilter({}, options, dir_.File("front"), &front_));
    front_->front_filter()->WaitUntilArmed();
    plain_ = test::OpenDb(options, dir_.File("plain"));
  }
  void ForBoth(const std::function<void(rocksdb::DB*)>& what) {
    what(front_.get());
    what(plain_.get());
  }
  void Put(const std::string& key) {
    ForBoth([&](rocksdb::DB* db) { ExpectOk(db->Put({}, key, "of " + key)); });
  }
  void Flush() {
    ForBoth([](rocksdb::DB* db) { ExpectOk(db->Flush({})); });
  }
  uint64_t Answered() { return front_->front_filter()->Stats().answered; }

  static std::string At(rocksdb::Iterator* it) {
    return it->Valid() ? it->key().ToString() + "=" + it->value().ToString()
                       : it->status().ToString();
  }
  static std::string Seek(rocksdb::Iterator* it, const std::string& target) {
    it->Seek(target);
    return At(it);
  }

  // Returns the first iterator that answers. One that is made while the view
  // changes, as some time after a flush, answers nothing.
  Iterator Answering(const ReadOptions& options = test::SamePrefix()) {
    Iterator it;
    EXPECT_TRUE(test::WaitFor([&] {
      it.reset(front_->NewIterator(options));
      EXPECT_EQ(Seek(it.get(), "row105:"), "OK");
      return Answered() == 1;
    }));
    return it;
  }

  // Moves two iterators likewise, at random, and compares them.
  void Walk(rocksdb::Iterator* ours, rocksdb::Iterator* rocksdbs,
            Random* random, int steps) {
    for (int step = 0; step < steps; ++step) {
      const uint64_t action = random->Below(12);
      std::string target = RowAt(random->Below(60)) + ":";
      if (random->OneIn(2)) target += random->OneIn(2) ? "a" : "m";
      if (random->OneIn(8)) target = random->OneIn(2) ? "none" : "row";
      const bool valid = rocksdbs->Valid();
      for (rocksdb::Iterator* it : {ours, rocksdbs}) {
        if (action == 0) it->SeekToFirst();
        if (action == 1) it->SeekToLast();
        if (action == 2) it->SeekForPrev(target);
        if (action >= 3 && action < 9) it->Seek(target);
        if (action == 9 && valid) it->Prev();
        if (action > 9 && valid) it->Next();
      }
      ASSERT_EQ(At(ours), At(rocksdbs)) << "action " << action << " " << target;
      ASSERT_EQ(ours->status().ToString(), rocksdbs->status().ToString());
    }
  }

  test::TempDir dir_;
  std::unique_ptr<FrontFilterDB> front_;
  std::unique_ptr<rocksdb::DB> plain_;
};

TEST_F(RowIteratorTest, AnswersAsRocksdb) {
  Random random(test::SeedFromEnv());
  Open();
  const Slice low("row110:a"), high("row140:");
  for (int round = 0; round < 40; ++round) {
    ReadOptions options = test::SamePrefix();
    options.total_order_seek = random.OneIn(6);
    if (random.OneIn(3)) options.iterate_lower_bound = &low;
    if (random.OneIn(3)) options.iterate_upper_bound = &high;
    if (random.OneIn(5)) options.prefix_same_as_start = false;
    if (!options.prefix_same_as_start) options.total_order_seek = true;
    options.pin_data = random.OneIn(4);
    SCOPED_TRACE(testing::Message()
                 << "round " << round << ", total order "
                 << options.total_order_seek << ", prefix "
                 << options.prefix_same_as_start << ", bounds "
                 << (options.iterate_lower_bound != nullptr)
                 << (options.iterate_upper_bound != nullptr));
    const Iterator ours(front_->NewIterator(options));
    const Iterator rocksdbs(plain_->NewIterator(options));
    Walk(ours.get(), rocksdbs.get(), &random, 100);
    for (int i = 0; i < 4; ++i) {
      const std::string row = RowAt(random.Below(60)) + ":";
      if (random.OneIn(4)) {
        ForBoth([&](rocksdb::DB* db) {
          ExpectOk(
              db->DeleteRange({}, db->DefaultColumnFamily(), row, row + "n"));
        });
      } else {
        Put(row + std::string(1, static_cast<char>('a' + random.Below(20))));
      }
    }
    if (random.OneIn(3)) Flush();
    if (random.OneIn(6)) {
      ForBoth([](rocksdb::DB* db) {
        ExpectOk(db->CompactRange({}, nullptr, nullptr));
      });
    }
    // Iterators see what they saw.
    Walk(ours.get(), rocksdbs.get(), &random, 50);
    ASSERT_EQ(ours->Refresh().ToString(), rocksdbs->Refresh().ToString());
    Walk(ours.get(), rocksdbs.get(), &random, 50);
  }
  EXPECT_GT(Answered(), 500);
}

// A row that was there when the iterator was made stays, also when it is gone
// from every file and the filter has forgotten it.
TEST_F(RowIteratorTest, SeesItsOwnTime) {
  Open();
  Put("row100:a");
  Put("row101:a");
  Flush();
  const Iterator it = Answering();
  Put("row110:a");
  Flush();  // the iterator holds the memtable
  ExpectOk(front_->Delete({}, "row100:a"));
  test::CompactAll(front_.get());
  // The iterator's version keeps the files in the view until a SuperVersion is
  // installed after a listing without them.
  const auto forgotten = [this] {
    Put("row120:a");
    Flush();
    return !front_->front_filter()->MayHaveRow(front_->DefaultColumnFamily(),
                                               "row100:");
  };
  EXPECT_TRUE(test::WaitFor(forgotten));
  EXPECT_EQ(Seek(it.get(), "row100:"), "row100:a=of row100:a");
  const uint64_t answered = Answered();
  ExpectOk(front_->Put({}, "row105:a", "v"));
  EXPECT_EQ(Seek(it.get(), "row105:"), "OK");
  EXPECT_EQ(Answered(), answered + 1);
  ExpectOk(it->Refresh());
  EXPECT_EQ(Seek(it.get(), "row105:"), "row105:a=v");
  EXPECT_EQ(Seek(it.get(), "row100:"), "OK");
}

// RocksDB's iterator keeps the error of its last seek when it is refreshed.
TEST_F(RowIteratorTest, ARefreshBringsNoErrorBack) {
  Open();
  Put("row101:a");
  Flush();
  ReadOptions options = test::SamePrefix();
  options.read_tier = rocksdb::kBlockCacheTier;  // it lacks the row's block
  const Iterator it = Answering(options);
  it->Seek("row101:");
  EXPECT_TRUE(it->status().IsIncomplete()) << it->status().ToString();
  EXPECT_EQ(Seek(it.get(), "row105:"), "OK");
  ExpectOk(it->Refresh());
  EXPECT_EQ(At(it.get()), "OK");
}

TEST_F(RowIteratorTest, CountsWhatCameOfSeeks) {
  Open();
  Put("row101:a");
  const Iterator it(front_->NewIterator(test::SamePrefix()));
  EXPECT_EQ(Seek(it.get(), "row100:"), "OK");
  EXPECT_EQ(Seek(it.get(), "row101:"), "row101:a=of row101:a");
  EXPECT_EQ(Seek(it.get(), "row101:b"), "OK");
  EXPECT_EQ(Seek(it.get(), "row101:c"), "OK");
  EXPECT_EQ(Seek(it.get(), "none"), "OK");  // it has no row
  const auto stats = front_->front_filter()->Stats();
  EXPECT_EQ(stats.asked, 4);
  EXPECT_EQ(stats.answered, 1);
  EXPECT_EQ(stats.passed_found, 1);
  EXPECT_EQ(stats.passed_wasted, 2);
}

// An iterator that is made while the view changes answers nothing itself: rows
// of the time in between may be in neither view.
TEST_F(RowIteratorTest, MadeWhileTheViewChanges) {
  class Flushing final : public rocksdb::StackableDB {
   public:
    using StackableDB::NewIterator;
    using StackableDB::StackableDB;
    rocksdb::Iterator* NewIterator(
        const ReadOptions& options,
        rocksdb::ColumnFamilyHandle* family) override {
      ExpectOk(db_->Flush({}));  // a new memtable
      ExpectOk(db_->Put({}, "row102:a", "v"));
      return db_->NewIterator(options, family);
    }
  };
  auto options =
      test::TestDbOptions({test::MakeFilterPolicy({.key_layout = kLayout}),
                           NewRowPrefixExtractor(kLayout)});
  auto filter = test::PrepareFilter(&options);
  auto* const flushing =
      new Flushing(test::OpenDb(options, dir_.File("db")).release());
  ExpectOk(filter->Attach(flushing));
  filter->WaitUntilArmed();
  FrontFilterDB db(std::unique_ptr<rocksdb::DB>(flushing), filter);
  ExpectOk(db.Put({}, "row101:a", "v"));
  const Iterator it(db.NewIterator(test::SamePrefix()));
  EXPECT_EQ(Seek(it.get(), "row102:"), "row102:a=v");
  EXPECT_EQ(Seek(it.get(), "row103:"), "OK");
  EXPECT_EQ(filter->Stats().answered, 0);
}

TEST_F(RowIteratorTest, TailingOnesAreRocksdbs) {
  Open();
  Put("row101:a");
  ReadOptions options = test::SamePrefix();
  options.tailing = true;
  const Iterator it(front_->NewIterator(options));
  EXPECT_EQ(Seek(it.get(), "row100:"), "OK");
  Put("row100:a");
  EXPECT_EQ(Seek(it.get(), "row100:"), "row100:a=of row100:a");
  EXPECT_EQ(Answered(), 0);
}

// Prefixes shorter than rows: a seek to an absent row finds another row.
TEST_F(RowIteratorTest, OtherPrefixesAreRocksdbs) {
  Open(Extractor(rocksdb::NewFixedPrefixTransform(3)));
  Put("row101:a");
  const Iterator it(front_->NewIterator(test::SamePrefix()));
  EXPECT_EQ(Seek(it.get(), "row100:"), "row101:a=of row101:a");
  EXPECT_EQ(Answered(), 0);
}

class ChangedPrefixes : public RowIteratorTest,
                        public testing::WithParamInterface<const char*> {};

TEST_P(ChangedPrefixes, EndIt) {
  Open();
  Put("row101:a");
  Flush();
  const Iterator before = Answering();
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->SetOptions({{GetParam(), "rocksdb.FixedPrefix.3"}}));
  });
  const Iterator ours(front_->NewIterator(test::SamePrefix()));
  const Iterator rocksdbs(plain_->NewIterator(test::SamePrefix()));
  EXPECT_EQ(Seek(ours.get(), "row100:"), Seek(rocksdbs.get(), "row100:"));
  EXPECT_EQ(Seek(ours.get(), "row100:"), "row101:a=of row101:a");
  EXPECT_EQ(Answered(), 1);
}

// RocksDB takes any suffix after a dot.
INSTANTIATE_TEST_SUITE_P(Names, ChangedPrefixes,
                         testing::Values("prefix_extractor",
                                         "prefix_extractor.id"));

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1006
// RocksDB follows the seeks of prepared ranges.
TEST_F(RowIteratorTest, PreparedRangesAreRocksdbs) {
  Open();
  for (const char* key : {"row101:a", "row101:b", "row103:a"}) Put(key);
  Flush();
  const std::vector<std::string> rows = {
      "row100:", "row101:", "row102:", "row103:", "row104:"};
  rocksdb::MultiScanArgs ranges(rocksdb::BytewiseComparator());
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    ranges.insert(rows[i], rows[i + 1]);
  }
  const auto read = [&](rocksdb::DB* db) {
    ReadOptions options = test::SamePrefix();
    Slice end;
    options.iterate_upper_bound = &end;
    const Iterator it(db->NewIterator(options));
    it->Prepare(ranges);
    std::vector<std::string> seen;
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      end = rows[i + 1];
      seen.push_back(Seek(it.get(), rows[i]));
    }
    return seen;
  };
  const std::vector<std::string> expected = {"OK", "row101:a=of row101:a", "OK",
                                             "row103:a=of row103:a"};
  EXPECT_EQ(read(plain_.get()), expected);
  EXPECT_EQ(read(front_.get()), expected);
  EXPECT_EQ(Answered(), 0);
}
#endif

TEST_F(RowIteratorTest, OffAndErrors) {
  Open();
  Put("row101:a");
  const Iterator it(front_->NewIterator(test::SamePrefix()));
  front_->front_filter()->SetEnabled(false);
  EXPECT_EQ(Seek(it.get(), "row100:"), "OK");
  EXPECT_EQ(Answered(), 0);
  front_->front_filter()->SetEnabled(true);
  EXPECT_EQ(Seek(it.get(), "row100:"), "OK");
  EXPECT_EQ(Answered(), 1);
  ReadOptions persisted = test::SamePrefix();
  persisted.read_tier = rocksdb::kPersistedTier;
  const Iterator refused(front_->NewIterator(persisted));
  EXPECT_TRUE(refused->status().IsNotSupported());
  EXPECT_NE(Seek(refused.get(), "row100:"), "OK");
}

}  // namespace
}  // namespace rowbloom
