#include "tests/storage/hfile_transfer/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "rowbloom/printable.h"
#include "tests/storage/store/test_store.h"

namespace rowbloom::test {

FamilyDescriptor ManyVersions(const std::string& name) {
  return {name,
          {.timestamps = Timestamps::kClient, .max_versions = kManyVersions}};
}

std::vector<HFileCell> CellsOf(const std::string& path) {
  std::unique_ptr<HFileReader> reader;
  EXPECT_THAT(HFileReader::Open({}, path, &reader), IsOk());
  return reader == nullptr ? std::vector<HFileCell>() : CellsOf(*reader);
}

void ApplyCells(const std::vector<HFileCell>& cells, const std::string& family,
                StoreModel* model) {
  std::map<std::string, std::set<std::string>> qualifiers;
  for (const HFileCell& cell : cells) {
    qualifiers[cell.row].insert(cell.qualifier);
  }
  for (const HFileCell& cell : cells) {
    const auto timestamp_ms = static_cast<uint64_t>(cell.timestamp_ms);
    switch (cell.type) {
      case HFileCellType::kDelete:
        model->DeleteVersion(cell.row, family, cell.qualifier, timestamp_ms);
        break;
      case HFileCellType::kDeleteColumn:
        model->Delete(cell.row, family, cell.qualifier, timestamp_ms);
        break;
      case HFileCellType::kDeleteFamily:
        model->DeleteFamily(cell.row, family, timestamp_ms);
        break;
      case HFileCellType::kDeleteFamilyVersion:
        for (const std::string& qualifier : qualifiers[cell.row]) {
          model->DeleteVersion(cell.row, family, qualifier, timestamp_ms);
        }
        break;
      default:
        break;
    }
  }
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
    if (cell->type != HFileCellType::kPut) continue;
    model->Put(cell->row, family, cell->qualifier,
               static_cast<uint64_t>(cell->timestamp_ms), cell->value);
  }
}

void ExpectSameRows(Store* store, const StoreModel& model, uint64_t now_ms,
                    bool some) {
  ScanOptions options;
  options.row.max_versions = kManyVersions;
  const std::vector<Row> expected = model.Scan(options, now_ms);
  ASSERT_TRUE(!some || !expected.empty());
  size_t found = 0;
  for (const Row& row : RowsOf(*store, options)) {
    ASSERT_LT(found, expected.size());
    const Row& same = expected[found++];
    ASSERT_EQ(ToPrintable(row.row), ToPrintable(same.row));
    ASSERT_EQ(row.cells.size(), same.cells.size()) << ToPrintable(row.row);
    for (size_t i = 0; i < row.cells.size(); ++i) {
      ASSERT_TRUE(row.cells[i] == same.cells[i])
          << ToPrintable(row.row) << ": " << row.cells[i].family << ":"
          << ToPrintable(row.cells[i].qualifier) << "@"
          << row.cells[i].timestamp_ms << ", expected " << same.cells[i].family
          << ":" << ToPrintable(same.cells[i].qualifier) << "@"
          << same.cells[i].timestamp_ms;
    }
  }
  ASSERT_EQ(found, expected.size());
}

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(directory)) return files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace rowbloom::test
