#include "tests/storage/hfile/test_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/support/status_matchers.h"

namespace rowbloom::test {
namespace {

HFileCellType RandomType(bool deletes, Random* random) {
  if (!deletes || !random->OneIn(4)) return HFileCellType::kPut;
  return random->OneIn(2) ? HFileCellType::kDelete
                          : HFileCellType::kDeleteColumn;
}

std::string RandomTags(Random* random) {
  std::string tags;
  for (uint64_t i = random->Below(3); i > 0; --i) {
    const std::string tag = random->Bytes(random->Below(10));
    tags += '\0';
    tags += static_cast<char>(tag.size() + 1);
    tags += static_cast<char>(3);
    tags += tag;
  }
  return tags;
}

}  // namespace

std::vector<HFileCell> RandomCells(const CellSpec& spec, Random* random) {
  std::vector<HFileCell> cells;
  const auto add = [&](const std::string& row, const std::string& qualifier,
                       int64_t timestamp_ms, HFileCellType type) {
    HFileCell cell = MakeCell(row, qualifier, timestamp_ms, type);
    if (type == HFileCellType::kPut) {
      // Half of it compresses.
      cell.value = random->Bytes(random->Below(spec.max_value_bytes / 2 + 1));
      cell.value.resize(random->Below(spec.max_value_bytes + 1), 'v');
    }
    if (spec.tags) cell.tags = RandomTags(random);
    if (spec.mvcc) {
      cell.mvcc =
          static_cast<int64_t>(random->Next() >> random->Below(64) >> 1);
    }
    cells.push_back(cell);
    if (random->OneIn(50)) cells.push_back(cell);
  };
  for (size_t i = 0; i < spec.rows; ++i) {
    std::string row = DistinctKey(i / 2);
    if (i % 2 == 1) row += '\0';
    if (spec.deletes && random->OneIn(10)) {
      add(row, "", 900, HFileCellType::kDeleteFamily);
    }
    if (spec.deletes && random->OneIn(10)) {
      add(row, "", 800, HFileCellType::kDeleteFamilyVersion);
    }
    const uint64_t columns = 1 + random->Below(5);
    for (uint64_t column = 0; column < columns; ++column) {
      std::string qualifier = random->OneIn(8) ? std::string() : "q";
      if (!qualifier.empty()) qualifier += static_cast<char>(column * 60);
      const uint64_t versions = 1 + random->Below(3);
      for (uint64_t version = 0; version < versions; ++version) {
        add(row, qualifier, static_cast<int64_t>(500 - 7 * version),
            RandomType(spec.deletes, random));
      }
    }
  }
  std::stable_sort(
      cells.begin(), cells.end(), [](const HFileCell& a, const HFileCell& b) {
        return CompareHFileKeys(a.View().key(), b.View().key()) < 0;
      });
  return cells;
}

HFileCell MakeCell(const std::string& row, const std::string& qualifier,
                   int64_t timestamp_ms, HFileCellType type,
                   const std::string& value) {
  HFileCell cell;
  cell.row = row;
  cell.family = "f";
  cell.qualifier = qualifier;
  cell.timestamp_ms = timestamp_ms;
  cell.type = type;
  cell.value = value;
  return cell;
}

std::vector<HFileCell> NumberedRows(int rows, int deleted, int64_t mvcc) {
  std::vector<HFileCell> cells;
  for (int i = 0; i < rows; ++i) {
    const std::string row = std::to_string(1000 + i).replace(0, 1, "row");
    if (i == deleted) {
      cells.push_back(MakeCell(row, "", 9, HFileCellType::kDeleteFamily));
    }
    cells.push_back(MakeCell(row, "q", 7, HFileCellType::kPut, "value"));
    cells.back().mvcc = mvcc;
  }
  return cells;
}

std::vector<HFileCell> CellsOf(const HFileReader& reader, bool fill_cache) {
  std::vector<HFileCell> cells;
  const auto iterator = reader.NewIterator({.fill_cache = fill_cache});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    cells.emplace_back(iterator->cell());
  }
  EXPECT_THAT(iterator->status(), IsOk());
  return cells;
}

HFileReport Verified(const HFileReader& reader) {
  HFileReport report;
  EXPECT_THAT(reader.Verify(&report), IsOk());
  return report;
}

void WriteCells(const hfile::FileForm& options, const std::string& path,
                const std::vector<HFileCell>& cells) {
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(hfile::OpenWriter(options, path, &writer), IsOk());
  for (const HFileCell& cell : cells) {
    ASSERT_THAT(writer->Append(cell.View()), IsOk());
  }
  ASSERT_THAT(writer->Finish(), IsOk());
}

}  // namespace rowbloom::test
