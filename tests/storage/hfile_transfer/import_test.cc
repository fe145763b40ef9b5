// Imports of files that the tests write: what merges with what, what is refused
// and what is left then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kPut = HFileCellType::kPut;

HFileWriterOptions WithTags() {
  HFileWriterOptions options;
  options.tags = true;
  return options;
}

class Import : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(Open()); }
  void Open(const std::string& name = "db") {
    store_.reset();
    ASSERT_THAT(
        Store::Open(
            {}, dir_.File(name),
            {ManyVersions("f"), {"latest", {}}, {"store", {.max_versions = 2}}},
            &store_),
        IsOk());
  }
  std::string Write(const std::string& name, std::vector<HFileCell> cells,
                    const HFileWriterOptions& options = WithTags()) {
    const std::string path = dir_.File(name);
    WriteCells(options, path, cells);
    return path;
  }
  Status Run(const std::vector<std::string>& paths,
             const HFileImportOptions& options = {}) {
    return ImportHFiles(options, paths, store_.get(), &report_);
  }
  std::vector<Cell> Versions(const std::string& row,
                             const std::string& qualifier,
                             const std::string& family = "f") {
    std::vector<Cell> cells;
    EXPECT_THAT(store_->GetVersions(row, family, qualifier, &cells,
                                    {.max_versions = kManyVersions}),
                IsOk());
    return cells;
  }
  std::vector<std::string> Values(const std::string& row,
                                  const std::string& qualifier,
                                  const std::string& family = "f") {
    std::vector<std::string> values;
    for (const Cell& cell : Versions(row, qualifier, family)) {
      values.push_back(cell.value);
    }
    return values;
  }
  // The import fails, says why, and leaves the store, which is empty, as it is.
  void ExpectRefused(const std::vector<std::string>& paths, Status::Code code,
                     const std::vector<std::string>& parts,
                     const HFileImportOptions& options = {}) {
    const Status s = Run(paths, options);
    EXPECT_EQ(s.code(), code) << s.ToString();
    for (const std::string& part : parts) {
      EXPECT_THAT(s.ToString(), HasSubstr(part));
    }
    EXPECT_EQ(report_.puts, 0u);
    size_t rows = 0;
    RowScanner scan = store_->Scan();
    for ([[maybe_unused]] const Row& row : scan) ++rows;
    EXPECT_EQ(rows, 0u);
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
  HFileImportReport report_;
};

TEST_F(Import, MergesWithWhatIsThere) {
  ASSERT_THAT(store_->Put("r", "f", "q", "mine", {.timestamp_ms = 20}), IsOk());
  ASSERT_THAT(store_->Put("r", "f", "q", "mine", {.timestamp_ms = 30}), IsOk());
  ASSERT_THAT(store_->DeleteVersion("r", "f", "q", {.timestamp_ms = 40}),
              IsOk());
  const std::string path =
      Write("file", {MakeCell("r", "q", 40, kPut, "file"),
                     MakeCell("r", "q", 30, kPut, "file"),
                     MakeCell("r", "q", 10, kPut, "file")});
  HFileProgress last;
  HFileImportOptions options;
  options.progress = [&last](const HFileProgress& progress) {
    last = progress;
    return true;
  };
  ASSERT_THAT(Run({path}, options), IsOk());
  EXPECT_THAT(Versions("r", "q"), ElementsAre(Cell{"f", "q", 30, "file"},
                                              Cell{"f", "q", 20, "mine"},
                                              Cell{"f", "q", 10, "file"}));
  EXPECT_EQ(report_.files, 1u);
  EXPECT_EQ(report_.cells, 3u);
  EXPECT_EQ(report_.puts, 3u);
  EXPECT_EQ(report_.skipped, 0u);
  EXPECT_EQ(last.cells, 3u);
  EXPECT_EQ(last.expected_cells, 3u);
  EXPECT_EQ(last.files, 1u);
}

TEST_F(Import, RandomCellsAreThoseOfTheModel) {
  const uint64_t seed = SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  Random random(seed);
  const std::vector<HFileCell> cells =
      RandomCells({.rows = Scaled(3000), .deletes = true}, &random);
  // In one file, in overlapping ones, and in ones that follow each other.
  for (const std::string form : {"one", "overlapping", "split"}) {
    SCOPED_TRACE(form);
    ASSERT_NO_FATAL_FAILURE(Open(form));
    const size_t count = form == "one" ? 1 : 5;
    std::vector<std::vector<HFileCell>> parts(count);
    for (size_t i = 0; i < cells.size(); ++i) {
      // What is equal stays together, where its order is the file's.
      const bool with_last =
          i > 0 && CompareHFileKeys(cells[i - 1].View().key(),
                                    cells[i].View().key()) == 0;
      static size_t part = 0;
      if (!with_last) {
        part = form == "split" ? i * count / cells.size() : random.Below(count);
      }
      parts[part].push_back(cells[i]);
    }
    std::vector<std::string> paths;
    for (size_t i = 0; i < count; ++i) {
      paths.push_back(Write(form + std::to_string(i), parts[i]));
    }
    std::reverse(paths.begin(), paths.end());
    ASSERT_THAT(Run(paths), IsOk());
    EXPECT_EQ(report_.cells, cells.size());
    EXPECT_GT(report_.deletes, 0u);
    EXPECT_GT(report_.skipped, 0u);
    StoreModel model({{"f", ManyVersions("f").options}});
    ApplyCells(cells, "f", &model);
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model, 0));
    ASSERT_THAT(store_->Compact(), IsOk());
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(store_.get(), model, 0));
  }
}

TEST_F(Import, OfEqualCellsTheNewerCounts) {
  const auto file = [this](const std::string& name, int64_t mvcc,
                           int64_t sequence_id) {
    HFileWriterOptions options;
    if (sequence_id >= 0) options.max_sequence_id = sequence_id;
    HFileCell cell = MakeCell("r", "q", 7, kPut, name);
    cell.mvcc = mvcc;
    return Write(name, {cell}, options);
  };
  ASSERT_THAT(Run({file("mvcc9", 9, 1), file("mvcc3", 3, 100)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("mvcc9"));
  EXPECT_EQ(report_.skipped, 1u);
  ASSERT_THAT(
      Run({file("seq5", 0, 5), file("seq4", 0, 4), file("none", 0, -1)}),
      IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("seq5"));
  ASSERT_THAT(Run({file("first", 0, -1), file("second", 0, -1)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("second"));
}

// HBase gives all cells of a bulk-loaded file the number in its name.
TEST_F(Import, OfEqualCellsOfBulkLoadsTheLaterLoadCounts) {
  const auto file = [this](const std::string& name, int64_t mvcc,
                           const HFileWriterOptions& options = {}) {
    HFileCell cell = MakeCell("r", "q", 7, kPut, name);
    cell.mvcc = mvcc;
    return Write(name, {cell}, options);
  };
  ASSERT_THAT(Run({file("aa_SeqId_12_", 0), file("bb_SeqId_5_", 0)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("aa_SeqId_12_"));
  EXPECT_EQ(report_.skipped, 1u);
  // Whatever numbers the cells have, and beside cells that were flushed.
  ASSERT_THAT(Run({file("aa_SeqId_12_", 3), file("bb_SeqId_5_", 100)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("aa_SeqId_12_"));
  ASSERT_THAT(Run({file("flushed13", 13), file("aa_SeqId_12_", 100)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("flushed13"));
  ASSERT_THAT(Run({file("aa_SeqId_12_", 0), file("flushed11", 11)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("aa_SeqId_12_"));
  // A load may leave cells theirs.
  HFileWriterOptions keeps;
  keeps.file_info["SKIP_RESET_SEQ_ID"] = "\xff";
  ASSERT_THAT(Run({file("cc_SeqId_12_", 3, keeps), file("flushed4", 4)}),
              IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("flushed4"));
  const Status s = Run({file("dd_SeqId_1", 0)});
  EXPECT_EQ(s.code(), Status::kInvalidArgument);
  EXPECT_THAT(s.ToString(), AllOf(HasSubstr(dir_.File("dd_SeqId_1")),
                                  HasSubstr("expected the number")));
}

TEST_F(Import, ReferencesAndLinksAreRefusedByName) {
  const std::string fine = Write("0123", {MakeCell("a", "q", 7, kPut, "v")});
  const std::string region(32, 'a');
  WriteFileBytes(dir_.File("0123." + region), "PBUF\n\1r");
  WriteFileBytes(dir_.File("table=" + region + "-0123"), "");
  ExpectRefused(
      {fine, dir_.File("0123." + region)}, Status::kNotSupported,
      {"/0123." + region, "to a half of file 0123 of region " + region,
       "major_compact"});
  ExpectRefused({fine, dir_.File("table=" + region + "-0123")},
                Status::kNotSupported,
                {"/table=" + region, "a link to file 0123 of region " + region,
                 "of table table", "major_compact"});
  // A whole file may have such a name.
  ASSERT_THAT(Run({Write("4567.abc", {MakeCell("a", "q", 7, kPut, "v")})}),
              IsOk());
}

TEST_F(Import, DeletesTakeWhatComesLater) {
  ASSERT_THAT(
      Run({Write("file",
                 {MakeCell("r", "", 5, HFileCellType::kDeleteFamily),
                  MakeCell("r", "column", 9, HFileCellType::kDeleteColumn),
                  MakeCell("r", "column", 9, kPut),
                  MakeCell("r", "one", 9, HFileCellType::kDelete)})}),
      IsOk());
  EXPECT_EQ(report_.deletes, 3u);
  EXPECT_EQ(report_.puts, 0u);
  EXPECT_EQ(report_.skipped, 1u);
  for (const char* qualifier : {"column", "one", "other"}) {
    for (const uint64_t timestamp_ms : {4, 5, 6, 8, 9, 10}) {
      ASSERT_THAT(store_->Put("r", "f", qualifier, std::to_string(timestamp_ms),
                              {.timestamp_ms = timestamp_ms}),
                  IsOk());
    }
  }
  EXPECT_THAT(Values("r", "column"), ElementsAre("10"));
  EXPECT_THAT(Values("r", "one"), ElementsAre("10", "8", "6"));
  EXPECT_THAT(Values("r", "other"), ElementsAre("10", "9", "8", "6"));
}

TEST_F(Import, DeletesOfOneVersionInAllColumnsReachTheStore) {
  for (const char* qualifier : {"", "a", "c", "z"}) {
    for (const uint64_t timestamp_ms : {6, 7, 8}) {
      ASSERT_THAT(
          store_->Put("r", "f", qualifier, "v", {.timestamp_ms = timestamp_ms}),
          IsOk());
    }
  }
  ASSERT_THAT(store_->Put("s", "f", "a", "v", {.timestamp_ms = 7}), IsOk());
  ASSERT_THAT(
      Run({Write("file",
                 {MakeCell("r", "", 8, HFileCellType::kDeleteFamilyVersion),
                  MakeCell("r", "", 7, HFileCellType::kDeleteFamilyVersion),
                  MakeCell("r", "", 7, kPut, "file"),
                  MakeCell("r", "a", 7, HFileCellType::kDelete),
                  MakeCell("r", "b", 9, kPut, "file"),
                  MakeCell("r", "b", 7, kPut, "file"),
                  MakeCell("r", "c", 7, HFileCellType::kDeleteColumn)})}),
      IsOk());
  const auto timestamps = [this](const std::string& row,
                                 const std::string& qualifier) {
    std::vector<uint64_t> found;
    for (const Cell& cell : Versions(row, qualifier)) {
      found.push_back(cell.timestamp_ms);
    }
    return found;
  };
  EXPECT_THAT(timestamps("r", ""), ElementsAre(6));
  EXPECT_THAT(timestamps("r", "a"), ElementsAre(6));
  EXPECT_THAT(timestamps("r", "b"), ElementsAre(9));
  EXPECT_THAT(timestamps("r", "c"), IsEmpty());
  EXPECT_THAT(timestamps("r", "z"), ElementsAre(6));
  EXPECT_THAT(timestamps("s", "a"), ElementsAre(7));
  EXPECT_EQ(report_.deletes, 4u);
  // The file's puts at these times, and what is put later.
  EXPECT_EQ(report_.skipped, 2u);
  for (const uint64_t timestamp_ms : {6, 7, 8, 9}) {
    ASSERT_THAT(
        store_->Put("r", "f", "z", "late", {.timestamp_ms = timestamp_ms}),
        IsOk());
  }
  EXPECT_THAT(timestamps("r", "z"), ElementsAre(9, 6));
}

TEST_F(Import, DeletesOfOneVersionInAllColumnsGoThroughAnExport) {
  WriteBatch batch;
  batch.Put("r", "f", "q", "v", 7);
  batch.Put("r", "f", "q", "v", 6);
  batch.Put("r", "f", "", "v", 7);
  batch.Delete("r", "f", "", 9);
  batch.DeleteFamilyVersion("r", "f", 7);
  ASSERT_THAT(store_->Write(batch), IsOk());
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({.deletes = HFileDeletes::kKept}, store_.get(),
                           dir_.File("out"), &exported),
              IsOk());
  ASSERT_NO_FATAL_FAILURE(Open("other"));
  ASSERT_THAT(store_->Put("r", "f", "before", "v", {.timestamp_ms = 7}),
              IsOk());
  ASSERT_THAT(Run({dir_.File("out")}), IsOk());
  ASSERT_THAT(store_->Put("r", "f", "after", "v", {.timestamp_ms = 7}), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Versions("r", "q"), ElementsAre(Cell{"f", "q", 6, "v"}));
    for (const char* qualifier : {"", "before", "after"}) {
      EXPECT_THAT(Versions("r", qualifier), IsEmpty()) << qualifier;
    }
    ASSERT_THAT(store_->Compact(), IsOk());
  }
}

// A version that the store has deleted before takes no version's place, which
// the importer does not know.
TEST_F(Import, DeletesOfTheStoreMakeRoomForOlderVersions) {
  ASSERT_THAT(store_->DeleteVersion("r", "store", "q", {.timestamp_ms = 100}),
              IsOk());
  std::vector<HFileCell> cells;
  for (const int64_t timestamp_ms : {100, 99, 98, 97}) {
    cells.push_back(
        MakeCell("r", "q", timestamp_ms, kPut, std::to_string(timestamp_ms)));
  }
  HFileImportOptions options;
  options.family = "store";
  ASSERT_THAT(Run({Write("file", cells)}, options), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Values("r", "q", "store"), ElementsAre("99", "98"));
    ASSERT_THAT(store_->Compact(), IsOk());
  }
}

TEST_F(Import, SurplusVersionsAreTheStoresToDrop) {
  std::vector<HFileCell> cells;
  cells.push_back(MakeCell("r", "q", 100, HFileCellType::kDelete));
  for (const int64_t timestamp_ms : {100, 99, 98, 97, 96}) {
    cells.push_back(
        MakeCell("r", "q", timestamp_ms, kPut, std::to_string(timestamp_ms)));
  }
  HFileImportOptions options;
  options.family = "store";
  ASSERT_THAT(Run({Write("file", cells)}, options), IsOk());
  // The one that was deleted takes no version's place.
  EXPECT_THAT(Values("r", "q", "store"), ElementsAre("99", "98"));
  EXPECT_EQ(report_.puts, 4u);
  EXPECT_EQ(report_.deletes, 1u);
  EXPECT_EQ(report_.skipped, 1u);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_THAT(Values("r", "q", "store"), ElementsAre("99", "98"));
}

TEST_F(Import, ALatestFamilyTakesTheNewestVersionsWithTheirTimestamps) {
  ASSERT_THAT(store_->Put("r", "latest", "old", "mine"), IsOk());
  ASSERT_THAT(store_->Put("r", "latest", "new", "mine"), IsOk());
  const std::string path =
      Write("file", {MakeCell("r", "deleted", 9, HFileCellType::kDeleteColumn),
                     MakeCell("r", "deleted", 8, kPut, "file"),
                     MakeCell("r", "new", 9, HFileCellType::kDelete),
                     MakeCell("r", "new", 9, kPut, "9"),
                     MakeCell("r", "new", 8, kPut, "8"),
                     MakeCell("r", "new", 7, kPut, "7"),
                     MakeCell("r", "old", 9, HFileCellType::kDeleteColumn)});
  HFileImportOptions options;
  options.family = "latest";
  EXPECT_THAT(Run({path}, options),
              StatusIs(Status::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("\"latest\""),
                             HasSubstr("latest_as_new"))));
  options.latest_as_new = true;
  ASSERT_THAT(Run({path}, options), IsOk());
  // Which is newer makes no difference to what was there.
  EXPECT_THAT(Versions("r", "new", "latest"),
              ElementsAre(Cell{"latest", "new", 8, "8"}));
  // Deletes concern the file's cells.
  EXPECT_THAT(Values("r", "old", "latest"), ElementsAre("mine"));
  EXPECT_THAT(Values("r", "deleted", "latest"), IsEmpty());
  EXPECT_EQ(report_.puts, 1u);
  EXPECT_EQ(report_.deletes, 0u);
  EXPECT_EQ(report_.skipped, 6u);
}

TEST_F(Import, ALatestFamilyHasNoTimestampsOfTheFuture) {
  HFileImportOptions options;
  options.family = "latest";
  options.latest_as_new = true;
  ASSERT_THAT(store_->Put("r", "latest", "before", "mine"), IsOk());
  ASSERT_THAT(
      Run({Write("file", {MakeCell("r", "q", int64_t{1} << 60, kPut, "file")})},
          options),
      IsOk());
  ASSERT_THAT(store_->Put("r", "latest", "after", "mine"), IsOk());
  const auto time = [this](const char* qualifier) {
    const std::vector<Cell> cells = Versions("r", qualifier, "latest");
    return cells.size() == 1 ? cells[0].timestamp_ms : 0;
  };
  EXPECT_GT(time("q"), time("before"));
  EXPECT_LE(time("q"), time("after"));
}

// TTL counts from the timestamps that the cells had in the first store.
TEST_F(Import, CellsOfALatestFamilyExpireWhenTheyWouldHave) {
  constexpr uint64_t kTtl = 1000;
  constexpr uint64_t kStart = 1'700'000'000'000;
  std::atomic<uint64_t> now_ms{kStart};
  const auto open = [&](const std::string& name) {
    return OpenOrFail({}, dir_.File(name), {{"latest", {.ttl_ms = kTtl}}},
                      {.wall_clock = [&now_ms] { return now_ms.load(); }});
  };
  const auto from = open("from");
  store_ = open("to");
  ASSERT_NE(from, nullptr);
  ASSERT_NE(store_, nullptr);
  ASSERT_THAT(from->Put("r", "latest", "old", "exported"), IsOk());
  now_ms = kStart + kTtl / 2;
  ASSERT_THAT(from->Put("r", "latest", "new", "exported"), IsOk());
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({}, from.get(), dir_.File("out"), &exported),
              IsOk());
  HFileImportOptions options;
  options.latest_as_new = true;
  now_ms = kStart + kTtl - 1;
  ASSERT_THAT(store_->Put("r", "latest", "old", "mine"), IsOk());
  ASSERT_THAT(Run({dir_.File("out")}, options), IsOk());
  EXPECT_THAT(Versions("r", "old", "latest"),
              ElementsAre(Cell{"latest", "old", kStart, "exported"}));
  const Cell later{"latest", "new", kStart + kTtl / 2, "exported"};
  EXPECT_THAT(Versions("r", "new", "latest"), ElementsAre(later));
  now_ms = kStart + kTtl + 2;
  // Imported again it is as old as it was, and nothing older shows up.
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Versions("r", "old", "latest"), IsEmpty());
    EXPECT_THAT(Versions("r", "new", "latest"), ElementsAre(later));
    ASSERT_THAT(store_->Compact(), IsOk());
    ASSERT_THAT(Run({dir_.File("out")}, options), IsOk());
  }
}

TEST_F(Import, TagsAreRefusedOrDropped) {
  HFileCell tagged = MakeCell("r", "q", 7, kPut, "v");
  tagged.tags = std::string("\0\2\3t", 4);
  const std::string path =
      Write("file", {MakeCell("q", "q", 7, kPut, "v"), tagged});
  ExpectRefused({path}, Status::kInvalidArgument,
                {path, "row \"r\", cell f:q", "4 bytes of tags", "drop_tags"});
  HFileImportOptions options;
  options.drop_tags = true;
  ASSERT_THAT(Run({path}, options), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("v"));
}

TEST_F(Import, ReferencesToMobFilesAreRefusedWithAndWithoutTheirTags) {
  const auto with_tags = [this](const std::string& name,
                                const std::string& tags) {
    HFileCell cell = MakeCell("r", "q", 7, kPut, "v");
    cell.tags = tags;
    return Write(name, {cell});
  };
  const std::string visibility("\0\2\2v", 4);
  const std::string lifetime("\0\x09\x08\0\0\0\0\0\0\1\0", 11);
  const std::string mob =
      with_tags("mob", visibility + std::string("\0\1\5", 3));
  const std::string cut =
      with_tags("cut", visibility + std::string("\0\3\5m", 4));
  for (const bool drop_tags : {false, true}) {
    const HFileImportOptions options{.drop_tags = drop_tags};
    ExpectRefused({mob}, Status::kInvalidArgument,
                  {mob, "row \"r\", cell f:q", "MOB file (tag type 5)"},
                  options);
    ExpectRefused({cut}, Status::kInvalidArgument, {cut, "8 bytes of tags"},
                  options);
  }
  const std::string path = with_tags("lifetime", visibility + lifetime);
  ExpectRefused({path}, Status::kInvalidArgument,
                {path, "15 bytes of tags, a lifetime (tag type 8)"});
  ASSERT_THAT(Run({path}, {.drop_tags = true}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("v"));
}

TEST_F(Import, CellsThatAStoreDoesNotTakeAreNamed) {
  const HFileCell fine = MakeCell("a", "q", 7, kPut, "v");
  ExpectRefused({Write("old", {fine, MakeCell("r", "q", -1)})},
                Status::kInvalidArgument,
                {"/old", "row \"r\", cell f:q", "timestamp -1"});
  ExpectRefused(
      {Write("wide",
             {fine, MakeCell("r", std::string((1 << 20) + 1, 'q'), 7)})},
      Status::kInvalidArgument,
      {"/wide", "row \"r\"", "a qualifier of 1048577"});
  ExpectRefused(
      {Write("family",
             {fine, MakeCell("r", "q", 7, HFileCellType::kDeleteFamily)})},
      Status::kInvalidArgument, {"/family", "f:q", "expected no qualifier"});
  HFileCell other = fine;
  other.family = "other";
  ExpectRefused({Write("other", {other})}, Status::kInvalidArgument,
                {"/other", "family \"other\"", "not in the store"});
  other.row = "b";
  ExpectRefused({Write("two", {fine, other})}, Status::kInvalidArgument,
                {"/two", "row \"b\", cell other:q", "one family", "\"f\""});
  HFileImportOptions options;
  options.family = "nope";
  ExpectRefused({Write("nope", {fine})}, Status::kInvalidArgument,
                {"/nope", "family \"nope\""}, options);
  // A later put has to be newer than what is imported.
  options.family = "store";
  ExpectRefused({Write("future", {fine, MakeCell("r", "q", int64_t{1} << 60)})},
                Status::kInvalidArgument,
                {"/future", "row \"r\"", "timestamps=store",
                 std::to_string(uint64_t{1} << 60)},
                options);
}

// A block is as large as its largest cell, and a reader's default limit less
// than that of a cell.
TEST_F(Import, TakesWhateverSizeOfValuesAnExportWrites) {
  if (Scaled(1000) < 1000) GTEST_SKIP() << "values of 256 MB";
  std::string value(HFileReaderOptions().max_block_bytes + 1, 'v');
  value.back() = 'w';
  ASSERT_THAT(
      store_->Put("r", "f", "q", value,
                  {.timestamp_ms = 7, .durability = Durability::kSkipWal}),
      IsOk());
  HFileExportOptions export_options;
  export_options.file.compression = HFileCompression::kLz4;
  const std::string out = dir_.File("out");
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles(export_options, store_.get(), out, &exported),
              IsOk());
  ASSERT_NO_FATAL_FAILURE(Open("other"));
  HFileImportOptions options;
  options.reader = {};
  ExpectRefused({out}, Status::kAborted, {out, "expected at most 268435456"},
                options);
  ASSERT_THAT(Run({out}), IsOk());
  std::string found;
  ASSERT_THAT(store_->Get("r", "f", "q", &found), IsOk());
  EXPECT_TRUE(found == value);
}

TEST_F(Import, FilesThatCannotBeReadAreNamed) {
  const std::string fine = Write("fine", {MakeCell("a", "q", 7, kPut, "v")});
  ExpectRefused({fine, dir_.File("absent")}, Status::kIOError, {"/absent"});
  WriteFileBytes(dir_.File("text"), std::string(5000, 't'));
  ExpectRefused({fine, dir_.File("text")}, Status::kCorruption, {"/text"});
  // Damage that shows up after a thousand cells.
  std::vector<HFileCell> cells;
  for (int i = 1000; i < 9000; ++i) {
    cells.push_back(MakeCell(std::to_string(i), "q", 7, kPut, "value"));
  }
  std::string bytes = ReadFileBytes(Write("damaged", cells));
  bytes[bytes.size() / 2] ^= 1;
  WriteFileBytes(dir_.File("damaged"), bytes);
  ExpectRefused({fine, dir_.File("damaged")}, Status::kCorruption,
                {"/damaged", "checksum"});
}

TEST_F(Import, StopsWhenItIsTold) {
  std::vector<HFileCell> cells;
  for (int i = 1000; i < 4000; ++i) {
    cells.push_back(MakeCell(std::to_string(i), "q", 7, kPut, "value"));
  }
  const std::string path = Write("file", cells);
  HFileImportOptions options;
  options.progress = [](const HFileProgress& progress) {
    return progress.cells < 2000;
  };
  ExpectRefused({path}, Status::kIncomplete, {"stopped after 2000 cells"},
                options);
}

TEST_F(Import, SearchesDirectoriesAsHBaseHasThem) {
  namespace fs = std::filesystem;
  const auto write_in = [this](const std::string& directory,
                               const std::string& row) {
    fs::create_directories(dir_.File(directory));
    return Write(directory + "/0123456789abcdef",
                 {MakeCell(row, "q", 7, kPut, "v")});
  };
  write_in("table/region1/f", "1");
  write_in("table/region2/f", "2");
  for (const std::string skipped :
       {"table/.tmp/f", "table/region1/recovered.edits", "table/_logs"}) {
    fs::create_directories(dir_.File(skipped));
    WriteFileBytes(dir_.File(skipped) + "/0123", "no HFile");
  }
  WriteFileBytes(dir_.File("table/region1/.regioninfo"), "no HFile");
  WriteFileBytes(dir_.File("table/region1/f/_unfinished"), "no HFile");
  ASSERT_THAT(Run({dir_.File("table")}), IsOk());
  EXPECT_EQ(report_.files, 2u);
  EXPECT_THAT(Values("1", "q"), ElementsAre("v"));
  EXPECT_THAT(Values("2", "q"), ElementsAre("v"));
  // Nothing is nothing.
  fs::create_directory(dir_.File("empty"));
  ASSERT_THAT(Run({dir_.File("empty")}), IsOk());
  EXPECT_EQ(report_.files, 0u);
  ASSERT_THAT(Run({Write("no_cells", {})}), IsOk());
  EXPECT_EQ(report_.files, 1u);
}

TEST_F(Import, AFamilyMayHaveANameThatIsSkippedOtherwise) {
  store_.reset();
  ASSERT_THAT(Store::Open({}, dir_.File("db"), {ManyVersions("_x")}, &store_),
              IsOk());
  ASSERT_THAT(store_->Put("r", "_x", "q", "v", {.timestamp_ms = 7}), IsOk());
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({.families = {"_x"}}, store_.get(), dir_.File("out"),
                           &exported),
              IsOk());
  ASSERT_THAT(Run({dir_.File("out")}), IsOk());
  EXPECT_EQ(report_.puts, 1u);
}

TEST_F(Import, NeedsAStoreThatIsWritten) {
  store_.reset();
  ASSERT_THAT(Store::Open({.read_only = true}, dir_.File("db"), {}, &store_),
              IsOk());
  ExpectRefused({Write("file", {MakeCell("r", "q", 7)})}, Status::kNotSupported,
                {"reading only"});
}

}  // namespace
}  // namespace rowbloom::test
