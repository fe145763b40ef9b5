#include "bench/read_bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "bench/read_bench_database.h"
#include "bench/read_bench_plan.h"
#include "bench/turns.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

using Databases = std::vector<std::unique_ptr<ReadDatabase>>;
using Clock = std::chrono::steady_clock;

size_t IndexOf(Filter filter) { return static_cast<size_t>(filter); }

double Nanos(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

class PerfLevelGuard {
 public:
  explicit PerfLevelGuard(rocksdb::PerfLevel level) {
    rocksdb::SetPerfLevel(level);
    rocksdb::get_perf_context()->Reset();
  }
  ~PerfLevelGuard() { rocksdb::SetPerfLevel(rocksdb::kDisable); }
  PerfLevelGuard(const PerfLevelGuard&) = delete;
  PerfLevelGuard& operator=(const PerfLevelGuard&) = delete;
};

uint64_t BlocksRead(const rocksdb::PerfContext& counters) {
  return counters.block_read_count;
}
uint64_t BlocksAsked(const rocksdb::PerfContext& counters) {
  return counters.block_read_count + counters.block_cache_hit_count;
}

// Runs operations [begin, end) and fills in the blocks that they took; with
// `files`, wrong opens, too.
Status Count(ReadDatabase* database, Read read, uint64_t begin, uint64_t end,
             bool files, ReadResult* result) {
  const PerfLevelGuard guard(rocksdb::kEnableCount);
  uint64_t found = 0;
  for (uint64_t i = begin; i < end; ++i) {
    Status status = database->Run(read, i, &found);
    if (!status.ok()) return status;
  }
  const rocksdb::PerfContext& counters = *rocksdb::get_perf_context();
  const auto operations = static_cast<double>(end - begin);
  result->blocks = static_cast<double>(BlocksAsked(counters)) / operations;
  result->blocks_read = static_cast<double>(BlocksRead(counters)) / operations;
  if (!files) return Status::OK();
  result->operations = end - begin;
  result->found = found;
  if (!database->HasFilter(read)) return Status::OK();
  const uint64_t opened = counters.bloom_sst_hit_count;
  if (opened < found) {
    return Status::Corruption(std::string(ToString(database->filter())) + ", " +
                              std::string(ToString(read)) +
                              ": filters let fewer files pass than held the "
                              "answers, so that they were not always asked");
  }
  result->files_considered = opened + counters.bloom_sst_miss_count;
  result->wrong_opens = opened - found;
  return Status::OK();
}

// Without a filter every file that is considered is opened, so that a part of
// the operations tells how many blocks that takes.
uint64_t OperationsToCount(const ReadPlan& plan, const ReadDatabase& database,
                           Read read) {
  const uint64_t all = plan.OperationsOf(read);
  return database.HasFilter(read) ? all : std::max<uint64_t>(1, all / 10);
}

// Fills in what RocksDB does not count without a filter, and checks that all
// filters were asked about the same files.
Status Reconcile(const Databases& databases, ShapeResult* result) {
  for (const Read read : kAllReads) {
    const ReadResult expected = (*result)[Filter::kStock][read];
    for (const auto& database : databases) {
      ReadResult* own = &result->filters[IndexOf(database->filter())][read];
      if (!database->HasFilter(read)) {
        own->operations = expected.operations;
        own->found = expected.found;
        own->files_considered = expected.files_considered;
        own->wrong_opens = expected.files_considered - expected.found;
      } else if (own->files_considered != expected.files_considered ||
                 own->found != expected.found) {
        return Status::Corruption(std::string(ToString(database->filter())) +
                                  ", " + std::string(ToString(read)) + ": " +
                                  std::to_string(own->files_considered) +
                                  " files were considered, and " +
                                  std::to_string(expected.files_considered) +
                                  " with " +
                                  std::string(ToString(Filter::kStock)));
      }
    }
  }
  return Status::OK();
}

// Counts with everything cached.
Status CountFiles(const ReadPlan& plan, const Databases& databases,
                  ShapeResult* result) {
  for (const auto& database : databases) {
    for (const Read read : kAllReads) {
      Status status = Count(
          database.get(), read, 0, OperationsToCount(plan, *database, read),
          /*files=*/true, &result->filters[IndexOf(database->filter())][read]);
      if (!status.ok()) return status;
    }
  }
  return Reconcile(databases, result);
}

// Counts blocks alone, after as many operations that bring the cache into the
// state that this kind of read keeps it in.
Status CountBlocks(const ReadPlan& plan, const Databases& databases,
                   ShapeResult* result) {
  for (const auto& database : databases) {
    for (const Read read : kAllReads) {
      const uint64_t some = std::max<uint64_t>(
          1, std::min<uint64_t>(4'000 / KeysOf(read),
                                plan.OperationsOf(read) / 2));
      ReadResult* own = &result->filters[IndexOf(database->filter())][read];
      Status status = Count(database.get(), read, 0, some, false, own);
      if (status.ok()) {
        status = Count(database.get(), read, some, 2 * some, false, own);
      }
      if (!status.ok()) return status;
    }
  }
  return Status::OK();
}

// The filters of one database by themselves.
class Probes {
 public:
  explicit Probes(const ReadDatabase& database)
      : filters_(database.BuildFilters()) {
    for (const std::string& filter : filters_) {
      readers_.emplace_back(database.policy()->GetFilterBitsReader(filter));
    }
  }

  // Processor time of a question about each of the keys to each of the files
  // in whose range it lies. files[i] is of question i.
  double NanosPerQuestion(const std::vector<Question>& questions,
                          const std::vector<std::vector<size_t>>& files,
                          uint64_t begin, uint64_t end) {
    uint64_t asked = 0;
    uint64_t passed = 0;
    const double start = CpuNanos();
    for (uint64_t i = begin; i < end; ++i) {
      for (const size_t file : files[i]) {
        passed += readers_[file]->MayMatch(questions[i].key) ? 1 : 0;
        ++asked;
      }
    }
    const double took = CpuNanos() - start;
    passed_ += passed;  // so that no answer goes unused
    return asked == 0 ? 0 : took / static_cast<double>(asked);
  }
  bool empty() const { return readers_.empty(); }
  uint64_t passed() const { return passed_; }

 private:
  std::vector<std::string> filters_;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers_;
  uint64_t passed_ = 0;
};

bool IsGet(Read read) {
  return read == Read::kGetPresent || read == Read::kGetAbsentRow ||
         read == Read::kGetAbsentColumn;
}

uint64_t OperationsOfTurn(Read read) { return 512 / KeysOf(read); }

struct Samples {
  std::vector<double> operation_nanos;
  std::vector<double> cpu_nanos;  // of an operation; one for each turn
  std::vector<double> cpu_ratios;
  std::vector<double> wall_ratios;
  std::vector<double> probe_nanos;
};

struct Turn {
  bool taken = false;
  double cpu = 0;
  double wall = 0;
};

// The places of databases in memory make their times differ by some percent.
// The order in which databases are opened decides their places. So they are
// timed in one order and in the other, and medians are of both.
class Timer {
 public:
  Timer(const ReadPlan& plan, const Databases& databases)
      : plan_(plan), databases_(databases) {
    for (auto& samples : all_samples_) samples.resize(databases.size());
  }

  // Builds the filters for questions outside of the databases.
  void PrepareProbes() {
    probes_.clear();
    for (const auto& database : databases_) probes_.emplace_back(*database);
  }

  // Adds to what was measured of this kind of read.
  Status Time(Read read, double seconds) {
    samples_ = &all_samples_[static_cast<size_t>(read)];
    const uint64_t turn =
        std::min(OperationsOfTurn(read), plan_.OperationsOf(read));
    const uint64_t turns = plan_.OperationsOf(read) / turn;
    PrepareFiles(read, turn * std::min(turns, kProbedTurns));
    const auto start = Clock::now();
    for (uint64_t round = 0;
         round < kRounds || Nanos(Clock::now() - start) < seconds * 1e9;
         ++round) {
      const uint64_t begin = round % turns * turn;
      // Counted apart, so that places are dealt out evenly in both.
      const uint64_t fourths = round / 4;
      Status status = round % 4 == 3
                          ? TimeOperations(read, begin, turn, fourths)
                          : TimeTurns(read, begin, turn, round - fourths);
      if (!status.ok()) return status;
    }
    return Status::OK();
  }

  void Summarize(ShapeResult* result) const {
    for (const Read read : kAllReads) {
      for (size_t i = 0; i < databases_.size(); ++i) {
        const Samples& samples = all_samples_[static_cast<size_t>(read)][i];
        ReadResult* own = &result->filters[i][read];
        own->median_us = Median(samples.operation_nanos) / 1e3;
        own->p99_us = Quantile(samples.operation_nanos, 0.99) / 1e3;
        own->cpu_us = Median(samples.cpu_nanos) / 1e3;
        own->cpu_ratio = Median(samples.cpu_ratios);
        own->wall_ratio = Median(samples.wall_ratios);
        own->probe_nanos = Median(samples.probe_nanos);
      }
    }
  }

 private:
  // At least so many, the first of which fills the caches.
  static constexpr uint64_t kRounds = 16;
  // Filters are asked the questions of the first turns only, again and again.
  static constexpr uint64_t kProbedTurns = 32;

  void PrepareFiles(Read read, uint64_t operations) {
    files_.clear();
    if (probes_.empty() || !IsGet(read)) return;
    // A get of a cell that exists asks fewer: those up to the one that has it.
    for (uint64_t i = 0; i < operations; ++i) {
      files_.push_back(plan_.FilesAround(plan_.QuestionsOf(read)[i].key));
    }
  }

  // A database without filters is so much slower that it would take most of
  // the time.
  static bool TakesPart(const ReadDatabase& database, Read read,
                        uint64_t round) {
    return database.HasFilter(read) || round % 7 == 2;
  }

  Status TimeTurns(Read read, uint64_t begin, uint64_t operations,
                   uint64_t round) {
    std::vector<Turn> turns(databases_.size());
    for (size_t place = 0; place < databases_.size(); ++place) {
      const size_t i = ContenderAt(place, round, databases_.size());
      if (!TakesPart(*databases_[i], read, round)) continue;
      uint64_t found = 0;
      const auto wall = Clock::now();
      const double cpu = CpuNanos();
      for (uint64_t op = begin; op < begin + operations; ++op) {
        Status status = databases_[i]->Run(read, op, &found);
        if (!status.ok()) return status;
      }
      turns[i] = {true, CpuNanos() - cpu, Nanos(Clock::now() - wall)};
      if (!files_.empty() && !probes_[i].empty()) {
        const uint64_t from = begin % files_.size();
        (*samples_)[i].probe_nanos.push_back(probes_[i].NanosPerQuestion(
            plan_.QuestionsOf(read), files_, from, from + operations));
      }
    }
    if (round == 0) return Status::OK();
    const Turn& base = turns[IndexOf(Filter::kStock)];
    for (size_t i = 0; i < databases_.size(); ++i) {
      if (!turns[i].taken) continue;
      (*samples_)[i].cpu_nanos.push_back(turns[i].cpu /
                                         static_cast<double>(operations));
      (*samples_)[i].cpu_ratios.push_back(turns[i].cpu / base.cpu);
      (*samples_)[i].wall_ratios.push_back(turns[i].wall / base.wall);
    }
    return Status::OK();
  }

  Status TimeOperations(Read read, uint64_t begin, uint64_t operations,
                        uint64_t round) {
    for (size_t place = 0; place < databases_.size(); ++place) {
      const size_t i = ContenderAt(place, round, databases_.size());
      if (!TakesPart(*databases_[i], read, round)) continue;
      uint64_t found = 0;
      auto last = Clock::now();
      for (uint64_t op = begin; op < begin + operations; ++op) {
        Status status = databases_[i]->Run(read, op, &found);
        if (!status.ok()) return status;
        const auto now = Clock::now();
        (*samples_)[i].operation_nanos.push_back(Nanos(now - last));
        last = now;
      }
    }
    return Status::OK();
  }

  const ReadPlan& plan_;
  const Databases& databases_;
  // By read and database.
  std::array<std::vector<Samples>, kAllReads.size()> all_samples_;
  std::vector<Samples>* samples_ = nullptr;  // of these, the present read's
  std::vector<Probes> probes_;               // by database
  std::vector<std::vector<size_t>> files_;   // by question
};

Status OpenAll(const Databases& databases, Caching caching, bool backwards) {
  for (const auto& database : databases) {
    const Status status = database->Close();
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < databases.size(); ++i) {
    const auto& database = databases[backwards ? databases.size() - 1 - i : i];
    Status status = database->Open(caching);
    if (status.ok() && caching == Caching::kAll) status = database->Warm();
    if (!status.ok()) return status;
  }
  return Status::OK();
}

constexpr uint64_t kShareForAbsentRows = 50;

bool IsAbsentRow(Read read) {
  return read == Read::kGetAbsentRow || read == Read::kBatchAbsentRow ||
         read == Read::kColumnsAbsentRow;
}

}  // namespace

std::string_view ToString(Filter filter) {
  switch (filter) {
    case Filter::kNone:
      return "none";
    case Filter::kStockKey:
      return "stock Bloom, key";
    case Filter::kStock:
      return "stock Bloom, prefix + key";
    case Filter::kStockAgain:
      return "the same again";
    case Filter::kStockRibbon:
      return "stock Ribbon, prefix + key";
    case Filter::kRowbloom:
      return "rowbloom ROWCOL";
  }
  return "unknown";
}

std::string_view ToString(Tree tree) {
  switch (tree) {
    case Tree::kOneFile:
      return "l0x1";
    case Tree::kEight:
      return "l0x8";
    case Tree::kThirtyTwo:
      return "l0x32";
    case Tree::kFiveLevels:
      return "levels";
  }
  return "unknown";
}

size_t SortedRuns(Tree tree) {
  switch (tree) {
    case Tree::kOneFile:
      return 1;
    case Tree::kEight:
      return 8;
    case Tree::kThirtyTwo:
      return 32;
    case Tree::kFiveLevels:
      return 5;
  }
  return 1;
}

std::string_view ToString(Caching caching) {
  return caching == Caching::kAll ? "cached" : "tenth";
}

std::string_view ToString(Read read) {
  switch (read) {
    case Read::kGetPresent:
      return "get, present cell";
    case Read::kGetAbsentRow:
      return "get, absent row";
    case Read::kGetAbsentColumn:
      return "get, absent column";
    case Read::kScanAbsentRow:
      return "row scan, absent row";
    case Read::kBatchPresent:
      return "multiget 32, present";
    case Read::kBatchAbsentRow:
      return "multiget 32, absent rows";
    case Read::kColumnsPresent:
      return "10 columns, present row";
    case Read::kColumnsAbsentRow:
      return "10 columns, absent row";
  }
  return "unknown";
}

double ReadResult::ConsideredPerOperation() const {
  return operations == 0 ? 0
                         : static_cast<double>(files_considered) /
                               static_cast<double>(operations);
}

double ReadResult::ProbePercent() const {
  return cpu_us == 0
             ? 0
             : 100 * probe_nanos * ConsideredPerOperation() / (1e3 * cpu_us);
}

Status BenchReads(const Cells& cells, const ReadBenchOptions& options,
                  std::vector<ShapeResult>* results) {
  const auto step = [&options](const std::string& text) {
    if (options.on_step) {
      options.on_step(std::string(ToString(options.tree)) + ": " + text);
    }
  };
  results->clear();
  step("drawing questions");
  ReadPlan plan;
  Status status = plan.Make(cells, options);
  if (!status.ok()) return status;

  Databases databases;
  for (const Filter filter : kAllFilters) {
    databases.push_back(std::make_unique<ReadDatabase>(plan, filter));
  }
  // The baseline first: its bytes are the limit of all others.
  const auto write = [&](Filter filter) {
    step(std::string(ToString(filter)) + ": writing");
    const std::filesystem::path path =
        std::filesystem::path(options.db_dir) /
        ("filter" + std::to_string(IndexOf(filter)));
    return databases[IndexOf(filter)]->Write(
        path.string(), databases[IndexOf(Filter::kStock)]->filter_bytes());
  };
  status = write(Filter::kStock);
  for (const Filter filter : kAllFilters) {
    if (status.ok() && filter != Filter::kStock) status = write(filter);
  }
  if (!status.ok()) return status;

  ShapeResult cached;
  cached.tree = options.tree;
  cached.files = plan.files().size();
  for (const auto& database : databases) {
    cached.filters.push_back({.filter = database->filter(),
                              .bits_per_key = database->bits_per_key(),
                              .filter_bytes = database->filter_bytes(),
                              .reads = {}});
  }
  step("counting");
  auto opened = std::pair(Caching::kAll, /*backwards=*/false);
  status = OpenAll(databases, opened.first, opened.second);
  if (status.ok()) status = CountFiles(plan, databases, &cached);
  if (!status.ok()) return status;

  for (const Caching caching : options.cachings) {
    ShapeResult result = cached;
    result.caching = caching;
    Timer timer(plan, databases);
    for (const bool backwards : {false, true}) {
      if (opened != std::pair(caching, backwards)) {
        opened = {caching, backwards};
        status = OpenAll(databases, caching, backwards);
      }
      if (status.ok() && caching == Caching::kTenth && !backwards) {
        step("counting blocks");
        status = CountBlocks(plan, databases, &result);
      }
      if (!status.ok()) return status;
      if (caching == Caching::kAll) timer.PrepareProbes();
      step(std::string(ToString(caching)) + ": timing" +
           (backwards ? ", opened backwards" : ""));
      for (const Read read : kAllReads) {
        if (status.ok()) status = timer.Time(read, options.seconds / 2);
      }
      if (!status.ok()) return status;
    }
    result.cache_bytes = databases.front()->cache_bytes();
    timer.Summarize(&result);
    results->push_back(std::move(result));
  }
  return Status::OK();
}

std::vector<std::string> BrokenClaims(const ShapeResult& result) {
  std::vector<std::string> broken;
  const FilterResult& stock = result[Filter::kStock];
  const FilterResult& rowbloom = result[Filter::kRowbloom];
  if (rowbloom.filter_bytes > stock.filter_bytes) {
    broken.push_back("filters take " + std::to_string(rowbloom.filter_bytes) +
                     " bytes, RocksDB's " + std::to_string(stock.filter_bytes));
  }
  for (const Read read : kAllReads) {
    const uint64_t wrong = rowbloom[read].wrong_opens;
    const uint64_t stock_wrong = stock[read].wrong_opens;
    const std::string counts =
        std::string(ToString(read)) + ": " + std::to_string(wrong) +
        " wrong opens, RocksDB " + std::to_string(stock_wrong);
    if (!IsAbsentRow(read)) {
      if (100 * wrong > 105 * stock_wrong) {
        broken.push_back(counts + ", claimed are at most 1.05 times of that");
      }
    } else if (stock_wrong < kShareForAbsentRows) {
      broken.push_back(counts + ", too few to tell");
    } else if (kShareForAbsentRows * wrong > stock_wrong) {
      broken.push_back(counts + ", claimed is at most 1/50 of that");
    }
  }
  return broken;
}

}  // namespace rowbloom::bench
