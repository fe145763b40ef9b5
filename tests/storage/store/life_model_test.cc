// A store whose families come, change and go, is copied, backed up, and put
// back from a copy, answers as a std::map does that the same happens to.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/storage/store/random_names.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

// Families, and of each cell the newest value.
struct Everything {
  std::map<std::string, FamilyOptions> families;
  std::map<std::tuple<std::string, std::string, std::string>, std::string>
      cells;  // by row, family and qualifier

  friend bool operator==(const Everything&, const Everything&) = default;
};

Everything ReadAll(Store* store) {
  Everything contents{store->Families(), {}};
  for (const Row& row : RowsOf(*store)) {
    for (const Cell& cell : row.cells) {
      contents.cells[{row.row, cell.family, cell.qualifier}] = cell.value;
    }
  }
  return contents;
}

class LifeModel : public ::testing::Test {
 protected:
  void Open() {
    store_.reset();
    StoreOptions options;
    options.write_buffer_bytes = size_t{64} << 10;
    options.file_bytes = size_t{64} << 10;
    options.statistics = random_.OneIn(2);
    options.front_filter_limit_bytes = RandomFrontFilterLimit(&random_);
    store_ = OpenOrFail(options, path_, {});
  }

  std::string RandomRow() { return RandomName(1 + random_.Below(4), &random_); }
  std::string RandomFamily() {
    return std::string(1, static_cast<char>('a' + random_.Below(5)));
  }
  FamilyOptions RandomOptions(bool versioned) {
    FamilyOptions options;
    options.bloom_type = static_cast<BloomType>(random_.Below(3));
    options.filter_kind =
        random_.OneIn(2) ? FilterKind::kBloom : FilterKind::kRibbon;
    options.false_positive_rate = random_.OneIn(2) ? 0.01 : 0.2;
    options.compression = static_cast<Compression>(random_.Below(3));
    if (random_.OneIn(2)) {
      options.bottom_compression = Compression::kZstd;
      options.dictionary_bytes = random_.OneIn(2) ? 0 : 1024;
    }
    // Values have up to 150 bytes.
    options.min_blob_bytes =
        random_.OneIn(2) ? 0 : static_cast<uint32_t>(1 + random_.Below(200));
    // Nothing gets as old, but all that compacts has to look.
    options.ttl_ms = random_.OneIn(2) ? 0 : 100'000'000;
    if (versioned) {
      options.max_versions = static_cast<uint32_t>(2 + random_.Below(3));
    }
    return options;
  }

  void Put() {
    const std::string row = RandomRow();
    const std::string family = RandomFamily();
    const std::string qualifier = RandomName(random_.Below(3), &random_);
    const std::string value = random_.Bytes(random_.Below(150));
    const rocksdb::Status s = store_->Put(row, family, qualifier, value);
    if (model_.families.contains(family)) {
      ASSERT_THAT(s, IsOk());
      model_.cells[{row, family, qualifier}] = value;
    } else {
      ASSERT_TRUE(s.IsInvalidArgument()) << s.ToString();
    }
  }

  void DeleteRow() {
    const std::string row = RandomRow();
    ASSERT_THAT(store_->DeleteRow(row), IsOk());
    std::erase_if(model_.cells, [&row](const auto& cell) {
      return std::get<0>(cell.first) == row;
    });
  }

  void ChangeFamily() {
    const std::string family = RandomFamily();
    const auto found = model_.families.find(family);
    if (found == model_.families.end()) {
      const FamilyOptions options = RandomOptions(random_.OneIn(2));
      ASSERT_THAT(store_->CreateFamily(family, options), IsOk());
      model_.families[family] = options;
    } else if (random_.OneIn(3)) {
      ASSERT_THAT(store_->DropFamily(family), IsOk());
      model_.families.erase(found);
      std::erase_if(model_.cells, [&family](const auto& cell) {
        return std::get<1>(cell.first) == family;
      });
    } else {
      const FamilyOptions options =
          RandomOptions(found->second.max_versions > 1);
      ASSERT_THAT(store_->AlterFamily(family, options), IsOk());
      found->second = options;
    }
  }

  // Goes on with a copy, from time to time.
  void CheckCopy(const std::string& copy, const Everything& then) {
    {
      const auto store = OpenOrFail({}, copy, {});
      ASSERT_TRUE(ReadAll(store.get()) == then);
    }
    if (!random_.OneIn(4)) return;
    store_.reset();
    path_ = copy;
    model_ = then;
    Open();
  }

  void Checkpoint() {
    const std::string copy = dir_.File("copy" + std::to_string(copies_++));
    ASSERT_THAT(store_->Checkpoint(copy), IsOk());
    ASSERT_NO_FATAL_FAILURE(CheckCopy(copy, model_));
  }

  void BackUp() {
    BackupInfo info;
    ASSERT_THAT(store_->Backup(backups_, &info), IsOk());
    backed_up_[info.id] = model_;
    if (backed_up_.size() > 5) {
      ASSERT_THAT(PurgeBackups(backups_, 3), IsOk());
      while (backed_up_.size() > 3) backed_up_.erase(backed_up_.begin());
    }
  }

  void Restore() {
    if (backed_up_.empty()) return;
    auto backup = backed_up_.begin();
    std::advance(backup, random_.Below(backed_up_.size()));
    const std::string copy = dir_.File("copy" + std::to_string(copies_++));
    ASSERT_THAT(RestoreBackup(backups_, backup->first, copy), IsOk());
    ASSERT_NO_FATAL_FAILURE(CheckCopy(copy, backup->second));
  }

  void DoOne() {
    const uint64_t dice = random_.Below(1000);
    if (dice < 930) {
      Put();
    } else if (dice < 960) {
      DeleteRow();
    } else if (dice < 980) {
      ChangeFamily();
    } else if (dice < 985) {
      ASSERT_THAT(store_->Flush(), IsOk());
    } else if (dice < 990) {
      ASSERT_THAT(store_->Compact({.family = ""}), IsOk());
    } else if (dice < 993) {
      Open();
    } else if (dice < 995) {
      Checkpoint();
    } else if (dice < 998) {
      BackUp();
    } else {
      Restore();
    }
  }

  TempDir dir_;
  std::string path_ = dir_.File("db");
  const std::string backups_ = dir_.File("backups");
  Random random_{SeedFromEnv()};
  std::unique_ptr<Store> store_;
  Everything model_;
  std::map<uint32_t, Everything> backed_up_;
  int copies_ = 0;
};

TEST_F(LifeModel, StoreAnswersAsAMapDoes) {
  Open();
  ASSERT_NO_FATAL_FAILURE(ChangeFamily());
  const uint64_t operations = Scaled(2'500);
  for (uint64_t i = 0; i < operations; ++i) {
    ASSERT_NO_FATAL_FAILURE(DoOne()) << "operation " << i;
    if (i % 500 == 0) {
      ASSERT_TRUE(ReadAll(store_.get()) == model_) << "operation " << i;
    }
  }
  ASSERT_TRUE(ReadAll(store_.get()) == model_);
  EXPECT_FALSE(model_.cells.empty());
  // A short run may have had none of these.
  ASSERT_NO_FATAL_FAILURE(Checkpoint());
  ASSERT_NO_FATAL_FAILURE(BackUp());
  ASSERT_NO_FATAL_FAILURE(Restore());
}

}  // namespace
}  // namespace rowbloom::test
