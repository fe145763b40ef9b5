#include "bench/store_bench_growth.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/random.h"
#include "bench/store_bench_databases.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

constexpr uint64_t kFewCells = 100'000;
constexpr uint64_t kCellsOfARow = 5;
constexpr uint64_t kFiltersToSmallCache = 10;
constexpr FamilyOptions kVersioned = {.max_versions = 3};
constexpr char kUpdatedRow[] = "row";
constexpr uint64_t kRoundsOfIncrements = 6;

// A file has the cells of one day.
constexpr uint64_t kDays = 30;
constexpr uint64_t kDayMs = uint64_t{24} * 60 * 60 * 1000;
constexpr uint64_t kCellsOfADay = 24;  // of a row
constexpr uint64_t kRowsByDay = 400;
constexpr uint64_t kRowsAScan = 100;
constexpr TimeRange kLastDay = {(kDays - 1) * kDayMs, kDays* kDayMs};

// The limits of claims, of the first contender's time.
constexpr double kMoreCells = 1.5;
constexpr double kVersionedIncrements = 3;
constexpr double kGetWithoutFlush = 3;
constexpr double kLastDayOfThirty = 1.0 / 10;

std::string RowAtPlace(uint64_t place) {
  char name[32];
  std::snprintf(name, sizeof(name), "user%016" PRIx64, place);
  return name;
}

// One file of so many cells; its rows are at even places, spread over all.
Status LoadOneFile(uint64_t cells, Store* store) {
  const uint64_t rows = cells / kCellsOfARow;
  const uint64_t step = std::numeric_limits<uint64_t>::max() / rows / 2 * 2;
  std::unique_ptr<BulkLoad> load;
  Status s = store->NewBulkLoad(
      {.file_bytes = std::numeric_limits<uint64_t>::max()}, &load);
  for (uint64_t i = 0; s.ok() && i < rows; ++i) {
    const std::string row = RowAtPlace(i * step);
    for (uint64_t column = 0; s.ok() && column < kCellsOfARow; ++column) {
      s = load->Add(row, kFamily, "column" + std::to_string(column),
                    "value " + std::to_string(i));
    }
  }
  if (s.ok()) s = load->Finish();
  StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const uint64_t files = stats.families[kFamily].files;
  if (s.ok() && files != 1) {
    return Status::Corruption("a bulk load made " + std::to_string(files) +
                              " files");
  }
  return s;
}

// Rows that are absent lie at odd places.
std::vector<std::string> AbsentRows(const StoreBenchOptions& options) {
  Random random(options.seed);
  std::vector<std::string> rows;
  rows.reserve(options.questions);
  for (uint64_t i = 0; i < options.questions; ++i) {
    rows.push_back(RowAtPlace(random.Next() | 1));
  }
  return rows;
}

Contender GetAbsent(uint64_t cells, const std::vector<std::string>& rows,
                    Store* store) {
  return Repeat(
      std::to_string(cells) + " cells", [&rows, store](uint64_t i) -> Status {
        std::optional<std::string> value;
        const Status s = store->Get(rows[i], kFamily, kQualifier, &value);
        if (!s.ok() || !value) return s;
        return Status::Corruption("the absent row " + rows[i] + " is found");
      });
}

// The smaller file has the default cache in both comparisons.
Status MeasureAbsentRows(const StoreBenchOptions& options, Bench* bench) {
  constexpr char kWhat[] = "get, absent row, more cells";
  if (!bench->Wants(kWhat)) return Status::OK();
  const std::vector<std::string> rows = AbsentRows(options);
  const std::string many_path = options.Path("many_cells");
  std::unique_ptr<Store> few, many;
  Status s = CreateStore({}, {}, options.Path("few_cells"), &few);
  if (s.ok()) s = LoadOneFile(kFewCells, few.get());
  if (s.ok()) s = CreateStore({}, {}, many_path, &many);
  if (s.ok()) s = LoadOneFile(options.cells_in_file, many.get());
  StoreStats stats;
  if (s.ok()) s = many->Stats(&stats);
  for (const bool small_cache : {false, true}) {
    if (!s.ok()) return s;
    if (small_cache) {
      many.reset();
      s = Store::Open(
          {.block_cache_bytes =
               stats.families[kFamily].filter_bytes / kFiltersToSmallCache},
          many_path, {}, &many);
      if (!s.ok()) return s;
    }
    s = bench->Compare({kWhat, small_cache ? "small cache" : "default cache",
                        "get", AtMost(kMoreCells)},
                       {GetAbsent(kFewCells, rows, few.get()),
                        GetAbsent(options.cells_in_file, rows, many.get())},
                       {.operations = rows.size()});
  }
  return s;
}

std::string Updates(const StoreBenchOptions& options) {
  return std::to_string(options.updates) + " updates";
}

// Each turn has a cell of its own.
Contender Increments(const std::string& who, Store* store) {
  return {who, [store](uint64_t begin, uint64_t end, uint64_t* work) -> Status {
            const std::string row = std::to_string(begin);
            int64_t sum = 0;
            for (uint64_t i = begin; i < end; ++i) {
              Status s = store->Increment(row, kFamily, kQualifier, 1, &sum);
              if (!s.ok()) return s;
            }
            *work = static_cast<uint64_t>(sum);
            return Status::OK();
          }};
}

Status MeasureIncrements(const StoreBenchOptions& options, Bench* bench) {
  constexpr char kWhat[] = "increments of one cell";
  if (!bench->Wants(kWhat)) return Status::OK();
  std::unique_ptr<Store> latest, versioned, again;
  Status s = CreateStore({}, {}, options.Path("increments_latest"), &latest);
  if (s.ok()) {
    s = CreateStore({}, kVersioned, options.Path("increments_versioned"),
                    &versioned);
  }
  if (s.ok()) s = CreateStore({}, {}, options.Path("increments_again"), &again);
  if (!s.ok()) return s;
  return bench->Compare(
      {kWhat, Updates(options), "increment", AtMost(kVersionedIncrements)},
      {Increments("store, latest", latest.get()),
       Increments("store, versioned", versioned.get()),
       Increments(kControl, again.get())},
      {.operations = (kRoundsOfIncrements + 1) * options.updates,
       .turn = options.updates,
       .min_rounds = kRoundsOfIncrements,
       .seconds = 0,
       .control = false});
}

// A store of one cell, whose value is the number of its puts.
struct UpdatedCell {
  std::unique_ptr<Store> store;
  uint64_t puts = 0;

  Status Put() {
    return store->Put(kUpdatedRow, kFamily, kQualifier, std::to_string(++puts));
  }
};

// With `put_first` a turn begins with a put: a memtable joins some puts of a
// cell at a time, and turns then meet any number of those that are not joined.
Contender GetUpdated(const std::string& who, bool put_first,
                     UpdatedCell* cell) {
  return {who,
          [who, put_first, cell](uint64_t begin, uint64_t end,
                                 uint64_t* work) -> Status {
            Status s = put_first ? cell->Put() : Status::OK();
            const std::string expected = std::to_string(cell->puts);
            std::optional<std::string> value;
            for (uint64_t i = begin; s.ok() && i < end; ++i) {
              s = cell->store->Get(kUpdatedRow, kFamily, kQualifier, &value);
              if (s.ok() && value != expected) {
                s = Status::Corruption("after " + expected + " updates, " +
                                       who + ": a get gives " +
                                       value.value_or("nothing"));
              }
            }
            *work = end - begin;
            return s;
          }};
}

Status MeasureUpdatedGets(const StoreBenchOptions& options, Bench* bench) {
  constexpr char kWhat[] = "get after many updates";
  if (!bench->Wants(kWhat)) return Status::OK();
  UpdatedCell flushed, in_memory;
  Status s = CreateStore({}, kVersioned, options.Path("updates_flushed"),
                         &flushed.store);
  if (s.ok()) {
    s = CreateStore({}, kVersioned, options.Path("updates_in_memory"),
                    &in_memory.store);
  }
  for (uint64_t i = 0; s.ok() && i < options.updates; ++i) {
    s = flushed.Put();
    if (s.ok()) s = in_memory.Put();
  }
  if (s.ok()) s = flushed.store->Flush();
  if (!s.ok()) return s;
  return bench->Compare(
      {kWhat, Updates(options), "get", AtMost(kGetWithoutFlush)},
      {GetUpdated("after a flush", false, &flushed),
       GetUpdated("without a flush", true, &in_memory)},
      {.operations = 512});
}

std::string RowByDay(uint64_t number) {
  return RowAtPlace(number % kRowsByDay);
}

// A file for each day, in which each row has got columns. If `passable` is
// false, each file has a cell of the last day in a row behind the others, too.
Status WriteFilesByDay(bool passable, Store* store) {
  Status s;
  for (uint64_t day = 0; s.ok() && day < kDays; ++day) {
    WriteBatch batch;
    for (uint64_t row = 0; row < kRowsByDay; ++row) {
      for (uint64_t i = 0; i < kCellsOfADay; ++i) {
        const uint64_t timestamp_ms =
            day * kDayMs + i * (kDayMs / kCellsOfADay);
        batch.Put(RowByDay(row), kFamily, std::to_string(timestamp_ms),
                  "value of a cell", timestamp_ms);
      }
    }
    if (!passable) {
      batch.Put("~", kFamily, kQualifier, "", kLastDay.begin_ms);
    }
    s = store->Write(batch, {.durability = Durability::kSkipWal});
    if (s.ok()) s = store->Flush();
  }
  StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const uint64_t files = stats.families[kFamily].files;
  if (s.ok() && files != kDays) {
    return Status::Corruption(std::to_string(kDays) + " days are in " +
                              std::to_string(files) + " files");
  }
  return s;
}

// Work is one for each cell.
Contender ScanLastDay(const std::string& who, Store* store) {
  return {who, [store](uint64_t begin, uint64_t end, uint64_t* work) -> Status {
            for (uint64_t i = begin; i < end; ++i) {
              RowScanner rows;
              const Status s =
                  store->Scan({.start_row = RowByDay(i * kRowsAScan),
                               .limit = kRowsAScan,
                               .row = {.time_range = kLastDay}},
                              &rows);
              if (!s.ok()) return s;
              for (const Row& row : rows) *work += row.cells.size();
              if (!rows.status().ok()) return rows.status();
            }
            return Status::OK();
          }};
}

Contender GetLastDay(const std::string& who, Store* store) {
  return {who,
          [store, cells = std::vector<rowbloom::Cell>()](
              uint64_t begin, uint64_t end, uint64_t* work) mutable -> Status {
            Status s;
            for (uint64_t i = begin; s.ok() && i < end; ++i) {
              s = store->GetRow(RowByDay(i), &cells, {.time_range = kLastDay});
              *work += cells.size();
            }
            return s;
          }};
}

// The same cells in two stores: files of one are passed over by their times.
Status MeasureLastDay(const StoreBenchOptions& options, Bench* bench) {
  constexpr char kScan[] = "scan, last day";
  constexpr char kRow[] = "whole row, last day";
  if (!bench->Wants(kScan) && !bench->Wants(kRow)) return Status::OK();
  const StoreOptions tree = TreeOptions(kDays * kCellsOfADay * kRowsByDay * 64);
  const FamilyOptions family = {.timestamps = Timestamps::kClient,
                                .max_versions = 3};
  std::unique_ptr<Store> all_read, by_day;
  Status s = CreateStore(tree, family, options.Path("days_read"), &all_read);
  if (s.ok()) s = WriteFilesByDay(/*passable=*/false, all_read.get());
  if (s.ok()) s = CreateStore(tree, family, options.Path("by_day"), &by_day);
  if (s.ok()) s = WriteFilesByDay(/*passable=*/true, by_day.get());
  const std::string where = std::to_string(kDays) + " files by day";
  constexpr char kAll[] = "each with a cell of the last day";
  constexpr char kByDay[] = "older ones passed over";
  if (s.ok()) {
    s = bench->Compare(
        {kScan, where, "cell", AtMost(kLastDayOfThirty)},
        {ScanLastDay(kAll, all_read.get()), ScanLastDay(kByDay, by_day.get())},
        {.operations = kRowsByDay / kRowsAScan, .turn = 1});
  }
  if (s.ok()) {
    s = bench->Compare(
        {kRow, where, "cell", AtMost(kLastDayOfThirty)},
        {GetLastDay(kAll, all_read.get()), GetLastDay(kByDay, by_day.get())},
        {.operations = kRowsByDay, .turn = 64});
  }
  return s;
}

}  // namespace

Status MeasureGrowth(const StoreBenchOptions& options, Bench* bench) {
  Status s = MeasureAbsentRows(options, bench);
  if (s.ok()) s = MeasureIncrements(options, bench);
  if (s.ok()) s = MeasureUpdatedGets(options, bench);
  if (s.ok()) s = MeasureLastDay(options, bench);
  return s;
}

}  // namespace rowbloom::bench
