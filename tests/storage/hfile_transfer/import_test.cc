// Imports of files that the tests write: what merges with what, what is refused
// and what is left then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "storage/hfile/block_cache.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test::import_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr auto kPut = HFileCellType::kPut;

HFileWriterOptions WithTags() {
  HFileWriterOptions options;
  options.tags = true;
  return options;
}

class Import : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open(const std::string& name = "db") {
    store_ = OpenOrFail(
        {}, dir_.File(name),
        {ManyVersions("f"), {"latest", {}}, {"store", {.max_versions = 2}}});
  }
  std::string Write(const std::string& name, std::vector<HFileCell> cells,
                    const HFileWriterOptions& options = WithTags()) {
    const std::string path = dir_.File(name);
    WriteCells({options}, path, cells);
    return path;
  }
  Status Run(const std::vector<std::string>& paths,
             const HFileImportOptions& options = {}) {
    return ImportHFiles(options, paths, store_.get(), &report_);
  }
  // A cell with a tag, which is refused.
  static HFileCell Tagged(const std::string& row) {
    HFileCell cell = MakeCell(row, "q", 7, kPut, "v");
    cell.tags = std::string("\0\2\3t", 4);
    return cell;
  }
  // The options of a file that replaces those with these names, as protobuf
  // has them.
  static HFileWriterOptions Replacing(const std::string& names) {
    HFileWriterOptions options = WithTags();
    options.file_info["COMPACTION_EVENT_KEY"] = "PBUF" + names;
    return options;
  }
  // A file of many cells, of which some cannot be read.
  std::string WriteDamaged() {
    std::vector<HFileCell> cells;
    for (int i = 1000; i < 9000; ++i) {
      cells.push_back(MakeCell(std::to_string(i), "q", 7, kPut, "damaged"));
    }
    const std::string path = Write("damaged", cells);
    FlipBit(path, std::filesystem::file_size(path) / 2);
    return path;
  }
  std::vector<Cell> Versions(const std::string& row,
                             const std::string& qualifier,
                             const std::string& family = "f") {
    return GetVersionsOf(*store_, row, family, qualifier,
                         {.max_versions = kManyVersions});
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
  std::vector<std::string> Rows() {
    std::vector<std::string> rows;
    for (const Row& row : RowsOf(*store_)) rows.push_back(row.row);
    return rows;
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
    EXPECT_THAT(Rows(), IsEmpty());
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
  Random random(SeedFromEnv());
  const std::vector<HFileCell> cells =
      RandomCells({.rows = Scaled(3000), .deletes = true}, &random);
  // The cells are in one file, in overlapping ones, or in ones that follow each
  // other.
  for (const std::string form : {"one", "overlapping", "split"}) {
    SCOPED_TRACE(form);
    Open(form);
    const size_t count = form == "one" ? 1 : 5;
    std::vector<std::vector<HFileCell>> parts(count);
    for (size_t i = 0; i < cells.size(); ++i) {
      // Equal keys stay in one file, where their order counts.
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
  // The cells' own numbers do not matter, even beside cells that were flushed.
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
  // Such a load has the number of the flush before it, and is newer.
  HFileWriterOptions flushed;
  flushed.max_sequence_id = 12;
  for (const char* name : {"bb_flushed", "dd_flushed"}) {
    ASSERT_THAT(Run({file("cc_SeqId_12_", 3, keeps), file(name, 3, flushed)}),
                IsOk());
    EXPECT_THAT(Values("r", "q"), ElementsAre("cc_SeqId_12_"));
  }
  // Files of one load have one number. HBase takes the smaller one for newer,
  // and of equal sizes the one that was written later.
  HFileWriterOptions large;
  large.file_info["x"] = std::string(1000, 'x');
  ASSERT_THAT(Run({file("aa_SeqId_12_", 0), file("bb_SeqId_12_", 0, large)}),
              IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("aa_SeqId_12_"));
  ASSERT_THAT(Run({file("aa_SeqId_12_", 0, large), file("bb_SeqId_12_", 0)}),
              IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("bb_SeqId_12_"));
  // A minor compaction of some files of the load writes N into its output.
  HFileWriterOptions compacted = large;
  compacted.max_sequence_id = 12;
  for (const char* name : {"aa_compacted", "cc_compacted"}) {
    ASSERT_THAT(Run({file(name, 12, compacted), file("bb_SeqId_12_", 0)}),
                IsOk());
    EXPECT_THAT(Values("r", "q"), ElementsAre("bb_SeqId_12_"));
  }
  HFileWriterOptions first;
  first.bulk_load_time_ms = 1;
  HFileWriterOptions second;
  second.bulk_load_time_ms = 2;
  ASSERT_THAT(
      Run({file("aa_SeqId_12_", 0, second), file("bb_SeqId_12_", 0, first)}),
      IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("aa_SeqId_12_"));
  // A load that gives no numbers is older than all that have one.
  ASSERT_THAT(Run({file("flushed0", 0), file("loaded", 9, first)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("flushed0"));
  first.max_sequence_id = 12;
  ASSERT_THAT(Run({file("flushed11", 11), file("loaded", 9, first)}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("loaded"));
  const Status s = Run({file("dd_SeqId_1", 0)});
  EXPECT_EQ(s.code(), Status::kInvalidArgument);
  EXPECT_THAT(s.ToString(), AllOf(HasSubstr(dir_.File("dd_SeqId_1")),
                                  HasSubstr("expected the number")));
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
  Open("other");
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
  ASSERT_THAT(Run({Write("file", cells)}, {.family = "store"}), IsOk());
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
  ASSERT_THAT(Run({Write("file", cells)}, {.family = "store"}), IsOk());
  // The one that was deleted takes no version's place.
  EXPECT_THAT(Values("r", "q", "store"), ElementsAre("99", "98"));
  EXPECT_EQ(report_.puts, 4u);
  EXPECT_EQ(report_.deletes, 1u);
  EXPECT_EQ(report_.skipped, 1u);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_THAT(Values("r", "q", "store"), ElementsAre("99", "98"));
}

// A delete takes nothing of another family in HBase.
TEST_F(Import, DeletesAreRefusedWhereFamiliesBecomeOne) {
  HFileCell other = MakeCell("r", "q", 5, kPut, "other");
  other.family = "o";
  const std::string of_other = Write("other", {other});
  const HFileImportOptions into_one = {.family = "f"};
  for (const HFileCell& deleted :
       {MakeCell("r", "", 9, HFileCellType::kDeleteFamily),
        MakeCell("r", "q", 5, HFileCellType::kDelete),
        MakeCell("z", "q", 9, HFileCellType::kDeleteColumn)}) {
    const std::string deletes = Write("deletes", {deleted});
    ExpectRefused({of_other, deletes}, Status::kNotSupported,
                  {"\"f\"", "\"o\"", "would take cells of both"}, into_one);
    ASSERT_THAT(Run({of_other, deletes}, {.family = "f", .keep_going = true}),
                IsOk());
    ASSERT_EQ(report_.left_out.size(), 1u);
    EXPECT_THAT(Values("r", "q"), ElementsAre("other"));
    ASSERT_NO_FATAL_FAILURE(Open(std::to_string(int(deleted.type))));
  }
  const std::string puts =
      Write("puts", {MakeCell("r", "p", 5, kPut, "first")});
  ASSERT_THAT(Run({of_other, puts}, into_one), IsOk());
  EXPECT_THAT(Values("r", "p"), ElementsAre("first"));
  EXPECT_THAT(Values("r", "q"), ElementsAre("other"));
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
  EXPECT_THAT(Run({path}, {.family = "latest"}),
              StatusIs(Status::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("\"latest\""),
                             HasSubstr("latest_as_new"))));
  ASSERT_THAT(Run({path}, {.family = "latest", .latest_as_new = true}), IsOk());
  // The file's cell replaces the store's, whichever is newer.
  EXPECT_THAT(Versions("r", "new", "latest"),
              ElementsAre(Cell{"latest", "new", 8, "8"}));
  // Deletes concern the file's cells.
  EXPECT_THAT(Values("r", "old", "latest"), ElementsAre("mine"));
  EXPECT_THAT(Values("r", "deleted", "latest"), IsEmpty());
  EXPECT_EQ(report_.puts, 1u);
  EXPECT_EQ(report_.deletes, 0u);
  EXPECT_EQ(report_.skipped, 6u);
}

// Cells of Hudi have no timestamp.
TEST_F(Import, ALatestFamilyTakesPutsWithoutATimestamp) {
  ASSERT_THAT(store_->Put("r", "latest", "before", "mine"), IsOk());
  ASSERT_THAT(Run({Write("file", {MakeCell("r", "q", kHFileLatestTimestamp,
                                           kPut, "file")})},
                  {.family = "latest", .latest_as_new = true}),
              IsOk());
  const std::vector<Cell> cells = Versions("r", "q", "latest");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].value, "file");
  EXPECT_GT(cells[0].timestamp_ms,
            Versions("r", "before", "latest").at(0).timestamp_ms);
}

// A compaction dropped the delete of a row, and HBase has deleted the file with
// it, and not yet the one with the row.
TEST_F(Import, FilesThatACompactionReplacedArePassedOver) {
  const std::string region = "t/1e2d";
  const std::string other_region = "t/5f9e";
  for (const std::string& place : {region, other_region}) {
    std::filesystem::create_directories(dir_.File(place + "/f"));
    Write(place + "/f/0a", {MakeCell(place, "q", 5, kPut, "deleted")});
  }
  const HFileWriterOptions compacted = Replacing(
      "\x0a\x02"
      "0a\x0a\x02"
      "0b");
  Write(region + "/f/0c", {MakeCell("other", "q", 5, kPut, "stays")},
        compacted);
  for (const bool keep_going : {false, true}) {
    ASSERT_THAT(Run({dir_.File("t")}, {.keep_going = keep_going}), IsOk());
    EXPECT_THAT(Values(region, "q"), IsEmpty());
    // A file of that name elsewhere is another one.
    EXPECT_THAT(Values(other_region, "q"), ElementsAre("deleted"));
    EXPECT_THAT(Values("other", "q"), ElementsAre("stays"));
    EXPECT_EQ(report_.files, 2u);
    EXPECT_EQ(report_.passed_over["files that a compaction replaced"], 1u);
  }
  ASSERT_THAT(Run({dir_.File("t")}, {.dry_run = true}), IsOk());
  EXPECT_EQ(report_.cells, 2u);
  // A path may be spelled in several ways.
  ASSERT_NO_FATAL_FAILURE(Open("spelled"));
  ASSERT_THAT(Run({dir_.File(region + "/f/0a"),
                   dir_.File("t/../" + region + "/./f//0c")}),
              IsOk());
  EXPECT_THAT(Values(region, "q"), IsEmpty());
  EXPECT_THAT(Values("other", "q"), ElementsAre("stays"));
  // HBase keeps a file without cells if all have expired.
  Write(region + "/f/0c", {}, compacted);
  ASSERT_NO_FATAL_FAILURE(Open("expired"));
  ASSERT_THAT(Run({dir_.File("t")}), IsOk());
  EXPECT_THAT(Rows(), ElementsAre(other_region));
}

TEST_F(Import, AFileThatIsNamedTwiceIsReadOnce) {
  std::filesystem::create_directories(dir_.File("t/1e2d/f"));
  const std::string file = Write("t/1e2d/f/0a", {MakeCell("r", "q", 7)});
  for (const bool dry_run : {true, false}) {
    ASSERT_THAT(Run({dir_.File("t"), file, dir_.File("t/../t/1e2d")},
                    {.dry_run = dry_run}),
                IsOk());
    EXPECT_EQ(report_.files, 1u);
    EXPECT_EQ(report_.cells, 1u);
    EXPECT_EQ(report_.skipped, 0u);
  }
}

// A chain of compactions: 0a became 0b, and 0b and 0c became 0d.
TEST_F(Import, FilesThatARefusedOneReplacedAreLoaded) {
  const HFileWriterOptions of_0a = Replacing(
      "\x0a\x02"
      "0a");
  const std::string place = "t/1e2d/f/";
  std::filesystem::create_directories(dir_.File(place));
  Write(place + "0a", {MakeCell("0a", "q", 5, kPut, "v")});
  Write(place + "0b", {MakeCell("0b", "q", 5, kPut, "v")}, of_0a);
  Write(place + "0c", {MakeCell("0c", "q", 5, kPut, "v"), Tagged("z")});
  Write(place + "0d", {MakeCell("0d", "q", 5, kPut, "v"), Tagged("z")},
        Replacing("\x0a\x02"
                  "0b"
                  "\x0a\x02"
                  "0c"));
  ExpectRefused({dir_.File("t")}, Status::kInvalidArgument, {"/0d", "tags"});
  for (const bool dry_run : {true, false}) {
    ASSERT_THAT(Run({dir_.File("t")}, {.keep_going = true, .dry_run = dry_run}),
                IsOk());
    EXPECT_EQ(report_.left_out.size(), 2u);
    EXPECT_EQ(report_.cells, 1u);
    EXPECT_EQ(report_.passed_over["files that a compaction replaced"], 1u);
    EXPECT_EQ(report_.files, 3u);
  }
  EXPECT_THAT(Rows(), ElementsAre("0b"));
  // A refused file replaces none: without 0b, 0a is loaded.
  Write(place + "0b", {MakeCell("0b", "q", 5, kPut, "v"), Tagged("z")}, of_0a);
  Open("second");
  ASSERT_THAT(Run({dir_.File("t")}, {.keep_going = true}), IsOk());
  EXPECT_EQ(report_.left_out.size(), 3u);
  EXPECT_THAT(report_.passed_over, IsEmpty());
  EXPECT_THAT(Rows(), ElementsAre("0a"));
}

TEST_F(Import, NamesOfReplacedFilesThatAreNoneAreRefused) {
  HFileWriterOptions compacted = Replacing(
      "\x0a\x04"
      "../a");
  ExpectRefused({Write("leads_away", {MakeCell("r", "q", 5)}, compacted)},
                Status::kCorruption, {"/leads_away", "compacted file"});
  compacted.file_info["COMPACTION_EVENT_KEY"] = "none";
  ExpectRefused({Write("none", {MakeCell("r", "q", 5)}, compacted)},
                Status::kCorruption, {"/none", "COMPACTION_EVENT_KEY"});
}

TEST_F(Import, ALatestFamilyHasNoTimestampsOfTheFuture) {
  ASSERT_THAT(store_->Put("r", "latest", "before", "mine"), IsOk());
  ASSERT_THAT(
      Run({Write("file", {MakeCell("r", "q", int64_t{1} << 60, kPut, "file")})},
          {.family = "latest", .latest_as_new = true}),
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
                      [&now_ms] { return now_ms.load(); });
  };
  const auto from = open("from");
  store_ = open("to");
  ASSERT_THAT(from->Put("r", "latest", "old", "exported"), IsOk());
  now_ms = kStart + kTtl / 2;
  ASSERT_THAT(from->Put("r", "latest", "new", "exported"), IsOk());
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({}, from.get(), dir_.File("out"), &exported),
              IsOk());
  const HFileImportOptions options{.latest_as_new = true};
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
  const std::string path =
      Write("file", {MakeCell("q", "q", 7, kPut, "v"), Tagged("r")});
  ExpectRefused({path}, Status::kInvalidArgument,
                {path, "row \"r\", cell f:q", "tags (type 3)", "drop_tags"});
  ASSERT_THAT(Run({path}, {.drop_tags = true}), IsOk());
  EXPECT_THAT(Values("r", "q"), ElementsAre("v"));
  EXPECT_EQ(report_.without_tags, 1u);
}

TEST_F(Import, CellsKeepTheirOwnTtl) {
  const auto with_ttl = [](const std::string& qualifier, int64_t timestamp_ms,
                           const std::string& ttl) {
    HFileCell cell = MakeCell("r", qualifier, timestamp_ms, kPut, "v");
    cell.tags = {'\0', static_cast<char>(ttl.size() + 1), '\x08'};
    cell.tags += ttl;
    return cell;
  };
  const std::string second("\0\0\0\0\0\0\x03\xe8", 8);
  const std::string for_ever("\x7f\xff\xff\xff\xff\xff\xff\xff", 8);
  constexpr int64_t kFuture = 33'000'000'000'000;  // the year 3015
  HFileCell twice = with_ttl("twice", 7, for_ever);
  twice.tags += std::string("\0\x09\x08", 3) + second;
  const std::string path = Write(
      "file", {with_ttl("alive", kFuture, second), with_ttl("over", 7, second),
               MakeCell("r", "over", 6, kPut, "older"),
               with_ttl("over_at_once", kFuture, "\xff\xff" + second.substr(2)),
               with_ttl("stays", 7, for_ever), twice});
  ASSERT_THAT(Run({path}), IsOk());
  EXPECT_EQ(report_.cells, 6u);
  EXPECT_EQ(report_.without_tags, 0u);
  EXPECT_EQ(report_.skipped, 2u);
  EXPECT_THAT(Values("r", "alive"), ElementsAre("v"));
  EXPECT_THAT(Values("r", "over"), ElementsAre("older"));
  EXPECT_THAT(Values("r", "over_at_once"), IsEmpty());
  EXPECT_THAT(Values("r", "stays"), ElementsAre("v"));
  // The first TTL counts.
  EXPECT_THAT(Values("r", "twice"), ElementsAre("v"));
  Open("other");
  ExpectRefused({Write("short", {with_ttl("q", 7, "1234567")})},
                Status::kInvalidArgument,
                {"/short", "a TTL (tag type 8) of 7 bytes, expected 8"});
  Open("again");
  ASSERT_THAT(Run({path}), IsOk());
  std::unique_ptr<CellIterator> cells;
  ASSERT_THAT(store_->NewCellIterator({.family = "f"}, &cells), IsOk());
  std::map<std::string, std::optional<uint64_t>> ttls;
  for (; cells->Valid(); cells->Next()) {
    ttls[std::string(cells->cell().qualifier)] = cells->cell().ttl_ms;
  }
  const std::map<std::string, std::optional<uint64_t>> expected = {
      {"alive", 1000},
      {"over", std::nullopt},
      {"stays", kMaxTimestampMs},
      {"twice", kMaxTimestampMs}};
  EXPECT_EQ(ttls, expected);
}

// A cell's time and its TTL are the machine's, whose clock a store's may be
// ahead of.
TEST_F(Import, AStoreThatIsAheadTakesCellsThatHaveNotRunOut) {
  const auto now_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
  constexpr uint64_t kDayMs = 24 * 60 * 60 * 1000;
  {
    const auto ahead = OpenOrFail({}, dir_.File("ahead"),
                                  {{"f", {.timestamps = Timestamps::kClient}}},
                                  [&] { return now_ms + 30 * kDayMs; });
    ASSERT_THAT(ahead->Put("a", "f", "q", "v"), IsOk());
  }
  store_ = OpenOrFail({}, dir_.File("ahead"), {});
  HFileCell cell = MakeCell("r", "q", static_cast<int64_t>(now_ms), kPut, "v");
  cell.tags =
      std::string("\0\x09\x08", 3) + std::string("\0\0\0\0\x24\x0c\x84\0", 8);
  ASSERT_THAT(Run({Write("file", {cell})}), IsOk());
  EXPECT_EQ(report_.skipped, 0u);
  EXPECT_THAT(Values("r", "q"), ElementsAre("v"));
}

// HBase 2.6 leaves to an upper region a reference to a file with rows on both
// sides of the split, and a link to one that is above it.
TEST_F(Import, OfEqualCellsThatOfAnUpperHalfCounts) {
  for (const char* region : {"t/1e2d/f", "t/3c4b/f"}) {
    std::filesystem::create_directories(dir_.File(region));
  }
  Write("t/1e2d/f/aa_SeqId_12_", {MakeCell("a", "q", 7, kPut, "below"),
                                  MakeCell("r", "q", 7, kPut, "of the half")});
  Write("t/1e2d/f/bb_SeqId_12_", {MakeCell("r", "q", 7, kPut, "of the link")});
  const std::string key("\0\1m\0\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 13);
  WriteFile(dir_.File("t/3c4b/f/aa_SeqId_12_.1e2d"),
            "PBUF\n\x0d" + key + std::string("\x10\0", 2));
  WriteFile(dir_.File("t/3c4b/f/t=1e2d-bb_SeqId_12_"), "");
  ASSERT_THAT(Run({dir_.File("t/3c4b")}), IsOk());
  EXPECT_EQ(report_.cells, 2u);
  EXPECT_THAT(Values("r", "q"), ElementsAre("of the half"));
  EXPECT_THAT(Values("a", "q"), IsEmpty());
}

TEST_F(Import, TagsOfOtherKindsAreNamed) {
  HFileCell cell = MakeCell("r", "q", 7, kPut, "v");
  cell.tags = std::string("\0\2\2v\0\x09\x08\0\0\0\0\0\0\1\0", 15);
  const std::string path = Write("visibility", {cell});
  ExpectRefused({path}, Status::kInvalidArgument, {path, "tags (visibility)"});
  cell.tags = std::string("\0\1\5\0\3\2v", 7);
  const std::string cut = Write("cut", {cell});
  ExpectRefused({cut}, Status::kInvalidArgument, {cut, "7 bytes of tags"},
                {.drop_tags = true});
}

// HBase shows "secret" here: a delete takes only cells of its own label.
TEST_F(Import, LabelsAreRefusedBesideDeletes) {
  const auto labelled = [](HFileCell cell, char tag) {
    cell.tags = std::string("\0\2", 2) + tag + "v";
    return cell;
  };
  const HFileCell put = MakeCell("r", "q", 7, kPut, "secret");
  const HFileCell other = MakeCell("s", "q", 7, kPut, "v");
  const std::vector<HFileCell> deletes = {
      MakeCell("r", "q", 8, HFileCellType::kDeleteColumn),
      MakeCell("a", "q", 8, HFileCellType::kDelete),
      MakeCell("z", "", 8, HFileCellType::kDeleteFamily),
      MakeCell("z", "", 8, HFileCellType::kDeleteFamilyVersion)};
  for (const char tag : {'\2', '\4', '\7'}) {
    const std::string labels =
        Write("labels", {labelled(put, tag), labelled(other, tag)});
    for (const HFileCell& of_none : deletes) {
      for (const HFileCell& deleted : {of_none, labelled(of_none, tag)}) {
        const std::string path = Write("deletes", {deleted});
        ExpectRefused({labels, path}, Status::kNotSupported,
                      {"cell f:", "visibility label", "major compaction"},
                      {.drop_tags = true});
      }
    }
    const std::string path = Write("deletes", {labelled(deletes[0], tag)});
    ExpectRefused({path}, Status::kNotSupported,
                  {path + ": row \"r\", cell f:q: a delete in a family with"},
                  {.drop_tags = true});
  }
  // A file that is left out tells so as well.
  const std::string labels = dir_.File("labels");
  const std::string path = Write("deletes", {deletes[0]});
  for (const bool dry_run : {true, false}) {
    ASSERT_THAT(
        Run({labels, path},
            {.drop_tags = true, .keep_going = true, .dry_run = dry_run}),
        IsOk());
    ASSERT_EQ(report_.left_out.size(), 1u);
    EXPECT_THAT(report_.left_out[0].ToString(),
                HasSubstr(path + ": row \"r\", cell f:q: a delete"));
  }
  EXPECT_THAT(Values("r", "q"), ElementsAre("secret"));
  // Its deletes are not in the family then.
  const std::string refused =
      Write("refused", {deletes[1], labelled(put, '\2')});
  ASSERT_THAT(Run({refused, labels}, {.drop_tags = true, .keep_going = true}),
              IsOk());
  EXPECT_EQ(report_.left_out.size(), 1u);
  EXPECT_EQ(report_.puts, 2u);
  // Other families may have deletes, and other tags labels beside them.
  Open("others");
  HFileCell of_other = deletes[0];
  of_other.family = "store";
  ASSERT_THAT(Run({labels, Write("store", {of_other})}, {.drop_tags = true}),
              IsOk());
  Open("others_tags");
  ASSERT_THAT(Run({Write("access", {labelled(other, '\1')}), path},
                  {.drop_tags = true}),
              IsOk());
}

// A table of HBase with a MOB family, whose files HFileWriter writes as HBase
// does: none of HBase's own was at hand.
class ImportOfMobValues : public Import {
 protected:
  static std::string Tag(char type, const std::string& contents) {
    return std::string(1, '\0') + static_cast<char>(contents.size() + 1) +
           type + contents;
  }
  // The cell that a store file has in place of `cell`.
  static HFileCell ReferenceTo(const std::string& file, HFileCell cell,
                               const std::string& table = "orders") {
    const size_t size = cell.value.size();
    cell.value = std::string(2, '\0') + static_cast<char>(size >> 8) +
                 static_cast<char>(size) + file;
    cell.tags = Tag(5, "") + Tag(6, table) + cell.tags;
    return cell;
  }
  static HFileCell Large(const std::string& row, int64_t timestamp_ms = 7) {
    return MakeCell(row, "q", timestamp_ms, kPut,
                    std::string(1000, 'v') + " of " + row);
  }
  std::string WriteMob(
      const std::string& name, std::vector<HFileCell> cells,
      const std::string& place = "mobdir/data/default/orders") {
    const std::string directory = "hbase/" + place + "/5f9e/f";
    std::filesystem::create_directories(dir_.File(directory));
    return Write(directory + "/" + name, std::move(cells));
  }
  std::string WriteStoreFile(
      std::vector<HFileCell> cells,
      const std::string& place = "hbase/data/default/orders") {
    const std::string directory = place + "/1e2d/f";
    std::filesystem::create_directories(dir_.File(directory));
    Write(directory + "/0a", std::move(cells));
    return dir_.File(place);
  }
  // A reference that cannot be followed ends the import.
  void ExpectNoValue(const HFileCell& reference, Status::Code code,
                     const std::vector<std::string>& parts) {
    const std::string table = WriteStoreFile({reference});
    ExpectRefused({table}, code, {"/1e2d/f/0a: row \"r\", cell f:q"},
                  {.drop_tags = true});
    ExpectRefused({table}, code, parts);
    ASSERT_THAT(Run({table}, {.keep_going = true}), IsOk());
    ASSERT_EQ(report_.left_out.size(), 1u);
    EXPECT_EQ(report_.left_out[0].code(), code);
  }
};

TEST_F(ImportOfMobValues, HasThem) {
  HFileCell visible = Large("visible");
  visible.tags = Tag(2, "v");
  WriteMob("01_a", {Large("a"), Large("b"), visible});
  // The archive is looked in, too, and the table that a clone was made of.
  WriteMob("02", {Large("c", 8), Large("c", 7)}, "archive/data/default/orders");
  WriteMob("01_a", {Large("d")}, "mobdir/data/ns/cloned");
  const std::string table = WriteStoreFile(
      {ReferenceTo("01_a", Large("a")),
       MakeCell("a", "small", 7, kPut, "in place"),
       ReferenceTo("01_a", Large("b")), ReferenceTo("02", Large("c", 8)),
       ReferenceTo("02", Large("c", 7)),
       ReferenceTo("01_a", Large("d"), "ns:cloned"),
       ReferenceTo("01_a", visible)});
  ExpectRefused({table}, Status::kInvalidArgument, {"tags (visibility)"});
  for (const bool keep_going : {false, true}) {
    ASSERT_THAT(Run({table}, {.drop_tags = true, .keep_going = keep_going}),
                IsOk());
    EXPECT_EQ(report_.puts, 7u);
    EXPECT_EQ(report_.without_tags, 1u);
    EXPECT_THAT(report_.left_out, IsEmpty());
    for (const char* row : {"a", "b", "d", "visible"}) {
      EXPECT_THAT(Values(row, "q"), ElementsAre(Large(row).value)) << row;
    }
    EXPECT_THAT(Values("a", "small"), ElementsAre("in place"));
    EXPECT_THAT(Values("c", "q"),
                ElementsAre(Large("c").value, Large("c").value));
    Open("db" + std::to_string(keep_going));
  }
}

// More files than are kept open, in turns.
TEST_F(ImportOfMobValues, OfManyFiles) {
  constexpr int kFiles = 70;
  std::vector<HFileCell> references;
  std::vector<std::vector<HFileCell>> of_files(kFiles);
  for (int i = 1000; i < 1000 + 3 * kFiles; ++i) {
    const HFileCell cell = Large(std::to_string(i));
    of_files[i % kFiles].push_back(cell);
    references.push_back(ReferenceTo(std::to_string(i % kFiles), cell));
  }
  for (int file = 0; file < kFiles; ++file) {
    WriteMob(std::to_string(file), of_files[file]);
  }
  const auto cache = NewHFileBlockCache(1 << 20);
  const uint64_t first_id = cache->NewFileId();
  ASSERT_THAT(
      Run({WriteStoreFile(references)}, {.reader = {.block_cache = cache}}),
      IsOk());
  // Most are still open when their turn comes again.
  EXPECT_LT(cache->NewFileId() - first_id, 100u);
  for (const HFileCell& cell : references) {
    EXPECT_THAT(Values(cell.row, "q"), ElementsAre(Large(cell.row).value));
  }
}

// Files that are nowhere take no place among those that are kept open.
TEST_F(ImportOfMobValues, OfFilesInTurnsBesideFilesThatAreNowhere) {
  constexpr size_t kNowhere = 70;
  const std::string table = WriteStoreFile({ReferenceTo("00", Large("0"))});
  for (size_t i = 1; i < kNowhere; ++i) {
    const std::string name = std::to_string(1000 + i);
    Write("hbase/data/default/orders/1e2d/f/0b" + name,
          {ReferenceTo(name, Large(name))});
  }
  std::vector<HFileCell> references;
  std::vector<std::vector<HFileCell>> of_files(2);
  for (size_t i = 0; i < 50; ++i) {
    const HFileCell cell = Large(std::to_string(5000 + i));
    of_files[i % 2].push_back(cell);
    references.push_back(ReferenceTo(i % 2 == 0 ? "0a" : "0b", cell));
  }
  WriteMob("0a", of_files[0]);
  WriteMob("0b", of_files[1]);
  Write("hbase/data/default/orders/1e2d/f/0c", references);
  const auto cache = NewHFileBlockCache(1 << 20);
  const uint64_t first_id = cache->NewFileId();
  ASSERT_THAT(
      Run({table}, {.keep_going = true, .reader = {.block_cache = cache}}),
      IsOk());
  EXPECT_EQ(report_.left_out.size(), kNowhere);
  EXPECT_EQ(report_.puts, references.size());
  // Each store file is looked at, read, and read with the others. The last one
  // is read alone and with the others once more, and loaded.
  EXPECT_EQ(cache->NewFileId() - first_id - 1, 3 * (kNowhere + 1) + 3 + 2);
}

// HBase may have removed their files.
TEST_F(ImportOfMobValues, AreNotNeededOfCellsThatAreNotLoaded) {
  FamilyDescriptor family = ManyVersions("f");
  family.options.ttl_ms = 1000;
  store_ = OpenOrFail({}, dir_.File("ttl"), {family});
  constexpr int64_t kFuture = int64_t{1} << 50;
  const HFileCell deleted = Large("deleted", kFuture);
  const std::string table = WriteStoreFile(
      {MakeCell("deleted", "q", kFuture, HFileCellType::kDeleteColumn),
       ReferenceTo("gone", deleted), ReferenceTo("gone", Large("expired", 7))});
  for (const bool keep_going : {true, false}) {
    ASSERT_THAT(Run({table}, {.keep_going = keep_going}), IsOk());
    EXPECT_THAT(report_.left_out, IsEmpty());
    EXPECT_EQ(report_.puts, 0u);
    EXPECT_EQ(report_.skipped, 2u);
  }
  ExpectRefused({WriteStoreFile({ReferenceTo("gone", Large("r", kFuture))})},
                Status::kNotSupported, {"MOB file \"gone\""});
}

// HBase 2.4 compacts MOB files: it archives the old ones, adds a store file
// with references to the new one, and leaves the old references.
TEST_F(ImportOfMobValues, AreNotNeededOfCellsThatOtherFilesReplace) {
  WriteMob("02", {Large("moved")});
  const std::string table = WriteStoreFile(
      {ReferenceTo("01", Large("deleted")), ReferenceTo("01", Large("moved")),
       MakeCell("small", "q", 7, kPut, "in place")});
  HFileWriterOptions later = WithTags();
  later.max_sequence_id = 9;
  Write("hbase/data/default/orders/1e2d/f/0b",
        {MakeCell("deleted", "q", 8, HFileCellType::kDeleteColumn),
         ReferenceTo("02", Large("moved"))},
        later);
  for (const bool keep_going : {false, true}) {
    ASSERT_THAT(Run({table}, {.keep_going = keep_going}), IsOk());
    EXPECT_THAT(report_.left_out, IsEmpty());
    EXPECT_EQ(report_.puts, 2u);
    EXPECT_THAT(Values("moved", "q"), ElementsAre(Large("moved").value));
    EXPECT_THAT(Values("small", "q"), ElementsAre("in place"));
    EXPECT_THAT(Values("deleted", "q"), IsEmpty());
    ASSERT_NO_FATAL_FAILURE(Open("db" + std::to_string(keep_going)));
  }
}

// A value that a file deletes is needed again when that file is left out.
TEST_F(ImportOfMobValues, AreNeededOnceAFileWithDeletesIsLeftOut) {
  WriteMob("01", {Large("a")});
  const std::string table = WriteStoreFile({ReferenceTo("01", Large("a"))});
  const std::string place = "hbase/data/default/orders/1e2d/f/";
  Write(place + "0b", {ReferenceTo("gone", Large("b"))});
  Write(place + "0c", {MakeCell("a", "q", 8, HFileCellType::kDeleteColumn),
                       MakeCell("b", "q", 8, HFileCellType::kDeleteColumn),
                       ReferenceTo("gone", Large("c"))});
  for (const bool dry_run : {true, false}) {
    ASSERT_THAT(Run({table}, {.keep_going = true, .dry_run = dry_run}), IsOk());
    ASSERT_EQ(report_.left_out.size(), 2u);
    EXPECT_THAT(report_.left_out[0].ToString(), HasSubstr("/0c: row \"c\""));
    EXPECT_THAT(report_.left_out[1].ToString(), HasSubstr("/0b: row \"b\""));
    EXPECT_EQ(report_.cells, 1u);
  }
  EXPECT_EQ(report_.puts, 1u);
  EXPECT_THAT(Values("a", "q"), ElementsAre(Large("a").value));
}

// A link to itself stands for a directory of another user.
TEST_F(ImportOfMobValues, InADirectoryThatCannotBeSearchedAreNotAbsent) {
  const std::string table = WriteStoreFile({ReferenceTo("01", Large("r"))});
  const std::string mobdir = dir_.File("hbase/mobdir");
  std::filesystem::create_symlink(mobdir, mobdir);
  ExpectRefused({table}, Status::kIOError,
                {mobdir + "/data/default/orders: cannot read the directory"});
}

TEST_F(ImportOfMobValues, ThatAreNowhereAreNamed) {
  const std::string mob = WriteMob("01", {Large("q"), Large("s")});
  const HFileCell cell = Large("r");
  ExpectNoValue(ReferenceTo("02", cell), Status::kNotSupported,
                {"MOB file \"02\"", "mobdir/data/default/orders",
                 "archive/data/default/orders in " + dir_.File("hbase"),
                 "import a snapshot"});
  ExpectNoValue(ReferenceTo("01", cell, "ns:orders"), Status::kNotSupported,
                {"mobdir/data/ns/orders"});
  ExpectNoValue(ReferenceTo("01", cell), Status::kCorruption,
                {mob, "expected the value of a cell at 7"});
  WriteMob("01", {Large("r", 8)});
  ExpectNoValue(ReferenceTo("01", cell), Status::kCorruption, {mob});
  HFileCell longer = cell;
  longer.value += "!";
  WriteMob("01", {longer});
  ExpectNoValue(ReferenceTo("01", cell), Status::kCorruption,
                {mob, "a value of 1006 bytes, expected 1005"});
  FlipBit(mob, 100);
  ExpectNoValue(ReferenceTo("01", longer), Status::kCorruption,
                {mob, "checksum"});
  ExpectRefused({WriteStoreFile({ReferenceTo("01", cell)}, "alone")},
                Status::kNotSupported,
                {"beside data/NAMESPACE/TABLE", "MOB_THRESHOLD"});
}

TEST_F(ImportOfMobValues, LeadToNoOtherDirectory) {
  HFileCell no_table = ReferenceTo("01", Large("r"));
  no_table.tags = Tag(5, "");
  ExpectNoValue(no_table, Status::kInvalidArgument,
                {"MOB file \"01\" (tag type 5): table (tag type 6)"});
  HFileCell no_name = no_table;
  no_name.value = std::string(3, '\0');
  ExpectNoValue(no_name, Status::kInvalidArgument,
                {"a length and a name", "3 bytes"});
  // The value of a cell that is no reference may have any size.
  ExpectNoValue(ReferenceTo(std::string(100'000, '/'), Large("r")),
                Status::kInvalidArgument,
                {"up to 255 bytes, found type 4 and 100004 bytes"});
  EXPECT_LT(report_.left_out.at(0).ToString().size(), 2000u);
  for (const char* name : {"../01", "..", ""}) {
    ExpectNoValue(ReferenceTo(name, Large("r")), Status::kInvalidArgument,
                  {"expected a name without"});
  }
  for (const char* table : {"../orders", "..:orders", "ns:../orders", ":t"}) {
    ExpectNoValue(ReferenceTo("01", Large("r"), table),
                  Status::kInvalidArgument, {"expected a name without"});
  }
}

TEST_F(Import, CellsThatAStoreDoesNotTakeAreNamed) {
  const HFileCell fine = MakeCell("a", "q", 7, kPut, "v");
  ExpectRefused({Write("old", {fine, MakeCell("r", "q", -1)})},
                Status::kInvalidArgument,
                {"/old", "row \"r\", cell f:q", "timestamp -1"});
  for (const HFileCellType type : {kPut, HFileCellType::kDeleteColumn}) {
    ExpectRefused(
        {Write("latest",
               {fine, MakeCell("r", "q", kHFileLatestTimestamp, type)})},
        Status::kInvalidArgument,
        {"/latest", "row \"r\", cell f:q", "timestamp 9223372036854775807"});
  }
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
  ExpectRefused({Write("nope", {fine})}, Status::kInvalidArgument,
                {"/nope", "family \"nope\""}, {.family = "nope"});
  // A later put has to be newer than what is imported.
  ExpectRefused({Write("future", {fine, MakeCell("r", "q", int64_t{1} << 60)})},
                Status::kInvalidArgument,
                {"/future", "row \"r\"", "timestamps=store",
                 std::to_string(uint64_t{1} << 60)},
                {.family = "store"});
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
  Open("other");
  ExpectRefused({out}, Status::kAborted, {out, "expected at most 268435456"},
                {.reader = {}});
  ASSERT_THAT(Run({out}), IsOk());
  EXPECT_TRUE(ValueOf(*store_, "r", "f", "q") == value);
}

TEST_F(Import, FilesThatCannotBeReadAreNamed) {
  const std::string fine = Write("fine", {MakeCell("a", "q", 7, kPut, "v")});
  ExpectRefused({fine, dir_.File("absent")}, Status::kIOError, {"/absent"});
  WriteFile(dir_.File("text"), std::string(5000, 't'));
  ExpectRefused({fine, dir_.File("text")}, Status::kCorruption, {"/text"});
  // Damage that shows up after a thousand cells.
  ExpectRefused({fine, WriteDamaged()}, Status::kCorruption,
                {"/damaged", "checksum"});
  // A link to nowhere is no fault of its directory.
  std::filesystem::create_directory(dir_.File("f"));
  Write("f/01", {MakeCell("a", "q", 7, kPut, "v")});
  std::filesystem::create_symlink("absent", dir_.File("f/00"));
  ExpectRefused({dir_.File("f")}, Status::kIOError, {"/f/00", "cannot open"});
  ASSERT_THAT(Run({dir_.File("f")}, {.keep_going = true}), IsOk());
  EXPECT_EQ(report_.left_out.size(), 1u);
  EXPECT_THAT(Rows(), ElementsAre("a"));
}

TEST_F(Import, LeavesOutFilesThatAreRefusedWhenAsked) {
  HFileCell other = MakeCell("other", "q", 7, kPut, "v");
  other.family = "none";
  WriteFile(dir_.File("text"), std::string(5000, 't'));
  const std::vector<std::string> paths = {
      Write("fine", {MakeCell("a", "q", 7, kPut, "fine")}),
      WriteDamaged(),
      dir_.File("text"),
      Write("other", {other}),
      Write("tagged", {MakeCell("b", "q", 7, kPut, "v"), Tagged("tagged")}),
      dir_.File("absent"),
      Write("last", {MakeCell("z", "q", 7, kPut, "last")})};
  ASSERT_THAT(Run(paths, {.keep_going = true}), IsOk());
  std::vector<std::string> left_out;
  for (const Status& why : report_.left_out) left_out.push_back(why.ToString());
  EXPECT_THAT(left_out,
              UnorderedElementsAre(HasSubstr(paths[1]), HasSubstr(paths[2]),
                                   HasSubstr(paths[3]), HasSubstr(paths[4]),
                                   HasSubstr(paths[5])));
  EXPECT_EQ(report_.puts, 2u);
  EXPECT_THAT(Rows(), ElementsAre("a", "z"));
}

TEST_F(Import, LeavesOutFilesWithACellThatTheStoreRefuses) {
  store_ =
      OpenOrFail({.key_layout = KeyLayout::FixedRow(4)}, dir_.File("fixed"),
                 {{"f", {.max_versions = 2}}, {"latest", {}}});
  constexpr int64_t kFutureMs = 4'000'000'000'000;
  const std::vector<std::string> paths = {
      Write("fine", {MakeCell("fine", "q", 7, kPut, "v")}),
      Write("long", {MakeCell("four", "q", 7, kPut, "v"),
                     MakeCell("longer", "q", 7, kPut, "v")}),
      Write("later", {MakeCell("time", "q", kFutureMs, kPut, "v")}),
      Write("delete", {MakeCell("time", "q", kFutureMs,
                                HFileCellType::kDeleteColumn, "")}),
      Write("last", {MakeCell("last", "q", 7, kPut, "v")})};
  ExpectRefused(paths, Status::kInvalidArgument, {"/long", "6 bytes"});
  ASSERT_THAT(Run(paths, {.keep_going = true}), IsOk());
  std::vector<std::string> left_out;
  for (const Status& why : report_.left_out) left_out.push_back(why.ToString());
  EXPECT_THAT(left_out,
              UnorderedElementsAre(
                  AllOf(HasSubstr("/long"), HasSubstr("6 bytes")),
                  AllOf(HasSubstr("/later"), HasSubstr("timestamps=store")),
                  AllOf(HasSubstr("/delete"), HasSubstr("timestamps=store"))));
  EXPECT_EQ(report_.puts, 2u);
  EXPECT_THAT(Values("fine", "q"), ElementsAre("v"));
  EXPECT_THAT(Values("last", "q"), ElementsAre("v"));
  EXPECT_THAT(Values("four", "q"), IsEmpty());
  // A put of the future is taken as one of now by a `latest` family, which has
  // no deletes.
  ASSERT_THAT(
      Run({paths[2], paths[3]},
          {.family = "latest", .latest_as_new = true, .keep_going = true}),
      IsOk());
  EXPECT_THAT(report_.left_out, IsEmpty());
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
  // A search for damage can be stopped, too.
  options.keep_going = true;
  ExpectRefused({path}, Status::kIncomplete, {"stopped after 2000 cells"},
                options);
}

TEST_F(Import, ProgressCountsWhatIsRead) {
  constexpr uint64_t kCells = 1000;  // from one call to the next
  std::vector<HFileCell> cells;
  for (uint64_t i = 0; i < kCells; ++i) {
    cells.push_back(
        MakeCell(std::to_string(kCells + i), "q", 7, kPut, "value"));
  }
  const std::string path = Write("file", cells);
  HFileProgress last;
  HFileImportOptions options;
  options.progress = [&last](const HFileProgress& progress) {
    last = progress;
    return true;
  };
  options.keep_going = true;
  for (const bool dry_run : {true, false}) {
    options.dry_run = dry_run;
    ASSERT_THAT(Run({path}, options), IsOk());
    EXPECT_EQ(last.cells, dry_run ? kCells : 2 * kCells);
    EXPECT_EQ(last.expected_cells, last.cells);
    EXPECT_EQ(last.files, 1u);
  }
  // The range of the file has these rows, of which it has none.
  last = {};
  ASSERT_THAT(Run({path}, {.start_row = "1000a",
                           .stop_row = "1000b",
                           .progress = options.progress}),
              IsOk());
  EXPECT_EQ(last.cells, 0u);
  EXPECT_EQ(last.files, 1u);
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
    WriteFile(dir_.File(skipped) + "/0123.seqid", "no HFile");
  }
  WriteFile(dir_.File("table/region1/f/_unfinished"), "no HFile");
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
  store_ = OpenOrFail({}, dir_.File("db"), {ManyVersions("_x")});
  ASSERT_THAT(store_->Put("r", "_x", "q", "v", {.timestamp_ms = 7}), IsOk());
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({.families = {"_x"}}, store_.get(), dir_.File("out"),
                           &exported),
              IsOk());
  ASSERT_THAT(Run({dir_.File("out")}), IsOk());
  EXPECT_EQ(report_.puts, 1u);
}

TEST_F(Import, NeedsAStoreThatIsWritten) {
  store_ = OpenOrFail({.read_only = true}, dir_.File("db"), {});
  ExpectRefused({Write("file", {MakeCell("r", "q", 7)})}, Status::kNotSupported,
                {"reading only"});
}

}  // namespace
}  // namespace rowbloom::test::import_test
