#include "bench/filter_compare.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bench/equal_bytes.h"
#include "bench/random.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

constexpr double kBitsPerKey = 10.0;

struct Operation {
  std::string key;             // a cell's key or, for a scan, the row bytes
  const Cell* cell = nullptr;  // what it must find; nullptr: nothing
};

std::vector<Operation> DrawOperations(const Cells& cells, uint64_t seed,
                                      Kind kind, uint64_t count) {
  Draw draw(cells, seed);
  std::vector<Operation> operations;
  operations.reserve(count);
  std::unordered_set<std::string> used;
  while (operations.size() < count) {
    switch (kind) {
      case Kind::kGetPresent: {
        const Cell& cell = draw.AnyCell();
        operations.push_back({cell.key, &cell});
        break;
      }
      case Kind::kGetAbsentRow: {
        std::string row_bytes = draw.AbsentRow(&used);
        row_bytes.append(draw.AnyCell().Qualifier());
        operations.push_back({std::move(row_bytes), nullptr});
        break;
      }
      case Kind::kGetAbsentColumn:
        operations.push_back({draw.AbsentColumn(&used), nullptr});
        break;
      case Kind::kScanAbsentRow:
        operations.push_back({draw.AbsentRow(&used), nullptr});
        break;
    }
  }
  return operations;
}

// The plan that all databases share.
struct Plan {
  Cells cells;
  std::vector<CellsOfFile> cells_of_file;
  std::array<std::vector<Operation>, kAllKinds.size()> operations;
};

void MakePlan(const CompareOptions& options, Plan* plan) {
  Random random(Random::Mix(options.seed));
  std::vector<size_t> rows(plan->cells.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (size_t i = rows.size(); i > 1; --i) {
    std::swap(rows[i - 1], rows[random.Below(i)]);
  }
  plan->cells_of_file.resize(options.files);
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t begin = plan->cells.RowBegin(rows[i]);
    for (size_t cell = begin; cell < plan->cells.RowEnd(rows[i]); ++cell) {
      const size_t next = options.spread_rows ? cell - begin : 0;
      plan->cells_of_file[(i + next) % options.files].push_back(cell);
    }
  }
  for (auto& file : plan->cells_of_file) std::sort(file.begin(), file.end());
  for (const Kind kind : kAllKinds) {
    const auto number = static_cast<size_t>(kind);
    plan->operations[number] = DrawOperations(plan->cells, random.Next(), kind,
                                              options.operations[number]);
  }
}

// The most bits per key that cost at most `byte_limit`; kBitsPerKey if nothing
// does, because the fixed parts of the blocks alone cost more.
double BitsPerKeyWithin(const Plan& plan, uint64_t byte_limit) {
  const double most =
      MostBitsWithin(byte_limit, 2 * kBitsPerKey, [&](double b) {
        std::shared_ptr<const rocksdb::FilterPolicy> policy;
        const Status status =
            NewFilterPolicy({.key_layout = plan.cells.layout(),
                             .false_positive_rate = FalsePositiveRate(b)},
                            &policy);
        return status.ok()
                   ? FilterBytes(*policy, plan.cells, plan.cells_of_file,
                                 /*prefixes=*/false)
                   : std::numeric_limits<uint64_t>::max();
      });
  return most > 0 ? most : kBitsPerKey;
}

class Database {
 public:
  Database(const Plan& plan, Setting setting) : plan_(plan) {
    result_.setting = setting;
  }

  // `stock_filter_bytes`: what ROWCOL may spend.
  Status Write(const std::string& path, uint64_t stock_filter_bytes) {
    rocksdb::BlockBasedTableOptions table;
    Status status = MakePolicy(stock_filter_bytes, &table.filter_policy);
    if (!status.ok()) return status;
    table.whole_key_filtering = true;
    // Counts repeat with the seed, whatever the allocator.
    table.optimize_filters_for_memory = false;
    table.cache_index_and_filter_blocks = true;
    // Room for everything in every shard of the cache.
    table.block_cache =
        rocksdb::NewLRUCache(4 * plan_.cells.bytes() + (size_t{256} << 20));

    rocksdb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.compression = rocksdb::kLZ4Compression;
    options.prefix_extractor = NewRowPrefixExtractor(plan_.cells.layout());
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    // One file for each flush that is asked for, and each stays in level 0.
    options.disable_auto_compactions = true;
    options.write_buffer_size = size_t{8} << 30;
    options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
    options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
    options.info_log_level = rocksdb::WARN_LEVEL;

    rocksdb::DB* db = nullptr;
    status = rocksdb::DB::Open(options, path, &db);
    if (!status.ok()) return status;
    db_.reset(db);
    for (const auto& cells : plan_.cells_of_file) {
      status = WriteFile(cells);
      if (!status.ok()) return status;
    }
    return Describe();
  }

  // Counts with RocksDB's own counters, which slow it down: times come from
  // another pass.
  Status Count() {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    Status status;
    for (const Kind kind : kAllKinds) {
      KindResult* result = &result_.kinds[static_cast<size_t>(kind)];
      rocksdb::PerfContext* counters = rocksdb::get_perf_context();
      counters->Reset();
      for (const Operation& operation : OperationsOf(kind)) {
        status = Run(kind, operation, nullptr);
        if (!status.ok()) break;
        ++result->operations;
        result->found += operation.cell != nullptr ? 1 : 0;
      }
      if (!status.ok()) break;
      const uint64_t opened = counters->bloom_sst_hit_count;
      result->files_skipped = counters->bloom_sst_miss_count;
      result->files_considered = opened + result->files_skipped;
      if (HasFilter() && opened < result->found) {
        status = Status::Corruption(
            Where(kind) +
            "the filters let through fewer files than held the "
            "answers: they were not always asked");
        break;
      }
      result->wrong_opens = HasFilter() ? opened - result->found : 0;
    }
    rocksdb::SetPerfLevel(rocksdb::kDisable);
    return status;
  }

  Status Time() {
    rocksdb::SetPerfLevel(rocksdb::kDisable);
    std::vector<double> times;
    for (const Kind kind : kAllKinds) {
      const std::vector<Operation>& operations = OperationsOf(kind);
      if (operations.empty()) continue;
      times.clear();
      times.reserve(operations.size());
      for (const Operation& operation : operations) {
        double us = 0;
        Status status = Run(kind, operation, &us);
        if (!status.ok()) return status;
        times.push_back(us);
      }
      KindResult* result = &result_.kinds[static_cast<size_t>(kind)];
      result->median_us = Quantile(&times, 0.5);
      result->p99_us = Quantile(&times, 0.99);
    }
    return Status::OK();
  }

  Status Close() {
    Status status = db_->Close();
    db_.reset();
    return status;
  }

  bool HasFilter() const { return result_.setting != Setting::kNone; }
  SettingResult& result() { return result_; }

 private:
  Status MakePolicy(uint64_t stock_filter_bytes,
                    std::shared_ptr<const rocksdb::FilterPolicy>* policy) {
    FilterPolicyOptions filter;
    filter.key_layout = plan_.cells.layout();
    switch (result_.setting) {
      case Setting::kNone:
        return Status::OK();
      case Setting::kStock:
        result_.bits_per_key = kBitsPerKey;
        policy->reset(rocksdb::NewBloomFilterPolicy(kBitsPerKey));
        return Status::OK();
      case Setting::kRow:
        result_.bits_per_key = kBitsPerKey;
        filter.bloom_type = BloomType::kRow;
        break;
      case Setting::kRowCol:
        result_.bits_per_key = BitsPerKeyWithin(plan_, stock_filter_bytes);
        filter.bloom_type = BloomType::kRowCol;
        break;
    }
    filter.false_positive_rate = FalsePositiveRate(result_.bits_per_key);
    return NewFilterPolicy(filter, policy);
  }

  Status WriteFile(const std::vector<size_t>& cells) {
    constexpr size_t kBatchBytes = size_t{1} << 20;
    rocksdb::WriteOptions write;
    write.disableWAL = true;  // every file is flushed below
    rocksdb::WriteBatch batch;
    Status status;
    for (const size_t number : cells) {
      const Cell& cell = plan_.cells.all()[number];
      status = batch.Put(cell.key, cell.value);
      if (status.ok() && batch.GetDataSize() > kBatchBytes) {
        status = db_->Write(write, &batch);
        batch.Clear();
      }
      if (!status.ok()) return status;
    }
    status = db_->Write(write, &batch);
    return status.ok() ? db_->Flush({}) : status;
  }

  Status Describe() {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      if (file.level != 0) {
        return Status::Corruption("a file of " + std::string(Name()) +
                                  " has left level 0");
      }
      result_.file_bytes += file.size;
      result_.sst_files.push_back(file.db_path + file.name);
    }
    result_.files = files.size();
    if (result_.files != plan_.cells_of_file.size()) {
      return Status::Corruption(std::string(Name()) + ": expected " +
                                std::to_string(plan_.cells_of_file.size()) +
                                " files, found " +
                                std::to_string(result_.files));
    }
    rocksdb::TablePropertiesCollection properties;
    Status status = db_->GetPropertiesOfAllTables(&properties);
    if (!status.ok()) return status;
    for (const auto& [name, table] : properties) {
      result_.filter_bytes += table->filter_size;
    }
    return Status::OK();
  }

  // Runs and checks one operation. `us`, unless nullptr, gets the time of the
  // reading alone.
  Status Run(Kind kind, const Operation& operation, double* us) {
    const auto start = std::chrono::steady_clock::now();
    if (kind == Kind::kScanAbsentRow) {
      rocksdb::ReadOptions read;
      std::string end;
      rocksdb::Slice upper_bound;
      if (HasFilter()) {
        read.prefix_same_as_start = true;
      } else {
        // No filter to ask: the plain way to scan a row is between two bounds.
        // The row ends with 00 01, and nothing sorts between its cells and
        // 00 02.
        read.total_order_seek = true;
        end = operation.key;
        ++end.back();
        upper_bound = end;
        read.iterate_upper_bound = &upper_bound;
      }
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read));
      iterator->Seek(operation.key);
      const bool found = iterator->Valid();
      if (us != nullptr) *us = MicrosecondsSince(start);
      Status status = iterator->status();
      if (status.ok() && found) status = Wrong(kind, operation, "found a cell");
      return status;
    }
    Status status =
        db_->Get({}, db_->DefaultColumnFamily(), operation.key, &value_);
    if (us != nullptr) *us = MicrosecondsSince(start);
    if (operation.cell == nullptr) {
      if (status.ok()) status = Wrong(kind, operation, "found a cell");
      if (status.IsNotFound()) status = Status::OK();
    } else if (status.IsNotFound()) {
      status = Wrong(kind, operation, "did not find the cell");
    } else if (status.ok() && value_ != operation.cell->value) {
      status = Wrong(kind, operation, "found another value");
    }
    value_.Reset();
    return status;
  }

  static double MicrosecondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

  // The value below which a share of `q` lies. REQUIRES !values->empty().
  static double Quantile(std::vector<double>* values, double q) {
    const auto rank = static_cast<ptrdiff_t>(
        q * static_cast<double>(values->size() - 1) + 0.5);
    std::nth_element(values->begin(), values->begin() + rank, values->end());
    return (*values)[static_cast<size_t>(rank)];
  }

  const std::vector<Operation>& OperationsOf(Kind kind) const {
    return plan_.operations[static_cast<size_t>(kind)];
  }
  std::string_view Name() const { return ToString(result_.setting); }
  std::string Where(Kind kind) const {
    return std::string(Name()) + ", " + std::string(ToString(kind)) + ": ";
  }
  Status Wrong(Kind kind, const Operation& operation, const char* what) const {
    return Status::Corruption(
        Where(kind) + what + ", key 0x" +
        rocksdb::Slice(operation.key).ToString(/*hex=*/true));
  }

  const Plan& plan_;
  SettingResult result_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::PinnableSlice value_;
};

std::string DirectoryName(Setting setting) {
  switch (setting) {
    case Setting::kNone:
      return "none";
    case Setting::kStock:
      return "stock";
    case Setting::kRow:
      return "row";
    case Setting::kRowCol:
      return "rowcol";
  }
  return "unknown";
}

Status CheckSettings(const CompareOptions& options) {
  std::unordered_set<uint8_t> seen;
  for (const Setting setting : options.settings) {
    if (setting == Setting::kRowCol &&
        !seen.contains(static_cast<uint8_t>(Setting::kStock))) {
      return Status::InvalidArgument(
          "rowbloom ROWCOL is given the bytes of RocksDB's filter, which has "
          "to be built before it");
    }
    if (!seen.insert(static_cast<uint8_t>(setting)).second) {
      return Status::InvalidArgument(
          "setting \"" + std::string(ToString(setting)) + "\" is listed twice");
    }
  }
  return Status::OK();
}

// Fills in what RocksDB does not count without a filter, and checks that all
// filters were asked about the same files.
Status Reconcile(Comparison* comparison) {
  const SettingResult* first = nullptr;
  for (const SettingResult& result : comparison->settings) {
    if (result.setting != Setting::kNone && first == nullptr) first = &result;
  }
  if (first == nullptr) return Status::OK();
  for (SettingResult& result : comparison->settings) {
    for (const Kind kind : kAllKinds) {
      const KindResult& expected = (*first)[kind];
      KindResult* own = &result.kinds[static_cast<size_t>(kind)];
      if (result.setting == Setting::kNone) {
        own->files_considered = expected.files_considered;
        own->wrong_opens = own->files_considered - own->found;
      } else if (own->files_considered != expected.files_considered) {
        return Status::Corruption(std::string(ToString(result.setting)) + ", " +
                                  std::string(ToString(kind)) + ": " +
                                  std::to_string(own->files_considered) +
                                  " files were considered, and " +
                                  std::to_string(expected.files_considered) +
                                  " with " +
                                  std::string(ToString(first->setting)));
      }
    }
  }
  return Status::OK();
}

}  // namespace

std::string_view ToString(Setting setting) {
  switch (setting) {
    case Setting::kNone:
      return "none";
    case Setting::kStock:
      return "stock Bloom, prefix + key";
    case Setting::kRow:
      return "rowbloom ROW";
    case Setting::kRowCol:
      return "rowbloom ROWCOL";
  }
  return "unknown";
}

std::string_view ToString(Kind kind) {
  switch (kind) {
    case Kind::kGetPresent:
      return "get, present cell";
    case Kind::kGetAbsentRow:
      return "get, absent row";
    case Kind::kGetAbsentColumn:
      return "get, absent column";
    case Kind::kScanAbsentRow:
      return "row scan, absent row";
  }
  return "unknown";
}

Status CompareFilters(std::vector<InputCell> input,
                      const CompareOptions& options, Comparison* comparison) {
  const auto step = [&options](const std::string& text) {
    if (options.on_step) options.on_step(text);
  };
  *comparison = {};
  Status status = CheckSettings(options);
  if (!status.ok()) return status;
  Plan plan;
  status = plan.cells.Fill(std::move(input), &comparison->replaced);
  if (!status.ok()) return status;
  comparison->rows = plan.cells.rows();
  comparison->cells = plan.cells.all().size();
  if (options.files < 1 || comparison->rows < options.files) {
    return Status::InvalidArgument(std::to_string(comparison->rows) +
                                   " rows do not fill " +
                                   std::to_string(options.files) + " files");
  }
  step("drawing operations");
  MakePlan(options, &plan);

  uint64_t stock_filter_bytes = 0;
  for (const Setting setting : options.settings) {
    const std::string name(ToString(setting));
    Database database(plan, setting);
    const std::filesystem::path path =
        std::filesystem::path(options.db_dir) / DirectoryName(setting);
    step(name + ": writing");
    status = database.Write(path.string(), stock_filter_bytes);
    if (!status.ok()) return status;
    if (setting == Setting::kStock) {
      stock_filter_bytes = database.result().filter_bytes;
    }
    step(name + ": counting");
    status = database.Count();
    if (status.ok() && options.measure_times) {
      step(name + ": timing");
      status = database.Time();
    }
    if (status.ok()) status = database.Close();
    if (!status.ok()) return status;
    comparison->settings.push_back(std::move(database.result()));
  }
  return Reconcile(comparison);
}

}  // namespace rowbloom::bench
