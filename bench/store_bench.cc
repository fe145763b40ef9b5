#include "bench/store_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bench/load_memory.h"
#include "bench/random.h"
#include "bench/store_bench_databases.h"
#include "bench/store_bench_growth.h"
#include "bench/store_bench_updates.h"
#include "rocksdb/iterator.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {
namespace {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

constexpr size_t kColumnsAtOnce = 10;
constexpr size_t kBatchOfPuts = 64;
constexpr size_t kRowsOfAScan = 2048;
constexpr size_t kLoadBatchBytes = size_t{1} << 20;  // as `rowbloom load`
constexpr double kStockBitsPerKey = 10;
constexpr double kSmallValues = 0.01;

// The limits of claims, of the first contender's time.
constexpr double kGet = 1.15;
constexpr double kPutAndScan = 1.10;
constexpr double kVersionedGet = 1.6;
constexpr double kAbsentRow = 1.0 / 5;
constexpr double kAbsentColumns = 0.75;
constexpr double kAbsentColumnsSameFilters = 1.2;
constexpr double kLoadTime = 1 / 0.7;

constexpr char kPut[] = "put";
constexpr char kLoad[] = "load";
constexpr char kWithLog[] = "write-ahead log on";

// A cell to look up, under both of its names, which are the same bytes where
// the row has none to escape: what one contender reads of them another finds in
// the processor's caches.
struct CellQuestion {
  std::string_view row;
  std::string_view qualifier;
  std::string_view key;
  const std::string* value = nullptr;  // nullptr: there is none
};

// Some columns of one row, under both of their names.
struct Columns {
  std::string row;
  std::vector<std::string> qualifiers;
  std::vector<std::string> keys;
};

// A range of rows, the end exclusive; an empty end is behind all.
struct Range {
  std::string start_row, stop_row;
  std::string start_key, stop_key;
  uint64_t cells = 0;
  uint64_t small_values = 0;  // cells whose value is below Plan::small_value
};

// The plan by which all databases are filled and read.
class Plan {
 public:
  Plan(const Cells& cells, const StoreBenchOptions& options)
      : cells_(cells), random_(options.seed) {
    std::vector<size_t> rows(cells.rows());
    std::iota(rows.begin(), rows.end(), size_t{0});
    Shuffle(&rows);
    rows_of_file_.resize(options.files);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows_of_file_[i % options.files].push_back(rows[i]);
    }
    std::vector<size_t> order(cells.all().size());
    std::iota(order.begin(), order.end(), size_t{0});
    Shuffle(&order);
    puts.reserve(order.size());
    for (const size_t cell : order) puts.push_back(Present(cell));
    DrawQuestions(options);
    FindSmallValue();
    for (size_t row = 0; row < cells.rows(); row += kRowsOfAScan) {
      AddRange(row, std::min(row + kRowsOfAScan, cells.rows()));
    }
  }

  const Cells& cells() const { return cells_; }
  const std::vector<std::vector<size_t>>& rows_of_file() const {
    return rows_of_file_;
  }
  std::string RowName(size_t row) const {
    return NameOf(cells_.all()[cells_.RowBegin(row)].Row());
  }

  std::vector<CellQuestion> puts;  // all cells, not in the order of their keys
  std::vector<CellQuestion> present;
  std::vector<CellQuestion> absent_rows;
  std::vector<CellQuestion> absent_columns;
  std::vector<Columns> columns_present;
  std::vector<Columns> columns_absent;
  std::vector<Range> ranges;
  std::string small_value;  // kSmallValues of all values are below it

 private:
  void Shuffle(std::vector<size_t>* numbers) {
    for (size_t i = numbers->size(); i > 1; --i) {
      std::swap((*numbers)[i - 1], (*numbers)[random_.Below(i)]);
    }
  }

  std::string NameOf(std::string_view row_bytes) const {
    return cells_.layout().DecodeRow(row_bytes).value_or("");
  }

  // Views into the key, which stays where it is.
  CellQuestion Named(std::string_view key, size_t row_bytes) {
    const std::string row = NameOf(key.substr(0, row_bytes));
    return {key.starts_with(row) ? key.substr(0, row.size()) : Keep(row),
            key.substr(row_bytes), key};
  }

  std::string_view Keep(const std::string& name) {
    return names_.emplace_back(name);
  }

  CellQuestion Present(size_t cell_number) {
    const Cell& cell = cells_.all()[cell_number];
    CellQuestion question = Named(cell.key, cell.row_bytes);
    question.value = &cell.value;
    return question;
  }

  Columns ColumnsOf(const std::string& row_bytes,
                    const std::vector<std::string>& qualifiers) const {
    Columns columns{.row = NameOf(row_bytes), .qualifiers = qualifiers};
    for (const std::string& qualifier : qualifiers) {
      columns.keys.push_back(row_bytes + qualifier);
    }
    return columns;
  }

  void DrawQuestions(const StoreBenchOptions& options) {
    Draw draw(cells_, options.seed + 1);
    std::unordered_set<std::string> used;
    for (uint64_t i = 0; i < options.questions; ++i) {
      present.push_back(Present(random_.Below(cells_.all().size())));
      const std::string row = draw.AbsentRow(&used);
      const std::string qualifier(draw.AnyCell().Qualifier());
      absent_rows.push_back(Named(Keep(row + qualifier), row.size()));
      const std::string_view key = Keep(draw.AbsentColumn(&used));
      absent_columns.push_back(Named(key, cells_.layout().RowBytes(key)));
    }
    for (uint64_t i = 0; i < options.questions / kColumnsAtOnce + 1; ++i) {
      const std::string absent = draw.AbsentRow(&used);
      const size_t row = random_.Below(cells_.rows());
      const std::string name(cells_.all()[cells_.RowBegin(row)].Row());
      std::vector<std::string> qualifiers;
      for (size_t cell = cells_.RowBegin(row);
           cell < cells_.RowEnd(row) && qualifiers.size() < kColumnsAtOnce;
           ++cell) {
        qualifiers.emplace_back(cells_.all()[cell].Qualifier());
      }
      while (qualifiers.size() < kColumnsAtOnce) {
        qualifiers.push_back(
            draw.AbsentColumnOf(name, &used).substr(name.size()));
      }
      columns_present.push_back(ColumnsOf(name, qualifiers));
      columns_absent.push_back(ColumnsOf(absent, qualifiers));
    }
  }

  void FindSmallValue() {
    std::vector<std::string_view> values;
    values.reserve(cells_.all().size());
    for (const Cell& cell : cells_.all()) values.push_back(cell.value);
    const auto small =
        values.begin() + static_cast<std::ptrdiff_t>(
                             static_cast<double>(values.size()) * kSmallValues);
    std::nth_element(values.begin(), small, values.end());
    small_value = *small;
  }

  void AddRange(size_t begin, size_t end) {
    const auto key = [this](size_t row) {
      return row == cells_.rows()
                 ? std::string()
                 : std::string(cells_.all()[cells_.RowBegin(row)].Row());
    };
    ranges.push_back(
        {NameOf(key(begin)), NameOf(key(end)), key(begin), key(end)});
    for (size_t row = begin; row < end; ++row) {
      for (size_t i = cells_.RowBegin(row); i < cells_.RowEnd(row); ++i) {
        ++ranges.back().cells;
        if (cells_.all()[i].value < small_value) ++ranges.back().small_values;
      }
    }
  }

  const Cells& cells_;
  Random random_;
  std::vector<std::vector<size_t>> rows_of_file_;
  std::deque<std::string> names_;  // of absent rows and columns
};

// A tree that stays as it is: in one file if `compacted`, else one for each of
// the plan's.
Status FillStore(const Plan& plan, bool compacted, Store* store) {
  const WriteOptions write = {.durability = Durability::kSkipWal};
  for (const std::vector<size_t>& rows : plan.rows_of_file()) {
    WriteBatch batch;
    for (const size_t row : rows) {
      const std::string name = plan.RowName(row);
      for (size_t i = plan.cells().RowBegin(row); i < plan.cells().RowEnd(row);
           ++i) {
        const Cell& cell = plan.cells().all()[i];
        batch.Put(name, kFamily, cell.Qualifier(), cell.value);
      }
      if (batch.size() < 4096) continue;
      if (Status s = store->Write(batch, write); !s.ok()) return s;
      batch.Clear();
    }
    Status s = store->Write(batch, write);
    if (s.ok() && !compacted) s = store->Flush();
    if (!s.ok()) return s;
  }
  Status s = compacted ? store->Compact() : Status::OK();
  StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const uint64_t files = stats.families[kFamily].files;
  if (s.ok() && !compacted && files != plan.rows_of_file().size()) {
    return Status::Corruption("a store has " + std::to_string(files) +
                              " files where it was flushed " +
                              std::to_string(plan.rows_of_file().size()) +
                              " times");
  }
  return s;
}

Status FillPlain(const Plan& plan, bool compacted, PlainDatabase* database) {
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (const std::vector<size_t>& rows : plan.rows_of_file()) {
    for (const size_t row : rows) {
      rocksdb::WriteBatch batch;
      for (size_t i = plan.cells().RowBegin(row); i < plan.cells().RowEnd(row);
           ++i) {
        const Cell& cell = plan.cells().all()[i];
        Status s = batch.Put(database->family(), cell.key, cell.value);
        if (!s.ok()) return s;
      }
      if (Status s = (*database)->Write(write, &batch); !s.ok()) return s;
    }
    Status s = compacted ? Status::OK() : database->Flush();
    if (!s.ok()) return s;
  }
  return compacted ? database->Compact() : Status::OK();
}

Status WrongAnswer(const std::string& who, std::string_view key) {
  return Status::Corruption(who + " gave a wrong answer to key 0x" +
                            Slice(key).ToString(/*hex=*/true));
}

// One tree in each kind of database.
class StoreTree {
 public:
  StoreTree(const Plan& plan, const StoreBenchOptions& options,
            std::string name, bool compacted, Bench* bench)
      : plan_(plan),
        options_(options),
        name_(std::move(name)),
        compacted_(compacted),
        bench_(bench) {}

  Status Fill() {
    const StoreOptions store = TreeOptions(plan_.cells().bytes());
    const auto create = [&](const char* what, const FamilyOptions& family,
                            std::unique_ptr<Store>* created) {
      Step(std::string(what) + ": writing");
      Status s = CreateStore(store, family, Path(what), created);
      return s.ok() ? FillStore(plan_, compacted_, created->get()) : s;
    };
    const auto create_plain =
        [&](const char* what,
            const std::shared_ptr<const rocksdb::FilterPolicy>& filter,
            PlainDatabase* created) {
          Step(std::string(what) + ": writing");
          Status s = created->Create(Path("latest"), Path(what),
                                     store.block_cache_bytes, filter);
          return s.ok() ? FillPlain(plan_, compacted_, created) : s;
        };
    Status s = create("latest", {}, &latest_);
    if (s.ok()) s = create("versioned", {.max_versions = 3}, &versioned_);
    if (s.ok()) s = create("none", {.bloom_type = BloomType::kNone}, &none_);
    if (s.ok()) s = create_plain("rocksdb", nullptr, &plain_);
    if (s.ok()) {
      const std::shared_ptr<const rocksdb::FilterPolicy> stock(
          rocksdb::NewBloomFilterPolicy(kStockBitsPerKey));
      s = create_plain("stock", stock, &stock_);
    }
    return s.ok() ? Warm() : s;
  }

  Status Measure() {
    Status s = MeasureGets("get, present cell", plan_.present, kGet);
    if (s.ok()) {
      s = MeasureGets("get, absent row", plan_.absent_rows, {});
    }
    if (s.ok()) {
      s = MeasureGets("get, absent column", plan_.absent_columns, {});
    }
    if (s.ok()) {
      s = Compare(
          "get, present cell, versioned", "get", kVersionedGet,
          {StoreGet("store, latest", plan_.present, latest_.get()),
           StoreGet("store, versioned", plan_.present, versioned_.get())},
          plan_.present.size(), 512);
    }
    if (s.ok()) s = MeasureColumns();
    if (s.ok()) s = MeasureRows();
    if (s.ok()) s = MeasureScans();
    return s.ok() ? MeasureWithADelete() : s;
  }

 private:
  std::string Path(const std::string& what) const {
    return options_.Path((compacted_ ? "one_" : "many_") + what);
  }

  void Step(const std::string& text) const {
    bench_->Step(name_ + ", " + text);
  }

  // Brings all blocks into the caches, and checks that all cells are there. The
  // databases take turns, so that their blocks have the same kind of places in
  // memory: the first one alone would get what filling left free, which lies
  // closer together, and its gets would take 5 % less time than those of a
  // later one.
  Status Warm() const {
    std::vector<Contender> readers;
    for (const auto& [name, store] : {std::pair("latest", latest_.get()),
                                      std::pair("versioned", versioned_.get()),
                                      std::pair("none", none_.get())}) {
      readers.push_back(StoreScan(name, plan_.ranges, store));
    }
    for (const auto& [name, database] :
         {std::pair("rocksdb", &plain_), std::pair("stock", &stock_)}) {
      readers.push_back(PlainScan(name, plan_.ranges, *database));
    }
    for (size_t i = 0; i < plan_.ranges.size(); ++i) {
      for (const Contender& reader : readers) {
        uint64_t cells = 0;
        if (Status s = reader.run(i, i + 1, &cells); !s.ok()) return s;
        if (cells == plan_.ranges[i].cells) continue;
        return Status::Corruption(reader.name + " has " +
                                  std::to_string(cells) + " cells of " +
                                  std::to_string(plan_.ranges[i].cells));
      }
    }
    return Status::OK();
  }

  Status Compare(const std::string& what, const std::string& unit,
                 std::optional<double> claimed,
                 const std::vector<Contender>& contenders, uint64_t operations,
                 uint64_t turn) const {
    return bench_->Compare({what, name_, unit, AtMost(claimed)}, contenders,
                           {.operations = operations, .turn = turn});
  }

  // nullopt: there is no such cell.
  static Status Checked(const std::string& who, const CellQuestion& asked,
                        const Status& s,
                        std::optional<std::string_view> value) {
    const bool right =
        s.ok() && (asked.value == nullptr ? !value : value == *asked.value);
    return right ? Status::OK() : WrongAnswer(who, asked.key);
  }

  // Both Gets pin the value, and neither copies it.
  static Contender StoreGet(const std::string& who,
                            const std::vector<CellQuestion>& questions,
                            Store* store) {
    return Repeat(who, [who, &questions, store](uint64_t i) {
      const CellQuestion& asked = questions[i];
      PinnableCell cell;
      const Status s = store->Get(asked.row, kFamily, asked.qualifier, &cell);
      if (!cell) return Checked(who, asked, s, {});
      return Checked(who, asked, s, cell.value());
    });
  }

  static Contender PlainGet(const std::string& who,
                            const std::vector<CellQuestion>& questions,
                            const PlainDatabase& database) {
    return Repeat(who, [who, &questions, &database](uint64_t i) {
      const CellQuestion& asked = questions[i];
      PinnableSlice value;
      const Status s = database->Get({}, database.family(), asked.key, &value);
      if (s.IsNotFound()) return Checked(who, asked, Status::OK(), {});
      return Checked(who, asked, s, value.ToStringView());
    });
  }

  Status MeasureGets(const std::string& what,
                     const std::vector<CellQuestion>& questions,
                     std::optional<double> claimed) const {
    return Compare(what, "get", claimed,
                   {PlainGet("RocksDB, store's filters", questions, plain_),
                    StoreGet("store, latest", questions, latest_.get()),
                    StoreGet("store, versioned", questions, versioned_.get()),
                    PlainGet("RocksDB, its own Bloom", questions, stock_)},
                   questions.size(), 512);
  }

  static Contender StoreColumns(const std::string& who,
                                const std::vector<Columns>& questions,
                                bool present, Store* store) {
    return Repeat(who, [who, &questions, present, store,
                        addresses = std::vector<CellAddress>(),
                        cells = std::vector<std::vector<rowbloom::Cell>>()](
                           uint64_t i) mutable {
      const Columns& asked = questions[i];
      addresses.clear();
      for (const std::string& qualifier : asked.qualifiers) {
        addresses.push_back({asked.row, kFamily, qualifier});
      }
      Status s = store->MultiGet(addresses, &cells);
      const bool found =
          std::any_of(cells.begin(), cells.end(),
                      [](const auto& versions) { return !versions.empty(); });
      if (s.ok() && found != present) s = WrongAnswer(who, asked.keys[0]);
      return s;
    });
  }

  static Contender PlainColumns(const std::string& who,
                                const std::vector<Columns>& questions,
                                bool present, const PlainDatabase& database) {
    return Repeat(who, [who, &questions, present, &database](uint64_t i) {
      Slice keys[kColumnsAtOnce];
      PinnableSlice values[kColumnsAtOnce];
      Status statuses[kColumnsAtOnce];
      const Columns& asked = questions[i];
      for (size_t k = 0; k < kColumnsAtOnce; ++k) keys[k] = asked.keys[k];
      database->MultiGet({}, database.family(), kColumnsAtOnce, keys, values,
                         statuses);
      bool found = false;
      for (const Status& s : statuses) {
        if (!s.ok() && !s.IsNotFound()) return s;
        found = found || s.ok();
      }
      return found == present ? Status::OK() : WrongAnswer(who, asked.keys[0]);
    });
  }

  // RocksDB's databases differ in their filters: one has the store's.
  Status MeasureColumns() const {
    struct Other {
      const char* name;
      const char* suffix;
      const PlainDatabase& database;
      double claimed;  // ratio for absent rows
    };
    const Other others[] = {
        {"RocksDB, its own Bloom", "", stock_, kAbsentColumns},
        {"RocksDB, store's filters", ", same filters", plain_,
         kAbsentColumnsSameFilters},
    };
    Status s;
    for (const bool present : {false, true}) {
      const std::vector<Columns>& questions =
          present ? plan_.columns_present : plan_.columns_absent;
      const std::string what =
          present ? "10 columns of a row" : "10 columns of an absent row";
      for (const Other& other : others) {
        if (!s.ok()) return s;
        // A claim needs files that an absent row is absent from.
        const auto claimed = present || compacted_
                                 ? std::nullopt
                                 : std::optional<double>(other.claimed);
        s = Compare(
            what + other.suffix, "row", claimed,
            {PlainColumns(other.name, questions, present, other.database),
             StoreColumns("store, latest", questions, present, latest_.get()),
             StoreColumns("store, versioned", questions, present,
                          versioned_.get())},
            questions.size(), 256);
      }
    }
    return s;
  }

  static Contender StoreRows(const std::string& who,
                             const std::vector<CellQuestion>& questions,
                             bool present, Store* store) {
    return Repeat(who,
                  [who, &questions, present, store,
                   cells = std::vector<rowbloom::Cell>()](uint64_t i) mutable {
                    Status s = store->GetRow(questions[i].row, &cells);
                    if (s.ok() && cells.empty() == present) {
                      s = WrongAnswer(who, questions[i].key);
                    }
                    return s;
                  });
  }

  Status MeasureRows() const {
    const auto contenders = [this](const std::vector<CellQuestion>& questions,
                                   bool present) -> std::vector<Contender> {
      return {
          StoreRows("store, bloom NONE", questions, present, none_.get()),
          StoreRows("store, latest", questions, present, latest_.get()),
          StoreRows("store, versioned", questions, present, versioned_.get())};
    };
    const auto claimed =
        compacted_ ? std::nullopt : std::optional<double>(kAbsentRow);
    Status s = Compare("whole row, absent", "row", claimed,
                       contenders(plan_.absent_rows, false),
                       plan_.absent_rows.size(), 256);
    if (s.ok()) {
      s = Compare("whole row, present", "row", {},
                  contenders(plan_.present, true), plan_.present.size(), 256);
    }
    return s;
  }

  // Work is one for each cell.
  static Contender StoreScan(const std::string& who,
                             const std::vector<Range>& ranges, Store* store) {
    return {who,
            [&ranges, store](uint64_t begin, uint64_t end,
                             uint64_t* work) -> Status {
              for (uint64_t i = begin; i < end; ++i) {
                RowScanner rows;
                const Status s = store->Scan({.start_row = ranges[i].start_row,
                                              .stop_row = ranges[i].stop_row},
                                             &rows);
                if (!s.ok()) return s;
                for (const Row& row : rows) *work += row.cells.size();
                if (!rows.status().ok()) return rows.status();
              }
              return Status::OK();
            }};
  }

  static std::unique_ptr<rocksdb::Iterator> PlainScan(
      const Range& range, const PlainDatabase& database, Slice* lower,
      Slice* upper) {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    *lower = range.start_key;
    *upper = range.stop_key;
    read.iterate_lower_bound = lower;
    if (!upper->empty()) read.iterate_upper_bound = upper;
    std::unique_ptr<rocksdb::Iterator> it(
        database->NewIterator(read, database.family()));
    it->SeekToFirst();
    return it;
  }

  static Contender PlainScan(const std::string& who,
                             const std::vector<Range>& ranges,
                             const PlainDatabase& database) {
    return {who,
            [&ranges, &database](uint64_t begin, uint64_t end,
                                 uint64_t* work) -> Status {
              Slice lower, upper;
              for (uint64_t i = begin; i < end; ++i) {
                const auto it = PlainScan(ranges[i], database, &lower, &upper);
                // The value of a cell that has a key is never out of memory.
                for (; it->Valid(); it->Next()) {
                  *work += it->value().data() != nullptr ? 1 : 0;
                }
                if (!it->status().ok()) return it->status();
              }
              return Status::OK();
            }};
  }

  // Gives rows as the store does, by hand.
  static Contender PlainRows(const std::string& who,
                             const std::vector<Range>& ranges,
                             const PlainDatabase& database,
                             const KeyLayout& layout) {
    return {who,
            [&ranges, &database, &layout](uint64_t begin, uint64_t end,
                                          uint64_t* work) -> Status {
              struct NamedValue {
                std::string qualifier;
                std::string value;
              };
              std::string row;
              std::vector<NamedValue> columns;
              Slice lower, upper;
              for (uint64_t i = begin; i < end; ++i) {
                const auto it = PlainScan(ranges[i], database, &lower, &upper);
                row.clear();
                for (; it->Valid(); it->Next()) {
                  const std::string_view key = it->key().ToStringView();
                  const size_t row_bytes = layout.RowBytes(key);
                  if (row != key.substr(0, row_bytes)) {
                    row = key.substr(0, row_bytes);
                    *work += columns.size();
                    columns.clear();
                  }
                  columns.push_back({std::string(key.substr(row_bytes)),
                                     it->value().ToString()});
                }
                *work += columns.size();
                columns.clear();
                if (!it->status().ok()) return it->status();
              }
              return Status::OK();
            }};
  }

  // Work is one for each cell that the filter sees.
  Contender FilteredScan(const std::string& who, Store* store) const {
    return {who,
            [who, this, store](uint64_t begin, uint64_t end,
                               uint64_t* work) -> Status {
              const Filter small =
                  Filter::Value(Match::Less(plan_.small_value));
              for (uint64_t i = begin; i < end; ++i) {
                const Range& range = plan_.ranges[i];
                RowScanner rows;
                const Status s = store->Scan({.start_row = range.start_row,
                                              .stop_row = range.stop_row,
                                              .row = {.filter = small}},
                                             &rows);
                if (!s.ok()) return s;
                uint64_t kept = 0;
                for (const Row& row : rows) kept += row.cells.size();
                if (!rows.status().ok()) return rows.status();
                if (kept != range.small_values) {
                  return WrongAnswer(who, range.start_key);
                }
                *work += range.cells;
              }
              return Status::OK();
            }};
  }

  Status MeasureScans() const {
    const std::vector<Range>& ranges = plan_.ranges;
    Status s =
        Compare("scan, a filter keeps 1 % of values", "cell", kPutAndScan,
                {PlainScan("RocksDB, iterator alone", ranges, plain_),
                 FilteredScan("store, latest", latest_.get()),
                 FilteredScan("store, versioned", versioned_.get())},
                ranges.size(), 1);
    if (!s.ok()) return s;
    return Compare("scan", "cell", kPutAndScan,
                   {PlainRows("RocksDB, rows by hand", ranges, plain_,
                              plan_.cells().layout()),
                    StoreScan("store, latest", ranges, latest_.get()),
                    StoreScan("store, versioned", ranges, versioned_.get()),
                    PlainScan("RocksDB, iterator alone", ranges, plain_)},
                   ranges.size(), 1);
  }

  // Once a row was deleted, a get from a `versioned` family looks for deletes
  // of its row, too. This changes the tree.
  Status MeasureWithADelete() const {
    const char* const what = "get, present cell, other row deleted";
    if (!bench_->Wants(what)) return Status::OK();
    Status s = versioned_->DeleteRow(plan_.absent_rows[0].row);
    if (s.ok()) s = versioned_->Flush();
    if (!s.ok()) return s;
    return Compare(
        what, "get", kVersionedGet,
        {StoreGet("store, latest", plan_.present, latest_.get()),
         StoreGet("store, versioned", plan_.present, versioned_.get())},
        plan_.present.size(), 512);
  }

  const Plan& plan_;
  const StoreBenchOptions& options_;
  const std::string name_;
  const bool compacted_;
  Bench* const bench_;
  std::unique_ptr<Store> latest_;
  std::unique_ptr<Store> versioned_;
  std::unique_ptr<Store> none_;
  PlainDatabase plain_;  // the options, and so the filters, of latest_
  PlainDatabase stock_;  // RocksDB's Bloom filter over prefix and whole key
};

// Writes into databases that start empty.
class Writes {
 public:
  Writes(const std::vector<InputCell>& input, const Plan& plan,
         const StoreBenchOptions& options, Bench* bench)
      : input_(input), plan_(plan), options_(options), bench_(bench) {}

  Status Measure() {
    Status s;
    if (bench_->Wants(kPut)) s = MeasurePuts();
    if (s.ok() && bench_->Wants(kLoad)) s = MeasureLoads();
    return s;
  }

 private:
  Status MeasurePuts() {
    std::unique_ptr<Store> latest, versioned;
    PlainDatabase plain, again;
    const StoreOptions store;
    const std::string path = options_.Path("put_latest");
    Status s = CreateStore(store, {}, path, &latest);
    if (s.ok()) {
      s = CreateStore(store, {.max_versions = 3},
                      options_.Path("put_versioned"), &versioned);
    }
    if (s.ok()) {
      s = plain.Create(path, options_.Path("put_rocksdb"),
                       store.block_cache_bytes, nullptr);
    }
    if (s.ok()) {
      s = again.Create(path, options_.Path("put_again"),
                       store.block_cache_bytes, nullptr);
    }
    const std::vector<CellQuestion>& puts = plan_.puts;
    for (const size_t at_once :
         {size_t{1}, std::min(kBatchOfPuts, puts.size())}) {
      if (!s.ok()) return s;
      const std::string what =
          at_once == 1 ? kPut : fmt::format("{}, {} in a batch", kPut, at_once);
      s = bench_->Compare(
          {what, kWithLog, at_once == 1 ? "put" : "batch", AtMost(kPutAndScan)},
          {PlainPut("RocksDB", puts, at_once, &plain),
           StorePut("store, latest", puts, at_once, latest.get()),
           StorePut("store, versioned", puts, at_once, versioned.get()),
           PlainPut(kControl, puts, at_once, &again)},
          {.operations = puts.size() / at_once,
           .turn = 512 / at_once,
           .control = false});
    }
    return s;
  }

  // An operation puts `at_once` cells; one of its own, if that is 1.
  static Contender PlainPut(const std::string& who,
                            const std::vector<CellQuestion>& puts,
                            size_t at_once, PlainDatabase* database) {
    return Repeat(who, [&puts, at_once, database](uint64_t i) {
      if (at_once == 1) {
        return (*database)->Put({}, database->family(), puts[i].key,
                                *puts[i].value);
      }
      rocksdb::WriteBatch batch;
      for (size_t n = i * at_once; n < (i + 1) * at_once; ++n) {
        Status s = batch.Put(database->family(), puts[n].key, *puts[n].value);
        if (!s.ok()) return s;
      }
      return (*database)->Write({}, &batch);
    });
  }

  static Contender StorePut(const std::string& who,
                            const std::vector<CellQuestion>& puts,
                            size_t at_once, Store* store) {
    return Repeat(
        who, [&puts, at_once, store, batch = WriteBatch()](uint64_t i) mutable {
          if (at_once == 1) {
            return store->Put(puts[i].row, kFamily, puts[i].qualifier,
                              *puts[i].value);
          }
          batch.Clear();
          for (size_t n = i * at_once; n < (i + 1) * at_once; ++n) {
            batch.Put(puts[n].row, kFamily, puts[n].qualifier, *puts[n].value);
          }
          return store->Write(batch);
        });
  }

  // A load is one turn; its work are the cells of the input.
  Status MeasureLoads() {
    const StoreOptions store;
    const std::string template_path = options_.Path("load_options");
    std::unique_ptr<Store> for_its_options;
    Status s = CreateStore(store, {}, template_path, &for_its_options);
    if (!s.ok()) return s;
    const std::string path = options_.Path("load");
    const auto store_load = [&](const char* who, const FamilyOptions& family) {
      return Contender{
          who, [&, family](uint64_t, uint64_t, uint64_t* work) -> Status {
            std::unique_ptr<Store> target;
            Status loaded = CreateStore(store, family, path, &target);
            if (loaded.ok()) {
              loaded = LoadStore(input_, kLoadBatchBytes, target.get());
            }
            target.reset();
            std::filesystem::remove_all(path);
            *work = input_.size();
            return loaded;
          }};
    };
    const Contender plain_load = {
        "RocksDB, WriteBatch",
        [&](uint64_t, uint64_t, uint64_t* work) -> Status {
          Status loaded;
          {
            PlainDatabase target;
            loaded = target.Create(template_path, path, store.block_cache_bytes,
                                   nullptr);
            if (loaded.ok()) loaded = LoadPlain(&target);
          }
          std::filesystem::remove_all(path);
          *work = input_.size();
          return loaded;
        }};
    return bench_->Compare(
        {kLoad, kWithLog, "cell", AtMost(kLoadTime, &Measurement::wall_ratio)},
        {plain_load, store_load("store, latest", {}),
         store_load("store, versioned", {.max_versions = 3})},
        {.operations = 1,
         .turn = 1,
         .min_rounds = options_.loads,
         .seconds = 0});
  }

  Status LoadPlain(PlainDatabase* database) const {
    rocksdb::WriteBatch batch;
    Status s;
    for (const InputCell& cell : input_) {
      auto key = plan_.cells().layout().EncodeRow(cell.row);
      if (!key) return Status::InvalidArgument(key.error());
      s = batch.Put(database->family(), *key + cell.qualifier, cell.value);
      if (s.ok() && batch.GetDataSize() >= kLoadBatchBytes) {
        s = (*database)->Write({}, &batch);
        batch.Clear();
      }
      if (!s.ok()) return s;
    }
    s = (*database)->Write({}, &batch);
    return s.ok() ? database->Flush() : s;
  }

  const std::vector<InputCell>& input_;
  const Plan& plan_;
  const StoreBenchOptions& options_;
  Bench* const bench_;
};

}  // namespace

Status BenchStore(const std::vector<InputCell>& input, const Cells& cells,
                  const StoreBenchOptions& options, Bench* bench,
                  std::vector<LoadMemory>* load_memory) {
  if (cells.rows() < options.files) {
    return Status::InvalidArgument(std::to_string(cells.rows()) +
                                   " rows do not fill " +
                                   std::to_string(options.files) + " files");
  }
  bench->Step("memory of loads");
  // The loads run before any database has threads and memory of its own.
  Status s;
  for (const uint64_t times : {1, 2, 4}) {
    if (!s.ok()) return s;
    if (!bench->Wants(kLoad)) break;
    LoadMemory memory;
    s = MeasureLoadMemory(input, times, kLoadBatchBytes, options.db_dir,
                          &memory);
    load_memory->push_back(memory);
  }
  bench->Step("drawing questions");
  const Plan plan(cells, options);
  if (s.ok()) s = Writes(input, plan, options, bench).Measure();
  if (s.ok()) s = MeasureUpdates(options, bench);
  if (s.ok()) s = MeasureGrowth(options, bench);
  for (const bool compacted : {true, false}) {
    if (!s.ok()) return s;
    StoreTree tree(
        plan, options,
        compacted ? "one file" : std::to_string(options.files) + " files",
        compacted, bench);
    s = tree.Fill();
    if (s.ok()) s = tree.Measure();
  }
  return s;
}

}  // namespace rowbloom::bench
