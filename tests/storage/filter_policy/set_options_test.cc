// DB::SetOptions: the prefix extractor of an open database can be swapped, its
// filter policy only from RocksDB 9.8 on. Older ones refuse, for policies of
// their own as well; there the database has to be opened again.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "rocksdb/version.h"
#include "tests/storage/filter_policy/filtered_db.h"

namespace rowbloom::set_options_test {
namespace {

using rocksdb::Status;
using test::AbsentRow;
using test::ExpectOk;
using test::kLayout;
using test::MakeFilterPolicy;
using test::Rows;
using test::StatsOf;

constexpr bool kPolicyIsMutable = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 908;

constexpr char kOnePercent[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";
constexpr char kTenPercent[] =
    "rowbloom.filter:ROWCOL:bloom:0.1:0:uniform:delimited::";
constexpr char kStock[] = "bloomfilter";

Status SetPolicy(rocksdb::DB* db, const std::string& id) {
  return db->SetOptions(
      {{"block_based_table_factory", "{filter_policy=" + id + "}"}});
}

// The policy that new files get.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyOf(rocksdb::DB* db) {
  return db->GetOptions()
      .table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
      ->filter_policy;
}

// The rows of three files, which are written one after the other.
constexpr int kRows = 1000;

class SetOptions : public test::FilteredDb {
 protected:
  SetOptions() { ExpectOk(RegisterRowbloom()); }

  static Rows RowsOf(int file) {
    return {.end = kRows + file, .first = file, .step = 3, .files = 1};
  }
  void WriteFile(int file) {
    Write(RowsOf(file));
    ++files_;
  }
  void ExpectKeys() {
    for (int file = 0; file < files_; ++file) ExpectRows(RowsOf(file));
  }

  int files_ = 0;
};

TEST_F(SetOptions, OlderRocksDbRefusesToSwapThePolicy) {
  if (kPolicyIsMutable) GTEST_SKIP() << "RocksDB 9.8 and up swap it";
  Open(test::StockBloom(), NewRowPrefixExtractor(kLayout));
  WriteFile(0);
  for (const char* id : {kOnePercent, "bloomfilter:5", "ribbonfilter:10"}) {
    EXPECT_EQ(SetPolicy(db_.get(), id).ToString(),
              "Invalid argument: Option not changeable: filter_policy")
        << id;
  }
  EXPECT_STREQ(PolicyOf(db_.get())->Name(), kStock);
  WriteFile(1);

  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(policy, NewRowPrefixExtractor(kLayout));
  EXPECT_EQ(SetPolicy(db_.get(), kTenPercent).ToString(),
            "Invalid argument: Option not changeable: filter_policy");
  EXPECT_EQ(PolicyOf(db_.get()), policy);
  EXPECT_TRUE(IsFilterActive(db_.get()));
  WriteFile(2);
  EXPECT_EQ(PolicyNames(),
            (std::multiset<std::string>{kStock, kStock, kOnePercent}));
  ExpectKeys();
  EXPECT_GT(StatsOf(*policy).row.skipped, 0u);
}

// Opening again is the way out when SetOptions refuses.
TEST_F(SetOptions, OpeningAgainSwapsThePolicy) {
  Open(test::StockBloom(), NewRowPrefixExtractor(kLayout));
  WriteFile(0);
  Open(MakeFilterPolicy({.key_layout = kLayout}),
       NewRowPrefixExtractor(kLayout));
  WriteFile(1);
  const auto cheap =
      MakeFilterPolicy({.key_layout = kLayout, .false_positive_rate = 0.1});
  Open(cheap, NewRowPrefixExtractor(kLayout));
  WriteFile(2);
  EXPECT_EQ(PolicyNames(),
            (std::multiset<std::string>{kStock, kOnePercent, kTenPercent}));
  ExpectKeys();
  const FilterStats stats = StatsOf(*cheap);
  EXPECT_EQ(stats.blocks_built, 1u);
  EXPECT_GT(stats.blocks_opened, 1u) << "its own file and the one of 1 %";
  EXPECT_GT(stats.builtin_blocks_opened, 0u);
  EXPECT_GT(stats.row.skipped, 0u);
  EXPECT_EQ(stats.blocks_unusable, 0u);
}

TEST_F(SetOptions, NewerRocksDbSwapsThePolicyForNewFiles) {
  if (!kPolicyIsMutable) GTEST_SKIP() << "RocksDB 9.7 and older refuse";
  Open(test::StockBloom(), NewRowPrefixExtractor(kLayout));
  WriteFile(0);
  EXPECT_FALSE(IsFilterActive(db_.get()));
  ExpectOk(SetPolicy(db_.get(), kOnePercent));
  EXPECT_TRUE(IsFilterActive(db_.get()));
  const auto one_percent = PolicyOf(db_.get());
  WriteFile(1);
  ExpectOk(SetPolicy(db_.get(), kTenPercent));
  const auto ten_percent = PolicyOf(db_.get());
  WriteFile(2);
  EXPECT_EQ(PolicyNames(),
            (std::multiset<std::string>{kStock, kOnePercent, kTenPercent}));
  // RocksDB 9.10 says OK to what it cannot make, and goes on with what it has.
  SetPolicy(db_.get(), "rowbloom.filter:nonsense").PermitUncheckedError();
  EXPECT_STREQ(PolicyOf(db_.get())->Name(), kTenPercent);

  const uint64_t useful = Ticker(rocksdb::BLOOM_FILTER_USEFUL);
  ExpectKeys();
  EXPECT_GT(Ticker(rocksdb::BLOOM_FILTER_USEFUL), useful);
  const FilterStats dear = StatsOf(*one_percent);
  const FilterStats cheap = StatsOf(*ten_percent);
  EXPECT_EQ(dear.blocks_built, 1u);
  EXPECT_EQ(cheap.blocks_built, 1u);
  EXPECT_LT(cheap.bytes_built, dear.bytes_built);
  EXPECT_GT(dear.row.skipped, 0u);
  EXPECT_GT(cheap.row.skipped, 0u);
}

TEST_F(SetOptions, SwapsThePrefixExtractorForNewFiles) {
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  // Rows of ":" that do not end where the extractor's prefix does.
  Open(policy, std::shared_ptr<const rocksdb::SliceTransform>(
                   rocksdb::NewCappedPrefixTransform(4)));
  WriteFile(0);
  ExpectOk(db_->SetOptions({{"prefix_extractor", "rowbloom.row:delimited::"}}));
  EXPECT_STREQ(db_->GetOptions().prefix_extractor->Name(),
               "rowbloom.row:delimited::");
  WriteFile(1);
  EXPECT_EQ(NamesOfFiles(&rocksdb::TableProperties::prefix_extractor_name),
            (std::multiset<std::string>{"rocksdb.CappedPrefix.4",
                                        "rowbloom.row:delimited::"}));
  ExpectKeys();

  // Rows that neither file has: the second one is asked by its row, and
  // skipped.
  const FilterStats before = StatsOf(*policy);
  for (int row = 0; row < kRows; ++row) {
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(test::SamePrefix()));
    it->Seek(AbsentRow(row));
    EXPECT_FALSE(it->Valid() && it->key().starts_with(AbsentRow(row)));
  }
  EXPECT_GT(StatsOf(*policy).row.skipped, before.row.skipped + 900);

  EXPECT_FALSE(
      db_->SetOptions({{"prefix_extractor", "rowbloom.row:fixed:0"}}).ok());
  EXPECT_STREQ(db_->GetOptions().prefix_extractor->Name(),
               "rowbloom.row:delimited::");
}

}  // namespace
}  // namespace rowbloom::set_options_test
