// Random writes and deletes of every kind, in both cell formats; then out as
// HFiles and into another store, which must answer as the first one would, and
// go on as it would; again and again. ROWBLOOM_TEST_SCALE makes it longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "storage/cells/given_times.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/model_families.h"
#include "tests/storage/store/random_names.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

class TransferModel : public ::testing::TestWithParam<const char*> {
 protected:
  KeyLayout Layout() const { return *KeyLayout::FromString(GetParam()); }

  std::unique_ptr<Store> NewStore() {
    StoreOptions options;
    options.key_layout = Layout();
    options.write_buffer_bytes = size_t{64} << 10;
    return OpenOrFail(options, dir_.File("db" + std::to_string(++stores_)),
                      Descriptors(kModelFamilies),
                      [this] { return now_ms_.load(); });
  }

  static bool KeepsLatest(const std::string& family) {
    return family.starts_with("latest");
  }

  // Near the time; mostly one that was used before, also long ago.
  uint64_t RandomTimestamp() {
    if (used_.empty() || random_.OneIn(50)) {
      if (used_.size() < 20) used_.emplace_back();
      used_[random_.Below(used_.size())] =
          now_ms_ + 2000 - random_.Below(2 * kModelTtl);
    }
    return used_[random_.Below(used_.size())];
  }

  // A RandomTimestamp, which is past for the store's own family.
  uint64_t DeleteTime(const std::string& family) {
    const uint64_t timestamp_ms = RandomTimestamp();
    return family == "store" ? std::min(timestamp_ms, now_ms_.load())
                             : timestamp_ms;
  }

  // Puts are the first kPuts of kWrites kinds, deletes the others.
  static constexpr uint64_t kPuts = 60;
  static constexpr uint64_t kWrites = 100;
  void RandomWrite(uint64_t kinds = kWrites) {
    // Few cells, and times, so that puts meet the deletes of before.
    const std::string row =
        RandomRowOf(Layout(), random_.OneIn(8) ? 2 : 1, &random_);
    const std::string family =
        std::next(
            kModelFamilies.begin(),
            static_cast<std::ptrdiff_t>(random_.Below(kModelFamilies.size())))
            ->first;
    const std::string qualifier = RandomName(random_.Below(2), &random_);
    const bool client =
        kModelFamilies.at(family).timestamps == Timestamps::kClient;
    std::optional<uint64_t> given;
    const uint64_t dice = random_.Below(kinds);
    rocksdb::Status s;
    if (dice < kPuts) {
      // The store's own would step past deletes that are not past.
      if (client) given = RandomTimestamp();
      const std::string value =
          std::to_string(++writes_) + std::string(random_.Below(60), 'v');
      // In other families a version that has run out keeps its place, which no
      // HFile tells.
      std::optional<uint64_t> ttl_ms;
      if (KeepsLatest(family) && random_.OneIn(4)) {
        ttl_ms = random_.Below(2 * kModelTtl);
      }
      s = store_->Put(row, family, qualifier, value,
                      {.timestamp_ms = given, .ttl_ms = ttl_ms});
      model_.Put(row, family, qualifier, given.value_or(now_ms_), value,
                 ttl_ms);
    } else if (dice < 70) {
      if (!KeepsLatest(family)) given = DeleteTime(family);
      s = store_->Delete(row, family, qualifier, {.timestamp_ms = given});
      model_.Delete(row, family, qualifier, given.value_or(now_ms_));
    } else if (dice < 95 && !KeepsLatest(family)) {
      given = DeleteTime(family);
      s = store_->DeleteVersion(row, family, qualifier,
                                {.timestamp_ms = given});
      model_.DeleteVersion(row, family, qualifier, *given);
    } else if (dice < 99) {
      if (!KeepsLatest(family)) given = DeleteTime(family);
      s = store_->DeleteFamily(row, family, {.timestamp_ms = given});
      model_.DeleteFamily(row, family, given.value_or(now_ms_));
    } else {
      s = store_->DeleteRow(row);
      model_.DeleteRow(row, now_ms_);
    }
    ASSERT_THAT(s, IsOk());
    // The store's next timestamps are later than its deletes, so that it need
    // not move them on.
    now_ms_ += 2 + random_.Below(8);
    if (random_.OneIn(500)) s = store_->Flush();
    if (random_.OneIn(1500)) s = store_->Compact();
    ASSERT_THAT(s, IsOk());
  }

  HFileExportOptions RandomExport() {
    HFileExportOptions options;
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      options.region_start_rows.push_back(RandomName(2, &random_));
    }
    if (random_.OneIn(2))
      options.max_file_bytes = 10'000 + random_.Below(30'000);
    options.file.block_bytes = 200 + static_cast<uint32_t>(random_.Below(2000));
    const HFileCompression codecs[] = {
        HFileCompression::kNone, HFileCompression::kLz4, HFileCompression::kGz,
        HFileCompression::kZstd, HFileCompression::kSnappy};
    options.file.compression = codecs[random_.Below(std::size(codecs))];
    return options;
  }

  void CheckFiles(const HFileExportOptions& options,
                  const HFileExportReport& report) {
    ASSERT_FALSE(report.files.empty());
    for (const HFileExported& file : report.files) {
      for (const std::string& start : options.region_start_rows) {
        ASSERT_FALSE(file.first_row < start && start <= file.last_row)
            << ToPrintable(start);
      }
      std::unique_ptr<HFileReader> reader;
      ASSERT_THAT(HFileReader::Open({}, file.path, &reader), IsOk());
      HFileReport verified;
      ASSERT_THAT(reader->Verify(&verified), IsOk());
      ASSERT_THAT(verified.problems, ::testing::IsEmpty());
      ASSERT_EQ(verified.cells, file.cells);
    }
  }

  // Keeps only versions that are visible now, as applied deletes leave them.
  void ForgetDeletes() {
    StoreModel visible(kModelFamilies);
    ScanOptions scan;
    scan.row.max_versions = kManyVersions;
    for (const Row& row : model_.Scan(scan, now_ms_)) {
      for (const Cell& cell : row.cells) {
        visible.Put(row.row, cell.family, cell.qualifier, cell.timestamp_ms,
                    cell.value);
      }
    }
    model_ = visible;
  }

  // Out of the store and into a new one, which takes its place.
  void Move(HFileDeletes deletes) {
    HFileExportOptions options = RandomExport();
    options.deletes = deletes;
    HFileExportReport exported;
    const std::string out = dir_.File("out" + std::to_string(stores_));
    ASSERT_THAT(ExportHFiles(options, store_.get(), out, &exported), IsOk());
    ASSERT_NO_FATAL_FAILURE(CheckFiles(options, exported));
    if (deletes == HFileDeletes::kApplied) ForgetDeletes();
    std::unique_ptr<Store> next = NewStore();
    HFileImportOptions import_options;
    import_options.latest_as_new = true;
    HFileImportReport imported;
    ASSERT_THAT(ImportHFiles(import_options, {out}, next.get(), &imported),
                IsOk());
    ASSERT_EQ(imported.files, exported.files.size());
    ASSERT_EQ(imported.skipped, 0u);
    store_ = std::move(next);
    // ForgetDeletes knows no TTLs: at a later time fewer cells may be there.
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model_, now_ms_));
    now_ms_ += 2;  // past the import
  }

  TempDir dir_;
  Random random_{SeedFromEnv()};
  std::atomic<uint64_t> now_ms_{kModelStart};
  std::vector<uint64_t> used_;
  uint64_t writes_ = 0;
  int stores_ = 0;
  StoreModel model_{kModelFamilies};
  std::unique_ptr<Store> store_;
};

TEST_P(TransferModel, AStoreThatWentThroughHFilesIsTheSame) {
  store_ = NewStore();
  const uint64_t writes = Scaled(1500);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    for (uint64_t i = 0; i < writes; ++i) {
      ASSERT_NO_FATAL_FAILURE(RandomWrite()) << "write " << i;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model_, now_ms_));
    ASSERT_NO_FATAL_FAILURE(Move(HFileDeletes::kKept));
    // The store's time is past the imported cells that were ahead of it.
    now_ms_ += GivenTimes::kMaxAheadMs;
    // Late ones, which deletes of before the move take.
    for (int i = 0; i < 150; ++i) {
      ASSERT_NO_FATAL_FAILURE(RandomWrite(kPuts));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model_, now_ms_));
    ASSERT_THAT(store_->Compact(), IsOk());
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model_, now_ms_));
  }
  for (uint64_t i = 0; i < writes; ++i) ASSERT_NO_FATAL_FAILURE(RandomWrite());
  ASSERT_NO_FATAL_FAILURE(Move(HFileDeletes::kApplied));
}

INSTANTIATE_TEST_SUITE_P(Layouts, TransferModel,
                         ::testing::Values("escaped", "fixed:2"),
                         [](const auto& param) {
                           return param.index == 0 ? "Escaped" : "Fixed";
                         });

}  // namespace
}  // namespace rowbloom::test
