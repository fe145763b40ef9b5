#include "bench/store_bench.h"

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

// Claimed at most, of the first contender's time.
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

// A cell to ask for, under both of its names, which are the same bytes where
// the row has none to escape: what one contender reads of them another finds in
// the processor's caches.
struct Question {
  std::string_view row;
  std::string_view qualifier;
  std::string_view key;
  const std::string* value = nullptr;  // nullptr: there is none
};

// Some columns of one row, under both of their names.
struct Columns {
  std::vector<CellAddress> addresses;
  std::vector<std::string> keys;
};

// A range of rows, the end exclusive; an empty end is behind all.
struct Range {
  std::string start_row, stop_row;
  std::string start_key, stop_key;
};

// The plan by which all databases are filled and asked.
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

  std::vector<Question> puts;  // all cells, not in the order of their keys
  std::vector<Question> present;
  std::vector<Question> absent_rows;
  std::vector<Question> absent_columns;
  std::vector<Columns> columns_present;
  std::vector<Columns> columns_absent;
  std::vector<Range> ranges;

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
  Question Named(std::string_view key, size_t row_bytes) {
    const std::string row = NameOf(key.substr(0, row_bytes));
    return {key.starts_with(row) ? key.substr(0, row.size()) : Keep(row),
            key.substr(row_bytes), key};
  }

  std::string_view Keep(const std::string& name) {
    return names_.emplace_back(name);
  }

  Question Present(size_t cell_number) {
    const Cell& cell = cells_.all()[cell_number];
    Question question = Named(cell.key, cell.row_bytes);
    question.value = &cell.value;
    return question;
  }

  Columns ColumnsOf(const std::string& row_bytes,
                    const std::vector<std::string>& qualifiers) const {
    Columns columns;
    for (const std::string& qualifier : qualifiers) {
      columns.addresses.push_back({NameOf(row_bytes), kFamily, qualifier});
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

  void AddRange(size_t begin, size_t end) {
    const auto key = [this](size_t row) {
      return row == cells_.rows()
                 ? std::string()
                 : std::string(cells_.all()[cells_.RowBegin(row)].Row());
    };
    ranges.push_back(
        {NameOf(key(begin)), NameOf(key(end)), key(begin), key(end)});
  }

  const Cells& cells_;
  Random random_;
  std::vector<std::vector<size_t>> rows_of_file_;
  std::deque<std::string> names_;  // that are not those of cells
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

// Brings all blocks into the cache, and checks that all cells are there.
Status Warm(const Plan& plan, Store* store) {
  size_t cells = 0;
  RowScanner rows = store->Scan();
  for (const Row& row : rows) cells += row.cells.size();
  if (rows.status().ok() && cells != plan.cells().all().size()) {
    return Status::Corruption("a store has " + std::to_string(cells) +
                              " cells");
  }
  return rows.status();
}

Status Warm(const Plan& plan, const PlainDatabase& database) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(
      database->NewIterator(read, database.family()));
  size_t cells = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++cells;
  if (it->status().ok() && cells != plan.cells().all().size()) {
    return Status::Corruption("a RocksDB database has " +
                              std::to_string(cells) + " cells");
  }
  return it->status();
}

Status WrongAnswer(const std::string& who, std::string_view key) {
  return Status::Corruption(who + " gave a wrong answer to key 0x" +
                            Slice(key).ToString(/*hex=*/true));
}

// One tree in each kind of database.
class Tree {
 public:
  Tree(const Plan& plan, const StoreBenchOptions& options, std::string name,
       bool compacted)
      : plan_(plan),
        options_(options),
        name_(std::move(name)),
        compacted_(compacted) {}

  Status Fill() {
    const StoreOptions store = TreeOptions(plan_.cells().bytes());
    const auto create = [&](const char* what, const FamilyOptions& family,
                            std::unique_ptr<Store>* created) {
      Step(std::string(what) + ": writing");
      Status s = CreateStore(store, family, Path(what), created);
      if (s.ok()) s = FillStore(plan_, compacted_, created->get());
      return s.ok() ? Warm(plan_, created->get()) : s;
    };
    const auto create_plain =
        [&](const char* what,
            const std::shared_ptr<const rocksdb::FilterPolicy>& filter,
            PlainDatabase* created) {
          Step(std::string(what) + ": writing");
          Status s = created->Create(Path("latest"), Path(what),
                                     store.block_cache_bytes, filter);
          if (s.ok()) s = FillPlain(plan_, compacted_, created);
          return s.ok() ? Warm(plan_, *created) : s;
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
    return s;
  }

  Status Measure(std::vector<Comparison>* comparisons) {
    Status s =
        MeasureGets("get, present cell", plan_.present, kGet, comparisons);
    if (s.ok()) {
      s = MeasureGets("get, absent row", plan_.absent_rows, {}, comparisons);
    }
    if (s.ok()) {
      s = MeasureGets("get, absent column", plan_.absent_columns, {},
                      comparisons);
    }
    if (s.ok()) {
      s = Compare(
          "get, present cell, versioned", "get", kVersionedGet,
          {StoreGet("store, latest", plan_.present, latest_.get()),
           StoreGet("store, versioned", plan_.present, versioned_.get())},
          plan_.present.size(), 512, comparisons);
    }
    if (s.ok()) s = MeasureColumns(comparisons);
    if (s.ok()) s = MeasureRows(comparisons);
    if (s.ok()) s = MeasureScans(comparisons);
    return s;
  }

 private:
  std::string Path(const std::string& what) const {
    return options_.Path((compacted_ ? "one_" : "many_") + what);
  }

  void Step(const std::string& text) const {
    options_.Step(name_ + ", " + text);
  }

  Status Compare(const std::string& what, const std::string& unit,
                 std::optional<double> claimed,
                 const std::vector<Contender>& contenders, uint64_t operations,
                 uint64_t turn, std::vector<Comparison>* comparisons) const {
    if (!options_.Wants(what)) return Status::OK();
    Step(what);
    Comparison comparison{what, name_, unit, claimed};
    Status s = TakeTurns(contenders,
                         {.operations = operations,
                          .turn = turn,
                          .min_rounds = 4,
                          .seconds = options_.seconds},
                         &comparison.timings);
    if (s.ok()) comparisons->push_back(std::move(comparison));
    return s;
  }

  // Work is one for each question, found or not.
  static Contender StoreGet(const std::string& who,
                            const std::vector<Question>& questions,
                            Store* store) {
    return {who,
            [who, &questions, store](uint64_t begin, uint64_t end,
                                     uint64_t* work) -> Status {
              std::string value;
              for (uint64_t i = begin; i < end; ++i) {
                const Question& asked = questions[i];
                const Status s =
                    store->Get(asked.row, kFamily, asked.qualifier, &value);
                if (asked.value == nullptr ? !s.IsNotFound()
                                           : !s.ok() || value != *asked.value) {
                  return WrongAnswer(who, asked.key);
                }
              }
              *work = end - begin;
              return Status::OK();
            }};
  }

  static Contender PlainGet(const std::string& who,
                            const std::vector<Question>& questions,
                            const PlainDatabase& database) {
    return {who,
            [who, &questions, &database](uint64_t begin, uint64_t end,
                                         uint64_t* work) -> Status {
              PinnableSlice value;
              for (uint64_t i = begin; i < end; ++i) {
                const Question& asked = questions[i];
                value.Reset();
                const Status s =
                    database->Get({}, database.family(), asked.key, &value);
                if (asked.value == nullptr ? !s.IsNotFound()
                                           : !s.ok() || value != *asked.value) {
                  return WrongAnswer(who, asked.key);
                }
              }
              *work = end - begin;
              return Status::OK();
            }};
  }

  Status MeasureGets(const std::string& what,
                     const std::vector<Question>& questions,
                     std::optional<double> claimed,
                     std::vector<Comparison>* comparisons) const {
    return Compare(what, "get", claimed,
                   {PlainGet("RocksDB, store's filters", questions, plain_),
                    StoreGet("store, latest", questions, latest_.get()),
                    StoreGet("store, versioned", questions, versioned_.get()),
                    PlainGet("RocksDB, its own Bloom", questions, stock_)},
                   questions.size(), 512, comparisons);
  }

  static Contender StoreColumns(const std::string& who,
                                const std::vector<Columns>& questions,
                                bool present, Store* store) {
    return {who,
            [who, &questions, present, store](uint64_t begin, uint64_t end,
                                              uint64_t* work) -> Status {
              std::vector<std::vector<rowbloom::Cell>> cells;
              for (uint64_t i = begin; i < end; ++i) {
                const Columns& asked = questions[i];
                Status s = store->MultiGet(asked.addresses, &cells);
                if (!s.ok()) return s;
                const bool found = std::any_of(
                    cells.begin(), cells.end(),
                    [](const auto& versions) { return !versions.empty(); });
                if (found != present) return WrongAnswer(who, asked.keys[0]);
              }
              *work = end - begin;
              return Status::OK();
            }};
  }

  static Contender PlainColumns(const std::string& who,
                                const std::vector<Columns>& questions,
                                bool present, const PlainDatabase& database) {
    return {who,
            [who, &questions, present, &database](uint64_t begin, uint64_t end,
                                                  uint64_t* work) -> Status {
              Slice keys[kColumnsAtOnce];
              PinnableSlice values[kColumnsAtOnce];
              Status statuses[kColumnsAtOnce];
              for (uint64_t i = begin; i < end; ++i) {
                const Columns& asked = questions[i];
                for (size_t k = 0; k < kColumnsAtOnce; ++k) {
                  keys[k] = asked.keys[k];
                  values[k].Reset();
                }
                database->MultiGet({}, database.family(), kColumnsAtOnce, keys,
                                   values, statuses);
                bool found = false;
                for (const Status& s : statuses) {
                  if (!s.ok() && !s.IsNotFound()) return s;
                  found = found || s.ok();
                }
                if (found != present) return WrongAnswer(who, asked.keys[0]);
              }
              *work = end - begin;
              return Status::OK();
            }};
  }

  // Beside each of RocksDB's databases: one has the store's filters, too.
  Status MeasureColumns(std::vector<Comparison>* comparisons) const {
    struct Other {
      const char* name;
      const char* suffix;
      const PlainDatabase& database;
      double claimed;  // of an absent row
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
        // Claimed where an absent row has files to be absent from.
        const auto claimed = present || compacted_
                                 ? std::nullopt
                                 : std::optional<double>(other.claimed);
        s = Compare(
            what + other.suffix, "row", claimed,
            {PlainColumns(other.name, questions, present, other.database),
             StoreColumns("store, latest", questions, present, latest_.get()),
             StoreColumns("store, versioned", questions, present,
                          versioned_.get())},
            questions.size(), 256, comparisons);
      }
    }
    return s;
  }

  static Contender StoreRows(const std::string& who,
                             const std::vector<Question>& questions,
                             bool present, Store* store) {
    return {who,
            [who, &questions, present, store](uint64_t begin, uint64_t end,
                                              uint64_t* work) -> Status {
              std::vector<rowbloom::Cell> cells;
              for (uint64_t i = begin; i < end; ++i) {
                Status s = store->GetRow(questions[i].row, &cells);
                if (!s.ok()) return s;
                if (cells.empty() == present) {
                  return WrongAnswer(who, questions[i].key);
                }
              }
              *work = end - begin;
              return Status::OK();
            }};
  }

  Status MeasureRows(std::vector<Comparison>* comparisons) const {
    const auto contenders = [this](const std::vector<Question>& questions,
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
                       plan_.absent_rows.size(), 256, comparisons);
    if (s.ok()) {
      s = Compare("whole row, present", "row", {},
                  contenders(plan_.present, true), plan_.present.size(), 256,
                  comparisons);
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
                RowScanner rows = store->Scan({.start_row = ranges[i].start_row,
                                               .stop_row = ranges[i].stop_row});
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
              struct Column {
                std::string qualifier;
                std::string value;
              };
              std::string row;
              std::vector<Column> columns;
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

  Status MeasureScans(std::vector<Comparison>* comparisons) const {
    const std::vector<Range>& ranges = plan_.ranges;
    return Compare("scan", "cell", kPutAndScan,
                   {PlainRows("RocksDB, rows by hand", ranges, plain_,
                              plan_.cells().layout()),
                    StoreScan("store, latest", ranges, latest_.get()),
                    StoreScan("store, versioned", ranges, versioned_.get()),
                    PlainScan("RocksDB, iterator alone", ranges, plain_)},
                   ranges.size(), 1, comparisons);
  }

  const Plan& plan_;
  const StoreBenchOptions& options_;
  const std::string name_;
  const bool compacted_;
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
         const StoreBenchOptions& options)
      : input_(input), plan_(plan), options_(options) {}

  Status Measure(std::vector<Comparison>* comparisons) {
    Status s;
    if (options_.Wants(kPut)) s = MeasurePuts(comparisons);
    if (s.ok() && options_.Wants(kLoad)) s = MeasureLoads(comparisons);
    return s;
  }

 private:
  Status MeasurePuts(std::vector<Comparison>* comparisons) {
    options_.Step("puts");
    std::unique_ptr<Store> latest, versioned;
    PlainDatabase plain;
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
    const std::vector<Question>& puts = plan_.puts;
    const TurnOptions turns = {.operations = puts.size(),
                               .turn = 512,
                               .min_rounds = 4,
                               .seconds = options_.seconds};
    if (s.ok()) {
      Comparison put{kPut, kWithLog, "put", kPutAndScan};
      s = TakeTurns({PlainPut(puts, 1, &plain),
                     StorePut("store, latest", puts, 1, latest.get()),
                     StorePut("store, versioned", puts, 1, versioned.get())},
                    turns, &put.timings);
      comparisons->push_back(std::move(put));
    }
    if (s.ok()) {
      Comparison batch{"put, 64 in a batch", kWithLog, "put", kPutAndScan};
      s = TakeTurns(
          {PlainPut(puts, kBatchOfPuts, &plain),
           StorePut("store, latest", puts, kBatchOfPuts, latest.get()),
           StorePut("store, versioned", puts, kBatchOfPuts, versioned.get())},
          turns, &batch.timings);
      comparisons->push_back(std::move(batch));
    }
    return s;
  }

  static Contender PlainPut(const std::vector<Question>& puts, size_t at_once,
                            PlainDatabase* database) {
    return {"RocksDB",
            [&puts, at_once, database](uint64_t begin, uint64_t end,
                                       uint64_t* work) -> Status {
              *work = end - begin;
              if (at_once == 1) {
                for (uint64_t i = begin; i < end; ++i) {
                  Status s = (*database)->Put({}, database->family(),
                                              puts[i].key, *puts[i].value);
                  if (!s.ok()) return s;
                }
                return Status::OK();
              }
              for (uint64_t i = begin; i < end;) {
                rocksdb::WriteBatch batch;
                for (size_t n = 0; n < at_once && i < end; ++n, ++i) {
                  Status s = batch.Put(database->family(), puts[i].key,
                                       *puts[i].value);
                  if (!s.ok()) return s;
                }
                Status s = (*database)->Write({}, &batch);
                if (!s.ok()) return s;
              }
              return Status::OK();
            }};
  }

  static Contender StorePut(const std::string& who,
                            const std::vector<Question>& puts, size_t at_once,
                            Store* store) {
    return {who,
            [&puts, at_once, store](uint64_t begin, uint64_t end,
                                    uint64_t* work) -> Status {
              *work = end - begin;
              if (at_once == 1) {
                for (uint64_t i = begin; i < end; ++i) {
                  Status s = store->Put(puts[i].row, kFamily, puts[i].qualifier,
                                        *puts[i].value);
                  if (!s.ok()) return s;
                }
                return Status::OK();
              }
              WriteBatch batch;
              for (uint64_t i = begin; i < end;) {
                batch.Clear();
                for (size_t n = 0; n < at_once && i < end; ++n, ++i) {
                  batch.Put(puts[i].row, kFamily, puts[i].qualifier,
                            *puts[i].value);
                }
                Status s = store->Write(batch);
                if (!s.ok()) return s;
              }
              return Status::OK();
            }};
  }

  // A load is one turn; its work are the cells of the input.
  Status MeasureLoads(std::vector<Comparison>* comparisons) {
    options_.Step("loads");
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
    Comparison load{kLoad, kWithLog, "cell", kLoadTime, true};
    s = TakeTurns({plain_load, store_load("store, latest", {}),
                   store_load("store, versioned", {.max_versions = 3})},
                  {.operations = 1,
                   .turn = 1,
                   .min_rounds = options_.loads,
                   .seconds = 0},
                  &load.timings);
    if (s.ok()) comparisons->push_back(std::move(load));
    return s;
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
};

}  // namespace

Status BenchStore(const std::vector<InputCell>& input, const Cells& cells,
                  const StoreBenchOptions& options, StoreBenchResult* result) {
  *result = {.rows = cells.rows(), .cells = cells.all().size()};
  if (cells.rows() < options.files) {
    return Status::InvalidArgument(std::to_string(cells.rows()) +
                                   " rows do not fill " +
                                   std::to_string(options.files) + " files");
  }
  options.Step("memory of loads");
  // Before any database has threads and memory of its own.
  Status s;
  for (const uint64_t times : {1, 2, 4}) {
    if (!s.ok()) return s;
    if (!options.Wants(kLoad)) break;
    LoadMemory memory;
    s = MeasureLoadMemory(input, times, kLoadBatchBytes, options.db_dir,
                          &memory);
    result->load_memory.push_back(memory);
  }
  options.Step("drawing questions");
  const Plan plan(cells, options);
  if (s.ok()) s = Writes(input, plan, options).Measure(&result->comparisons);
  if (s.ok()) s = MeasureGrowth(options, &result->comparisons);
  for (const bool compacted : {true, false}) {
    if (!s.ok()) return s;
    Tree tree(plan, options,
              compacted ? "one file" : std::to_string(options.files) + " files",
              compacted);
    s = tree.Fill();
    if (s.ok()) s = tree.Measure(&result->comparisons);
  }
  return s;
}

}  // namespace rowbloom::bench
