// HBase judges what an import shows. The cells of the cases in
// tests/data/hbase/scans come in as HFiles, flushed at random times, and the
// store answers the queries as HBase's region scanner did. ReadModel states the
// rules by which the store differs. ROWBLOOM_SEED decides which file has which
// cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/storage/store/hbase_cases.h"
#include "tests/storage/store/hbase_read_rules.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

constexpr size_t kFiles = 3;

HFileCellType ToHFile(HBaseType type) {
  switch (type) {
    case HBaseType::kPut:
      return HFileCellType::kPut;
    case HBaseType::kDelete:
      return HFileCellType::kDelete;
    case HBaseType::kDeleteColumn:
      return HFileCellType::kDeleteColumn;
    case HBaseType::kDeleteFamily:
      return HFileCellType::kDeleteFamily;
    case HBaseType::kDeleteFamilyVersion:
      return HFileCellType::kDeleteFamilyVersion;
  }
  return HFileCellType::kMaximum;
}

// The cells of the cases in the files of one family.
std::vector<std::vector<HFileCell>> ToFiles(const std::vector<HBaseCase>& cases,
                                            const std::string& family,
                                            Random* random) {
  std::vector<std::vector<HFileCell>> files(kFiles);
  for (const HBaseCase& of : cases) {
    int64_t sequence = 0;
    for (const HBaseWrite& write : of.writes) {
      HFileCell cell =
          MakeCell(RowPrefix(of) + write.row, write.qualifier,
                   static_cast<int64_t>(write.timestamp_ms + MovedMs(of)),
                   ToHFile(write.type), write.value);
      cell.family = family;
      cell.mvcc = ++sequence;
      files[random->Below(kFiles)].push_back(cell);
    }
  }
  for (std::vector<HFileCell>& file : files) {
    std::sort(
        file.begin(), file.end(), [](const HFileCell& a, const HFileCell& b) {
          const int order = CompareHFileKeys(a.View().key(), b.View().key());
          return order != 0 ? order < 0 : a.mvcc > b.mvcc;
        });
  }
  return files;
}

std::vector<HBaseCell> Answer(Store* store, const HBaseCase& of,
                              const ScanOptions& scan) {
  std::vector<HBaseCell> answer;
  for (const Row& row : RowsOf(*store, scan)) {
    for (const Cell& cell : row.cells) {
      answer.push_back({row.row.substr(RowPrefix(of).size()), cell.qualifier,
                        cell.timestamp_ms - MovedMs(of), cell.value});
    }
  }
  return answer;
}

TEST(ImportOfHBaseScans, ShowsWhatHBaseShows) {
  Random random(SeedFromEnv());
  std::map<std::string, std::vector<HBaseCase>> by_family;
  std::vector<FamilyDescriptor> families;
  for (HBaseCase& of : ReadHBaseCases()) {
    const std::string name = FamilyName(of);
    if (by_family[name].empty()) families.push_back({name, of.family});
    by_family[name].push_back(std::move(of));
  }
  TempDir dir;
  const auto store =
      OpenOrFail({}, dir.File("db"), families, [] { return kHBaseStoreMs; });
  std::vector<std::string> paths;
  for (const auto& [family, cases] : by_family) {
    for (const auto& cells : ToFiles(cases, family, &random)) {
      paths.push_back(dir.File("file" + std::to_string(paths.size())));
      WriteCells({}, paths.back(), cells);
    }
  }
  HFileImportReport report;
  ASSERT_THAT(ImportHFiles({}, paths, store.get(), &report), IsOk());
  size_t queries = 0;
  size_t differing = 0;
  for (const auto& [family, cases] : by_family) {
    for (const HBaseCase& of : cases) {
      // An import has all deletes before it shows a put.
      HBaseCase at_once = of;
      std::stable_partition(at_once.writes.begin(), at_once.writes.end(),
                            [](const HBaseWrite& write) {
                              return write.type != HBaseType::kPut;
                            });
      const ReadModel model(at_once, kStoreRules);
      for (const HBaseQuery& query : of.queries) {
        SCOPED_TRACE(of.id + ", query " + std::to_string(queries));
        const std::vector<HBaseCell> expected = model.Answer(query);
        ASSERT_EQ(Answer(store.get(), of, ToScan(of, query)), expected);
        ++queries;
        differing += expected == query.answer ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(queries, 15'148u);
  // HBase shows more there, by the first and second rule and the last.
  EXPECT_EQ(differing, 715u);
}

}  // namespace
}  // namespace rowbloom::test
