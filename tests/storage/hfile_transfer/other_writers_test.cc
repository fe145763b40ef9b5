// The import of files that HBase's and Hudi's own code wrote: the store has the
// cells that HBase dumped, and the model of the store says how they are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/hfile_transfer/cell_tags.h"
#include "tests/storage/hfile/dump.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/data.h"
#include "tests/support/outside.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

std::string TestName(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& character : name) {
    if (character == '.' || character == '/') character = '_';
  }
  return name;
}

// The tag with the TTL of a cell, or "".
std::string_view TtlTagOf(const HFileCell& cell) {
  const std::string_view tags = cell.tags;
  for (size_t at = 0; at + 2 < tags.size();) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(tags[i]); };
    const size_t bytes = 2 + (size_t{byte(at)} << 8 | byte(at + 1));
    if (byte(at + 2) == 8) return tags.substr(at, bytes);
    at += bytes;
  }
  return "";
}

// The cells that HBase's files give a TTL have an age of years.
std::vector<HFileCell> AliveCells(std::vector<HFileCell> cells) {
  std::erase_if(cells,
                [](const HFileCell& cell) { return !TtlTagOf(cell).empty(); });
  return cells;
}

TEST(TtlTag, IsWrittenAsHBaseDoes) {
  const Dump dump =
      ReadDump(DataPath("hbase/2.4.7/row_deletes_tags_gz.dump.txt.gz"));
  int tags = 0;
  for (const HFileCell& cell : dump.cells) {
    const std::string_view of_hbase = TtlTagOf(cell);
    if (of_hbase.empty()) continue;
    ++tags;
    hfile_transfer::CellTags parsed;
    ASSERT_THAT(hfile_transfer::ParseTags(cell.tags, &parsed), IsOk());
    ASSERT_TRUE(parsed.ttl_ms);
    EXPECT_EQ(
        hfile_transfer::EncodeTtlTag(static_cast<uint64_t>(*parsed.ttl_ms)),
        of_hbase);
  }
  EXPECT_GT(tags, 0);
}

class ImportOfHBase : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportOfHBase, HasTheDumpedCellsAndBringsThemBack) {
  const std::string path = DataPath("hbase/" + GetParam() + ".hfile");
  const Dump dump = ReadDump(DataPath("hbase/" + GetParam() + ".dump.txt.gz"));
  TempDir dir;
  auto store = OpenOrFail({}, dir.File("db"), {ManyVersions("f")});
  HFileImportReport report;
  ASSERT_THAT(ImportHFiles({.family = "f", .drop_tags = true}, {path},
                           store.get(), &report),
              IsOk());
  EXPECT_EQ(report.cells, dump.cell_count);
  StoreModel model({{"f", ManyVersions("f").options}});
  ApplyCells(AliveCells(dump.cells), "f", &model);
  ASSERT_NO_FATAL_FAILURE(
      ExpectSameRows(store.get(), model, 0, !dump.cells.empty()));
  // An export and an import give the same again.
  HFileExportReport exported;
  ASSERT_THAT(ExportHFiles({.deletes = HFileDeletes::kKept}, store.get(),
                           dir.File("out"), &exported),
              IsOk());
  store = OpenOrFail({}, dir.File("db2"), {ManyVersions("f")});
  ASSERT_THAT(ImportHFiles({}, {dir.File("out")}, store.get(), &report),
              IsOk());
  EXPECT_EQ(report.skipped, 0u);
  ASSERT_NO_FATAL_FAILURE(
      ExpectSameRows(store.get(), model, 0, !dump.cells.empty()));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ImportOfHBase,
    ::testing::Values("2.4.7/empty_lz4", "2.4.7/nobloom_none",
                      "2.4.7/row_deletes_tags_gz", "2.4.7/row_none",
                      "2.4.7/row_none_smallblocks", "2.4.7/rowcol_deletes_lz4",
                      "2.4.7/rowcol_none_unicode", "2.4.7/rowprefix4_lz4",
                      "2.6/row_deepindex_murmur3", "2.6/row_lz4_bigblock",
                      "2.6/row_none", "2.6/rowcol_deletes_lz4",
                      "encodings/2.4.7/fastdiff_gz_tagscompressed",
                      "encodings/2.4.7/fastdiff_none_mixed",
                      "encodings/2.6/diff_none_bulkload",
                      "encodings/2.6/fastdiff_snappy_samevalues",
                      "encodings/2.6/prefix_none_mixed",
                      "encodings/2.6/rowindex_none_mixed"),
    TestName);

// The region has flushed files and one that was bulk loaded between them: HBase
// shows the later one of equal cells.
TEST(ImportOfABulkLoad, ShowsWhatHBaseShows) {
  const std::string folder = DataPath("hbase/snapshot");
  TempDir dir;
  auto store = OpenOrFail({}, dir.File("db"), {ManyVersions("f")});
  HFileImportReport report;
  ASSERT_THAT(ImportHFiles({},
                           FilesIn(folder + "/export/archive/data/default/"
                                            "orders/"
                                            "790eb351bb9df5719e1f96be8230ce3e/"
                                            "f"),
                           store.get(), &report),
              IsOk());
  EXPECT_EQ(report.files, 3u);
  // The cells that were put at these times are in all files of this region.
  constexpr uint64_t kFirstMs = 1'700'000'005'000;
  constexpr uint64_t kLastMs = 1'700'000'005'039;
  size_t of_the_load = 0;
  size_t after_it = 0;
  for (const std::string& line :
       ReadGzipLines(folder + "/cells_all_versions.jsonl.gz")) {
    const auto cell = nlohmann::json::parse(line);
    const uint64_t timestamp_ms = cell["timestamp"];
    if (timestamp_ms < kFirstMs || timestamp_ms > kLastMs) continue;
    const std::string value = FromHex(cell["value"].get<std::string>());
    EXPECT_EQ(ValueOf(*store, FromHex(cell["row"].get<std::string>()), "f",
                      FromHex(cell["qualifier"].get<std::string>()),
                      {.time_range = TimeRange::At(timestamp_ms)}),
              value)
        << line;
    of_the_load += value.starts_with("bulk-same-") ? 1 : 0;
    after_it += value.starts_with("after-") ? 1 : 0;
  }
  EXPECT_EQ(of_the_load, 20u);
  EXPECT_EQ(after_it, 20u);
}

class ImportOfHudi : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportOfHudi, HasTheRecordsByKey) {
  const std::string folder = HudiFolder();
  ROWBLOOM_SKIP_WITHOUT(kHudi, !folder.empty());
  const std::string path = folder + "/" + GetParam() + ".hfile";
  const std::vector<HFileCell> cells = CellsOf(path);
  TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), {{"records", {}}});
  // Hudi's cells name no family, and have no time.
  HFileImportReport report;
  ASSERT_THAT(ImportHFiles({.family = "records", .latest_as_new = true}, {path},
                           store.get(), &report),
              IsOk());
  EXPECT_EQ(report.cells, cells.size());
  EXPECT_EQ(report.puts, cells.size());
  size_t found = 0;
  for (const Row& row : RowsOf(*store)) {
    ASSERT_LT(found, cells.size());
    const HFileCell& cell = cells[found++];
    ASSERT_EQ(row.row, cell.row);
    ASSERT_EQ(row.cells.size(), 1u);
    ASSERT_EQ(row.cells[0].qualifier, cell.qualifier);
    ASSERT_EQ(row.cells[0].value, cell.value);
  }
  EXPECT_EQ(found, cells.size());
}

INSTANTIATE_TEST_SUITE_P(
    Files, ImportOfHudi,
    ::testing::Values("hudi_1_0_hbase_2_4_13_1KB_GZ_20000_large_keys",
                      "hudi_1_0_hbase_2_4_9_16KB_GZ_20000",
                      "hudi_1_0_hbase_2_4_9_16KB_NONE_5000",
                      "hudi_1_0_hbase_2_4_9_no_entry"),
    TestName);

}  // namespace
}  // namespace rowbloom::test
