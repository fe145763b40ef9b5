// The filters of 10^12 cells, by the model of doc/planning.md: their bytes and
// rates by level, and the reads that they waste.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "rowbloom/advise.h"

namespace {

using rowbloom::BloomType;
using rowbloom::FilterKind;
using rowbloom::FilterSpec;
using rowbloom::LevelShape;
using rowbloom::Prediction;

constexpr double kCells = 1e12;
constexpr double kColumns = 10;  // of a row
constexpr LevelShape kTree = {.levels = 6, .size_ratio = 10};

// Cells of a level. Level 0 is as large as level 1.
double CellsOf(uint32_t level) {
  double all = 0;
  for (uint32_t other = 0; other <= kTree.levels; ++other) {
    all += std::pow(kTree.size_ratio, std::max(other, 1U) - 1);
  }
  return kCells / all * std::pow(kTree.size_ratio, std::max(level, 1U) - 1);
}

// Files of a level are as large as those of bench/results/filter_large.json,
// but for levels with fewer cells.
constexpr double kMostCellsInFile = 1e8;

Prediction PredictFile(const FilterSpec& filter, uint32_t level) {
  const double cells = std::min(CellsOf(level), kMostCellsInFile);
  rowbloom::FileProfile profile;
  profile.rows = static_cast<uint64_t>(cells / kColumns);
  profile.cells = static_cast<uint64_t>(cells);
  profile.files_per_row = 1;
  profile.place = {kTree, level};
  return Predict(profile, filter);
}

double LevelBytes(const FilterSpec& filter, uint32_t level) {
  const double files = std::max(1.0, CellsOf(level) / kMostCellsInFile);
  return files * static_cast<double>(PredictFile(filter, level).bytes());
}

double TotalBytes(const FilterSpec& filter) {
  double bytes = 0;
  for (uint32_t level = 0; level <= kTree.levels; ++level) {
    bytes += LevelBytes(filter, level);
  }
  return bytes;
}

void PrintTotals() {
  std::printf("%-30s%8s%12s%18s%18s%20s\n", "10^12 cells, 10^11 rows", "GB",
              "MB a file", "scan, absent row", "get, absent row",
              "get, absent column");
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      for (const bool by_level : {false, true}) {
        FilterSpec filter = {.bloom_type = type, .kind = kind};
        if (by_level) filter.level_allocation = kTree;
        const Prediction last = PredictFile(filter, kTree.levels);
        std::printf("%-8s%-8s%-14s%8.0f%12.1f%18.4f%18.6f%20.5f\n",
                    std::string(ToString(type)).c_str(),
                    std::string(ToString(kind)).c_str(),
                    by_level ? "by level" : "one rate",
                    TotalBytes(filter) / 1e9,
                    static_cast<double>(last.bytes()) / 1e6,
                    last.wasted.scan_absent_row, last.wasted.get_absent_row,
                    last.wasted.get_absent_column);
      }
    }
  }
}

void PrintLevels() {
  std::printf("\n%-24s%18s%12s%14s%14s\n", "ROWCOL, bloom, by level", "cells",
              "GB", "rate of ROW", "of ROWCOL");
  const FilterSpec filter = {.bloom_type = BloomType::kRowCol,
                             .level_allocation = kTree};
  for (uint32_t level = 0; level <= kTree.levels; ++level) {
    const Prediction file = PredictFile(filter, level);
    std::printf("level %-18u%18.0f%12.3f%14.6f%14.6f\n", level, CellsOf(level),
                LevelBytes(filter, level) / 1e9, file.row_rate,
                file.row_col_rate);
  }
}

}  // namespace

int main() {
  PrintTotals();
  PrintLevels();
}
