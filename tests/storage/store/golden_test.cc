// Stores that earlier states of this code wrote: they open, show the same in
// every way of reading, use the filters that they have, and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/golden/store_contents.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/stride.h"

namespace rowbloom::test {
namespace {

using golden::Joined;
using golden::kAllVersions;
using golden::Lines;
using golden::LinesOf;
using golden::Unhex;
using golden::Words;

std::unique_ptr<Store> Open(const std::string& path, bool read_only) {
  return OpenOrFail({.create_if_missing = false, .read_only = read_only}, path,
                    {}, [] { return golden::kReadingMs; });
}

// All versions of each cell that has some, as GetVersions gives them.
Lines GottenCells(Store* store, const Lines& expected) {
  Lines lines;
  std::string last;
  for (const std::string& line : expected) {
    const Lines words = Words(line);
    const std::string address = words[1] + " " + words[2] + " " + words[3];
    if (address == last) continue;
    last = address;
    const std::string row = Unhex(words[1]);
    const std::vector<Cell> cells = GetVersionsOf(
        *store, row, words[2], Unhex(words[3]), {.max_versions = kAllVersions});
    for (const Cell& cell : cells) {
      lines.push_back(golden::CellLine(row, cell));
    }
  }
  return lines;
}

void ExpectCells(Store* store, Lines expected) {
  ASSERT_EQ(Joined(golden::ScannedCells(store)), Joined(expected));
  ASSERT_EQ(Joined(GottenCells(store, expected)), Joined(expected));
  Lines iterated;
  for (const auto& [family, options] : store->Families()) {
    const Lines cells = golden::IteratedCells(store, family).cells;
    iterated.insert(iterated.end(), cells.begin(), cells.end());
  }
  std::sort(iterated.begin(), iterated.end());
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(Joined(iterated), Joined(expected));
}

// Numbers of what the golden stores had to check.
struct Met {
  int probed = 0;  // families whose filters were probed
  int hidden = 0;  // deletes that hid a put
};

// The statistics show that the filters of the files were loaded, probed in
// files or by the front filter, and mostly right.
void ExpectFiltersRuleOutAbsentRows(Store* store, const Lines& cells,
                                    Met* met) {
  StoreStats before;
  ASSERT_THAT(store->Stats(&before), IsOk());
  for (const auto& [name, family] : before.families) {
    SCOPED_TRACE("family " + name);
    EXPECT_EQ(family.filter.blocks_unusable, 0u);
    EXPECT_EQ(family.filter.row.unusable + family.filter.row_col.unusable, 0u);
    if (family.options.bloom_type == BloomType::kNone || family.files == 0) {
      continue;
    }
    EXPECT_GT(family.filter_bytes, 0u);
    std::set<std::string> rows;
    for (const std::string& line : cells) {
      const Lines words = Words(line);
      if (words[2] == name) rows.insert(Unhex(words[1]));
    }
    const Lines absent = golden::AbsentRows(rows);
    ASSERT_FALSE(absent.empty());
    StoreStats unasked;
    ASSERT_THAT(store->Stats(&unasked), IsOk());
    const uint64_t answered_before = unasked.front_filter->answered;
    for (const std::string& row : absent) {
      ASSERT_EQ(ValueOf(*store, row, name, "mail"), std::nullopt);
    }
    StoreStats after;
    ASSERT_THAT(store->Stats(&after), IsOk());
    const uint64_t answered = after.front_filter->answered - answered_before;
    const FilterStats& filter = after.families.at(name).filter;
    const uint64_t asked = filter.asked - family.filter.asked;
    const uint64_t may_match = filter.may_match - family.filter.may_match;
    EXPECT_GT(filter.blocks_opened, 0u);
    // Few are outside of the range of a file, and need no filter.
    EXPECT_GE(answered + asked, absent.size() / 2);
    // An answer of the front filter is one for each file.
    EXPECT_LE(may_match, (answered * family.files + asked) / 5);
    ++met->probed;
  }
}

// Deletes are kept as long as older puts may come.
void ExpectDeletesHidePuts(Store* store, const Lines& lines, Met* met) {
  for (const char* type : {"delete", "delete_version", "delete_family"}) {
    for (const std::string& line : LinesOf(lines, type)) {
      SCOPED_TRACE(line);
      const Lines words = Words(line);
      const std::string row = Unhex(words[1]);
      const std::string& family = words[2];
      if (store->Families().at(family).timestamps != Timestamps::kClient) {
        continue;
      }
      const std::string qualifier = Unhex(words[3]);
      const uint64_t timestamp_ms = std::stoull(words[4]);
      ASSERT_THAT(store->Put(row, family, qualifier, "hidden",
                             {.timestamp_ms = timestamp_ms}),
                  IsOk());
      EXPECT_THAT(GetVersionsOf(*store, row, family, qualifier,
                                {.time_range = TimeRange::At(timestamp_ms),
                                 .max_versions = kAllVersions}),
                  ::testing::IsEmpty());
      ++met->hidden;
    }
  }
}

// Reads the store in all ways, changes its files, and reads it again.
void ExpectStore(const std::string& path, const Lines& lines, Met* met) {
  const Lines cells = LinesOf(lines, "cell");
  ASSERT_FALSE(cells.empty());
  {
    const auto store = Open(path, true);
    ASSERT_NO_FATAL_FAILURE(ExpectCells(store.get(), cells));
    ASSERT_NO_FATAL_FAILURE(
        ExpectFiltersRuleOutAbsentRows(store.get(), cells, met));
  }
  {
    const auto store = Open(path, false);
    EXPECT_EQ("layout " + store->Options().key_layout->ToString(), lines[0]);
    EXPECT_EQ(Joined(golden::FamilyLines(*store)),
              Joined(LinesOf(lines, "family")));
    ASSERT_NO_FATAL_FAILURE(ExpectCells(store.get(), cells));
    ASSERT_NO_FATAL_FAILURE(ExpectDeletesHidePuts(store.get(), lines, met));
    ASSERT_NO_FATAL_FAILURE(ExpectCells(store.get(), cells));
    ASSERT_THAT(store->Compact(), IsOk());
    ASSERT_NO_FATAL_FAILURE(ExpectCells(store.get(), cells));
    ASSERT_NO_FATAL_FAILURE(
        ExpectFiltersRuleOutAbsentRows(store.get(), cells, met));
  }
  const auto store = Open(path, true);
  ASSERT_NO_FATAL_FAILURE(ExpectCells(store.get(), cells));
}

bool IsOneFolder(const std::string& a, const std::string& b) {
  return std::filesystem::path(a).parent_path() ==
         std::filesystem::path(b).parent_path();
}

// A short run reads the newest folder, and every fourth archive of the older
// ones.
bool IsInThisRun(const Lines& archives, size_t i) {
  return i % Stride(4) == 0 || IsOneFolder(archives[i], archives.back());
}

TEST(GoldenStores, ShowWhatTheyHeldAndGoOn) {
  const Lines archives = golden::Archives("stores");
  EXPECT_GE(archives.size(), 15u) << "those of folder 1";
  Met met;
  for (size_t i = 0; i < archives.size(); ++i) {
    // The last store of a folder is one that folders before it lack.
    if (!IsInThisRun(archives, i) &&
        IsOneFolder(archives[i], archives[i + 1])) {
      continue;
    }
    const std::string& archive = archives[i];
    SCOPED_TRACE(archive);
    const TempDir dir;
    EXPECT_NO_THROW(ExpectStore(golden::Unpack(archive, dir.path()),
                                golden::ReadLines(archive + ".cells.txt"),
                                &met));
  }
  EXPECT_GT(met.probed, 0);
  EXPECT_GT(met.hidden, 0);
}

TEST(GoldenBackups, AreRestoredAndTakeMore) {
  const Lines archives = golden::Archives("backups");
  EXPECT_GE(archives.size(), 1u) << "that of folder 1";
  Met met;
  for (size_t i = 0; i < archives.size(); ++i) {
    if (!IsInThisRun(archives, i)) continue;
    const std::string& archive = archives[i];
    SCOPED_TRACE(archive);
    const TempDir dir;
    const std::string directory = golden::Unpack(archive, dir.path());
    std::vector<BackupInfo> backups;
    ASSERT_THAT(ListBackups(directory, &backups), IsOk());
    ASSERT_EQ(backups.size(), 2u);
    for (const BackupInfo& backup : backups) {
      SCOPED_TRACE("backup " + std::to_string(backup.id));
      EXPECT_FALSE(backup.damaged);
      EXPECT_THAT(VerifyBackup(directory, backup.id), IsOk());
      const std::string id = std::to_string(backup.id);
      const std::string path = dir.File("restored-" + id);
      ASSERT_THAT(RestoreBackup(directory, backup.id, path), IsOk());
      EXPECT_NO_THROW(ExpectStore(
          path, golden::ReadLines(archive + "-" + id + ".cells.txt"), &met));
    }
    {
      const auto store = Open(dir.File("restored-2"), false);
      ASSERT_THAT(store->Backup(directory), IsOk());
    }
    for (const uint32_t id : {1, 2, 3}) {
      EXPECT_THAT(VerifyBackup(directory, id), IsOk());
    }
    ASSERT_THAT(PurgeBackups(directory, 1), IsOk());
    EXPECT_THAT(VerifyBackup(directory, 3), IsOk());
  }
}

}  // namespace
}  // namespace rowbloom::test
