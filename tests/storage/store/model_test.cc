// Random operations on a store and on a std::map must give the same answers,
// through flushes, compactions and reopening.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <tuple>

#include "rowbloom/printable.h"
#include "tests/storage/store/random_names.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

const std::vector<FamilyDescriptor> kFamilies = {
    {"none", {.bloom_type = BloomType::kNone}},
    {"prefix",
     {.bloom_type = BloomType::kRowPrefixFixedLength, .row_prefix_length = 2}},
    {"row", {.bloom_type = BloomType::kRow, .block_size_bytes = 1024}},
    {"rowcol", {.bloom_type = BloomType::kRowCol, .false_positive_rate = 0.1}},
};

// (row, family, qualifier), in the order in which GetRow gives them.
using Address = std::tuple<std::string, std::string, std::string>;

class LatestModel : public ::testing::TestWithParam<const char*> {
 protected:
  void Open() {
    store_.reset();
    StoreOptions options;
    options.key_layout = *KeyLayout::FromString(GetParam());
    options.write_buffer_bytes = size_t{64} << 10;
    // The clock runs wild: forwards, backwards, and past the kept bound.
    store_ =
        OpenOrFail(options, dir_.File("db"), kFamilies, {.wall_clock = [this] {
                     return 1'700'000'000'000 + clock_.Below(10'000);
                   }});
    ASSERT_NE(store_, nullptr);
  }

  std::string RandomBytes(size_t byte_count) {
    return RandomName(byte_count, &random_);
  }
  std::string RandomRow() {
    return RandomRowOf(*KeyLayout::FromString(GetParam()), 5, &random_);
  }
  Address RandomAddress() {
    return {RandomRow(), kFamilies[random_.Below(kFamilies.size())].name,
            RandomBytes(random_.Below(3))};
  }
  std::string RandomValue() { return random_.Bytes(random_.Below(120)); }

  void EraseRow(const std::string& row) {
    model_.erase(model_.lower_bound({row, "", ""}),
                 model_.lower_bound({row + '\0', "", ""}));
  }

  void Put() {
    const Address at = RandomAddress();
    const auto& [row, family, qualifier] = at;
    const std::string value = RandomValue();
    ASSERT_THAT(store_->Put(row, family, qualifier, value), IsOk());
    model_[at] = value;
  }

  void Delete() {
    const Address at = RandomAddress();
    const auto& [row, family, qualifier] = at;
    ASSERT_THAT(store_->Delete(row, family, qualifier), IsOk());
    model_.erase(at);
  }

  void DeleteRow() {
    const std::string row = RandomRow();
    ASSERT_THAT(store_->DeleteRow(row), IsOk());
    EraseRow(row);
  }

  void Batch() {
    WriteBatch batch;
    const uint64_t changes = 1 + random_.Below(20);
    for (uint64_t i = 0; i < changes; ++i) {
      const Address at = RandomAddress();
      const auto& [row, family, qualifier] = at;
      if (random_.OneIn(10)) {
        batch.DeleteRow(row);
        EraseRow(row);
      } else if (random_.OneIn(4)) {
        batch.Delete(row, family, qualifier);
        model_.erase(at);
      } else {
        const std::string value = RandomValue();
        batch.Put(row, family, qualifier, value);
        model_[at] = value;
      }
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }

  void CompareCell() {
    const Address at = RandomAddress();
    const auto& [row, family, qualifier] = at;
    std::string value;
    const rocksdb::Status s = store_->Get(row, family, qualifier, &value);
    const auto expected = model_.find(at);
    if (expected == model_.end()) {
      ASSERT_TRUE(s.IsNotFound()) << s.ToString() << " " << Show(at);
    } else {
      ASSERT_THAT(s, IsOk()) << Show(at);
      ASSERT_EQ(value, expected->second) << Show(at);
    }
  }

  void CompareRow(const std::string& row) {
    std::vector<Cell> cells;
    ASSERT_THAT(store_->GetRow(row, &cells), IsOk());
    auto expected = model_.lower_bound({row, "", ""});
    for (const Cell& cell : cells) {
      const Address at(row, cell.family, cell.qualifier);
      ASSERT_NE(expected, model_.end()) << Show(at);
      ASSERT_EQ(Show(at), Show(expected->first));
      ASSERT_EQ(cell.value, expected->second) << Show(at);
      ++expected;
    }
    ASSERT_TRUE(expected == model_.end() || std::get<0>(expected->first) != row)
        << "missing: " << Show(expected->first);
  }

  static std::string Show(const Address& at) {
    return ToPrintable(std::get<0>(at)) + " " + std::get<1>(at) + ":" +
           ToPrintable(std::get<2>(at));
  }

  // A timestamp is at least that of every cell put before.
  void CheckTime() {
    const Address at = RandomAddress();
    const auto& [row, family, qualifier] = at;
    ASSERT_THAT(store_->Put(row, family, qualifier, ""), IsOk());
    model_[at] = "";
    Cell cell;
    ASSERT_THAT(store_->GetCell(row, family, qualifier, &cell), IsOk());
    ASSERT_GE(cell.timestamp_ms, last_timestamp_ms_);
    last_timestamp_ms_ = cell.timestamp_ms;
  }

  void RandomOperation() {
    if (random_.OneIn(4000)) return Open();
    if (random_.OneIn(1000)) {
      ASSERT_THAT(store_->Flush(), IsOk());
      return;
    }
    const uint64_t dice = random_.Below(100);
    if (dice < 40) return Put();
    if (dice < 50) return Delete();
    if (dice < 52) return DeleteRow();
    if (dice < 56) return Batch();
    if (dice < 58) return CheckTime();
    if (dice < 80) return CompareCell();
    CompareRow(RandomRow());
  }

  // How many answers of the ROW and ROWCOL sections kept a file closed.
  void AddSkipped() {
    StoreStats stats;
    ASSERT_THAT(store_->Stats(&stats), IsOk());
    for (const auto& [name, family] : stats.families) {
      EXPECT_EQ(family.filter.blocks_unusable, 0u);
      skipped_[name] +=
          family.filter.row.skipped + family.filter.row_col.skipped;
    }
  }

  TempDir dir_;
  const uint64_t seed_ = SeedFromEnv();
  Random random_{seed_};
  Random clock_{seed_ + 1};
  std::unique_ptr<Store> store_;
  std::map<Address, std::string> model_;
  std::map<std::string, uint64_t> skipped_;
  uint64_t last_timestamp_ms_ = 0;
};

TEST_P(LatestModel, AnswersAsAMapDoes) {
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed_));
  ASSERT_NO_FATAL_FAILURE(Open());
  const uint64_t operations = Scaled(50'000);
  for (uint64_t i = 0; i < operations; ++i) {
    ASSERT_NO_FATAL_FAILURE(RandomOperation()) << "operation " << i;
  }
  // From files alone, so that filters had to be asked.
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_NO_FATAL_FAILURE(Open());
  uint64_t cells_found = 0;
  for (const auto& [at, expected] : model_) {
    const auto& [row, family, qualifier] = at;
    std::string value;
    ASSERT_THAT(store_->Get(row, family, qualifier, &value), IsOk())
        << Show(at);
    ASSERT_EQ(value, expected) << Show(at);
    ASSERT_NO_FATAL_FAILURE(CompareRow(row));
    ++cells_found;
  }
  EXPECT_GT(cells_found, 0u);
  for (int i = 0; i < 1000; ++i) {
    // A byte that no row has: the row is absent for sure.
    std::string row = RandomRow();
    row.back() = 'z';
    ASSERT_NO_FATAL_FAILURE(CompareRow(row));
  }
  ASSERT_NO_FATAL_FAILURE(AddSkipped());
  EXPECT_EQ(skipped_["none"], 0u);
  EXPECT_GT(skipped_["row"], 0u);
  EXPECT_GT(skipped_["rowcol"], 0u);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LatestModel,
                         ::testing::Values("escaped", "fixed:4"),
                         [](const auto& param) {
                           return param.index == 0 ? "Escaped" : "Fixed";
                         });

}  // namespace
}  // namespace rowbloom::test
