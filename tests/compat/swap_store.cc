#include "tests/compat/swap_store.h"

#include <map>
#include <memory>
#include <vector>

#include "rowbloom/printable.h"
#include "tests/compat/failure.h"
#include "tests/support/random.h"

namespace rowbloom::compat {
namespace {

constexpr int kRows = 60;
constexpr int kQualifiers = 4;
constexpr int kReads = 100;
constexpr int kAbsentRows = 1'000'000;

const std::vector<FamilyDescriptor> kFamilies = {
    {"prefix",
     {.bloom_type = BloomType::kRowPrefixFixedLength, .row_prefix_length = 4}},
    {"row", {.bloom_type = BloomType::kRow}},
    {"rowcol", {.bloom_type = BloomType::kRowCol}},
};

// (family, qualifier) to value; std::map has the order of Store::GetRow.
using Row = std::map<std::pair<std::string, std::string>, std::string>;

std::string RowName(int number) {
  return test::DistinctKey(static_cast<uint64_t>(number));
}
std::string RowName(int generation, int index) {
  return RowName(generation * kRows + index);
}

std::string Qualifier(int number) { return "q" + std::to_string(number); }

// Applies the changes of a generation to a WriteBatch or a Model.
template <typename Target>
void Apply(int generation, Target* target) {
  const std::string version = "g" + std::to_string(generation) + " ";
  for (int i = 0; i < kRows; ++i) {
    for (const FamilyDescriptor& family : kFamilies) {
      for (int q = 0; q < kQualifiers; ++q) {
        target->Put(RowName(generation, i), family.name, Qualifier(q),
                    version + std::to_string(i));
      }
    }
  }
  if (generation == 1) return;
  for (int i = 0; i < kRows; ++i) {
    const std::string row = RowName(generation - 1, i);
    if (i % 5 == 0) {
      target->Put(row, "rowcol", Qualifier(1), version + "overwritten");
    } else if (i % 5 == 1) {
      target->Delete(row, "row", Qualifier(2));
    } else if (i % 5 == 2) {
      target->DeleteRow(row);
    }
  }
}

struct Model {
  std::map<std::string, Row> rows;
  void Put(const std::string& row, const std::string& family,
           const std::string& qualifier, const std::string& value) {
    rows[row][{family, qualifier}] = value;
  }
  void Delete(const std::string& row, const std::string& family,
              const std::string& qualifier) {
    rows[row].erase({family, qualifier});
  }
  void DeleteRow(const std::string& row) { rows[row].clear(); }
};

std::unique_ptr<Store> Open(const KeyLayout& layout, const std::string& path) {
  std::unique_ptr<Store> store;
  // A front filter would answer before the files' filters.
  RequireOk(Store::Open({.key_layout = layout,
                         .front_filter_limit_bytes = 0,
                         .auto_compaction = false},
                        path, kFamilies, &store),
            "opening the store");
  return store;
}

void CheckRow(Store* store, const std::string& name, const Row& expected) {
  const std::string what = "row " + ToPrintable(name);
  std::vector<Cell> cells;
  RequireOk(store->GetRow(name, &cells), what);
  auto cell = cells.begin();
  for (const auto& [column, value] : expected) {
    Require(cell != cells.end() && cell->family == column.first &&
                cell->qualifier == column.second && cell->value == value &&
                cell->timestamp_ms > 0,
            "lost: " + what + " has no cell " + column.first + ":" +
                column.second + " = \"" + value + "\"");
    ++cell;
  }
  Require(cell == cells.end(), what + " has a cell too many");

  for (const FamilyDescriptor& family : kFamilies) {
    for (int q = 0; q < kQualifiers; ++q) {
      const auto found = expected.find({family.name, Qualifier(q)});
      std::optional<std::string> value;
      const rocksdb::Status status =
          store->Get(name, family.name, Qualifier(q), &value);
      if (found == expected.end()) {
        Require(status.ok() && !value, what + ": a deleted cell is found");
      } else {
        Require(status.ok() && value == found->second,
                "lost: " + what + ", " + family.name + ":" + Qualifier(q) +
                    ": " + status.ToString());
      }
    }
  }
}

FilterStats StatsOf(Store* store, const std::string& family) {
  StoreStats stats;
  RequireOk(store->Stats(&stats), "Store::Stats");
  return stats.families.at(family).filter;
}

// Makes reads in one family that its filters must answer.
FilterStats CheckFilters(Store* store, const FamilyDescriptor& family,
                         int generations) {
  const std::string of_family = " of family " + family.name;
  std::optional<std::string> value;
  FilterStats before = StatsOf(store, family.name);
  for (int i = 0; i < kReads; ++i) {
    RequireOk(store->Get(RowName(kAbsentRows + i), family.name, "q1", &value),
              "Store::Get");
    Require(!value, "an absent row is found");
  }
  FilterStats after = StatsOf(store, family.name);
  RequireSkips(after.row.skipped - before.row.skipped, kReads,
               "gets of absent rows" + of_family);

  before = after;
  for (int i = 0; i < kReads; ++i) {
    CheckRow(store, RowName(kAbsentRows + i), {});
  }
  after = StatsOf(store, family.name);
  RequireSkips(after.row.skipped - before.row.skipped,
               kReads * (kQualifiers + 1), "scans of absent rows" + of_family);

  before = after;
  for (int i = 0; i < kRows; ++i) {
    RequireOk(
        store->Get(RowName(generations, i), family.name, "q1absent", &value),
        "Store::Get");
    Require(!value, "an absent cell is found");
  }
  after = StatsOf(store, family.name);
  if (family.options.bloom_type == BloomType::kRowCol) {
    RequireSkips(after.row_col.skipped - before.row_col.skipped, kRows,
                 "gets of absent cells" + of_family);
  }
  Require(
      after.blocks_unusable + after.row.unusable + after.row_col.unusable == 0,
      "a filter is unusable");
  return after;
}

}  // namespace

void WriteStore(const KeyLayout& layout, const std::string& path,
                int generation) {
  const std::unique_ptr<Store> store = Open(layout, path);
  WriteBatch batch;
  Apply(generation, &batch);
  RequireOk(store->Write(batch), "writing cells");
  RequireOk(store->Flush(), "Store::Flush");
}

StoreReport CheckStore(const KeyLayout& layout, const std::string& path,
                       int generations) {
  Model model;
  for (int generation = 1; generation <= generations; ++generation) {
    Apply(generation, &model);
  }
  const std::unique_ptr<Store> store = Open(layout, path);
  StoreReport report;
  for (const auto& [name, row] : model.rows) {
    CheckRow(store.get(), name, row);
    report.cells += row.size();
  }
  for (const FamilyDescriptor& family : kFamilies) {
    const FilterStats stats = CheckFilters(store.get(), family, generations);
    report.filter.row.checked += stats.row.checked;
    report.filter.row.skipped += stats.row.skipped;
    report.filter.row_col.checked += stats.row_col.checked;
    report.filter.row_col.skipped += stats.row_col.skipped;
  }
  return report;
}

}  // namespace rowbloom::compat
