#include "bench/read_bench.h"

#include <fmt/format.h>

#include <algorithm>
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

// The place of a filter among the databases.
size_t IndexOf(const Databases& databases, Filter filter) {
  size_t i = 0;
  while (databases[i]->filter() != filter) ++i;
  return i;
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
// `files`, wasted reads, too.
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
  result->wasted_reads = opened - found;
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
// filters were probed for the same files.
Status Reconcile(const std::vector<Read>& reads, const Databases& databases,
                 ShapeResult* result) {
  for (const Read read : reads) {
    const ReadResult expected = (*result)[Filter::kStock][read];
    for (size_t i = 0; i < databases.size(); ++i) {
      const auto& database = databases[i];
      ReadResult* own = &result->filters[i][read];
      if (!database->HasFilter(read)) {
        own->operations = expected.operations;
        own->found = expected.found;
        own->files_considered = expected.files_considered;
        own->wasted_reads = expected.files_considered - expected.found;
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
Status CountFiles(const ReadPlan& plan, const std::vector<Read>& reads,
                  const Databases& databases, ShapeResult* result) {
  for (size_t i = 0; i < databases.size(); ++i) {
    for (const Read read : reads) {
      Status status = Count(databases[i].get(), read, 0,
                            OperationsToCount(plan, *databases[i], read),
                            /*files=*/true, &result->filters[i][read]);
      if (!status.ok()) return status;
    }
  }
  return Reconcile(reads, databases, result);
}

// Counts blocks alone, after as many operations that bring the cache into the
// state that this kind of read keeps it in.
Status CountBlocks(const ReadPlan& plan, const std::vector<Read>& reads,
                   const Databases& databases, ShapeResult* result) {
  for (size_t i = 0; i < databases.size(); ++i) {
    for (const Read read : reads) {
      const uint64_t some = std::max<uint64_t>(
          1, std::min<uint64_t>(4'000 / KeysOf(read),
                                plan.OperationsOf(read) / 2));
      ReadResult* own = &result->filters[i][read];
      Status status = Count(databases[i].get(), read, 0, some, false, own);
      if (status.ok()) {
        status = Count(databases[i].get(), read, some, 2 * some, false, own);
      }
      if (!status.ok()) return status;
    }
  }
  return Status::OK();
}

bool IsGet(Read read) {
  return read == Read::kGetPresent || read == Read::kGetAbsentRow ||
         read == Read::kGetAbsentColumn;
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

  // Looks up each of the keys of [begin, end) in each of the files in whose
  // range it lies; work is one for each answer. files[i] is of question i.
  Contender Ask(const std::vector<Question>& questions,
                const std::vector<std::vector<size_t>>& files) {
    return {"", [this, &questions, &files](uint64_t begin, uint64_t end,
                                           uint64_t* work) {
              for (uint64_t i = begin; i < end; ++i) {
                for (const size_t file : files[i]) {
                  passed_ += readers_[file]->MayMatch(questions[i].key) ? 1 : 0;
                }
                *work += files[i].size();
              }
              return Status::OK();
            }};
  }

 private:
  std::vector<std::string> filters_;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers_;
  uint64_t passed_ = 0;  // so that no answer goes unused
};

// The times of one kind of read. The places of databases in memory make their
// times differ by some percent. The order in which databases are opened decides
// their places. So they are timed in one order and in the other, and medians
// are of both.
class Timer {
 public:
  Timer(const ReadPlan& plan, const Databases& databases, Read read)
      : plan_(plan),
        databases_(databases),
        read_(read),
        turns_(Reads(), IndexOf(databases, Filter::kStock)),
        operation_nanos_(databases.size()) {}

  // Adds to what was measured.
  Status Time(double seconds) {
    TurnOptions options = {
        .operations = plan_.OperationsOf(read_),
        .turn = std::max<uint64_t>(1, kKeysOfTurn / KeysOf(read_)),
        .min_rounds = kRounds,
        .seconds = kShareOfTurns * seconds};
    Status status = turns_.Take(options);
    options.min_rounds = 1;
    options.seconds = (1 - kShareOfTurns) * seconds;
    // Their own times are left unused: reading the clock costs.
    if (status.ok()) {
      status = Turns(SingleReads(), IndexOf(databases_, Filter::kStock))
                   .Take(options);
    }
    return status;
  }

  // Adds the lookups in filters outside of the databases, if this is a get.
  Status TimeProbes(double seconds) {
    if (!IsGet(read_)) return Status::OK();
    const std::vector<Question>& questions = plan_.QuestionsOf(read_);
    // Filters get the first lookups only, again and again. A get of a cell that
    // exists makes fewer: those up to the file that has it.
    const uint64_t asked =
        std::min<uint64_t>(questions.size(), kProbedTurns * kKeysOfTurn);
    std::vector<std::vector<size_t>> files;
    for (uint64_t i = 0; i < asked; ++i) {
      files.push_back(plan_.FilesAround(questions[i].key));
    }
    std::vector<Probes> probes;
    std::vector<size_t> owners;
    for (size_t i = 0; i < databases_.size(); ++i) {
      if (databases_[i]->policy() == nullptr) continue;
      probes.emplace_back(*databases_[i]);
      owners.push_back(i);
    }
    std::vector<Contender> contenders;
    for (Probes& one : probes) {
      contenders.push_back(one.Ask(questions, files));
    }
    Turns turns(std::move(contenders));
    const Status status = turns.Take({.operations = asked,
                                      .turn = kKeysOfTurn,
                                      .min_rounds = kRounds,
                                      .seconds = seconds});
    probe_nanos_.assign(databases_.size(), 0);
    const std::vector<Measurement> results = turns.Results();
    for (size_t i = 0; i < owners.size(); ++i) {
      probe_nanos_[owners[i]] = results[i].cpu_nanos.value;
    }
    return status;
  }

  void Summarize(ShapeResult* result) const {
    const std::vector<Measurement> measured = turns_.Results();
    for (size_t i = 0; i < databases_.size(); ++i) {
      ReadResult* own = &result->filters[i][read_];
      own->turns = measured[i];
      own->median_us = Quantile(operation_nanos_[i], 0.5) / 1e3;
      own->p99_us = Quantile(operation_nanos_[i], 0.99) / 1e3;
      if (!probe_nanos_.empty()) own->probe_nanos = probe_nanos_[i];
    }
  }

 private:
  static constexpr uint64_t kKeysOfTurn = 512;
  static constexpr uint64_t kRounds = 6;  // and one that fills the caches
  static constexpr uint64_t kProbedTurns = 32;
  static constexpr double kShareOfTurns = 0.75;

  // A database without filters is so much slower that it would take most of
  // the time. Seven shares no factor with the numbers of contenders: it comes
  // after each of them.
  uint64_t Every(const ReadDatabase& database) const {
    return database.HasFilter(read_) ? 1 : 7;
  }

  std::vector<Contender> Reads() const {
    std::vector<Contender> contenders;
    for (const auto& database : databases_) {
      contenders.push_back(
          Repeat(std::string(ToString(database->filter())),
                 [read = read_, db = database.get()](uint64_t i) {
                   uint64_t found = 0;
                   return db->Run(read, i, &found);
                 }));
      contenders.back().every = Every(*database);
    }
    return contenders;
  }

  // Reads that keep the time of each operation.
  std::vector<Contender> SingleReads() {
    std::vector<Contender> contenders = Reads();
    for (size_t i = 0; i < databases_.size(); ++i) {
      contenders[i].run =
          Repeat("", [this, i](uint64_t operation) {
            uint64_t found = 0;
            const auto start = Clock::now();
            const Status status = databases_[i]->Run(read_, operation, &found);
            operation_nanos_[i].push_back(Nanos(Clock::now() - start));
            return status;
          }).run;
    }
    return contenders;
  }

  const ReadPlan& plan_;
  const Databases& databases_;
  const Read read_;
  Turns turns_;
  std::vector<std::vector<double>> operation_nanos_;  // by database
  std::vector<double> probe_nanos_;                   // by database, or empty
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

// The limits of claims, of the wasted reads of RocksDB.
constexpr double kShareForAbsentRows = 1.0 / 50;
constexpr double kShareOtherwise = 1.05;

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
    case Filter::kRow:
      return "rowbloom ROW";
  }
  return "unknown";
}

std::string_view DirectoryOf(Filter filter) {
  switch (filter) {
    case Filter::kNone:
      return "none";
    case Filter::kStockKey:
      return "stock_key";
    case Filter::kStock:
      return "stock";
    case Filter::kStockAgain:
      return "stock_again";
    case Filter::kStockRibbon:
      return "stock_ribbon";
    case Filter::kRowbloom:
      return "rowcol";
    case Filter::kRow:
      return "row";
  }
  return "unknown";
}

std::string ToString(const Tree& tree) {
  return tree.level0 == 0 ? "levels" : "l0x" + std::to_string(tree.level0);
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

double ReadResult::SkippedPercent() const {
  return files_considered == 0 ? 0
                               : 100.0 *
                                     static_cast<double>(files_considered -
                                                         wasted_reads - found) /
                                     static_cast<double>(files_considered);
}

double ReadResult::ProbePercent() const {
  const double nanos = turns.cpu_nanos.value;
  return nanos == 0 ? 0 : 100 * probe_nanos * ConsideredPerOperation() / nanos;
}

Status BenchReads(const Cells& cells, const ReadBenchOptions& options,
                  std::vector<ShapeResult>* results) {
  const auto step = [&options](const std::string& text) {
    if (options.on_step) {
      options.on_step(ToString(options.tree) + ": " + text);
    }
  };
  results->clear();
  if (std::find(options.filters.begin(), options.filters.end(),
                Filter::kStock) == options.filters.end()) {
    return Status::InvalidArgument(
        "RocksDB's filter, whose bytes the others get, is not among the "
        "filters");
  }
  step("drawing questions");
  ReadPlan plan;
  Status status = plan.Make(cells, options);
  if (!status.ok()) return status;

  Databases databases;
  for (const Filter filter : options.filters) {
    databases.push_back(std::make_unique<ReadDatabase>(plan, filter));
  }
  // The baseline first: its bytes are the limit of all others.
  const ReadDatabase& stock = *databases[IndexOf(databases, Filter::kStock)];
  for (const bool baseline : {true, false}) {
    for (const auto& database : databases) {
      if (!status.ok() || (database.get() == &stock) != baseline) continue;
      step(std::string(ToString(database->filter())) + ": writing");
      const std::filesystem::path path = std::filesystem::path(options.db_dir) /
                                         DirectoryOf(database->filter());
      status = database->Write(path.string(), stock.filter_bytes());
    }
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
  if (status.ok()) {
    status = CountFiles(plan, options.reads, databases, &cached);
  }
  if (!status.ok()) return status;

  for (const Caching caching : options.cachings) {
    ShapeResult result = cached;
    result.caching = caching;
    std::vector<std::unique_ptr<Timer>> timers;
    for (const Read read : options.reads) {
      timers.push_back(std::make_unique<Timer>(plan, databases, read));
    }
    for (const bool backwards : {false, true}) {
      if (opened != std::pair(caching, backwards)) {
        opened = {caching, backwards};
        status = OpenAll(databases, caching, backwards);
      }
      if (status.ok() && caching == Caching::kTenth && !backwards) {
        step("counting blocks");
        status = CountBlocks(plan, options.reads, databases, &result);
      }
      if (!status.ok()) return status;
      step(std::string(ToString(caching)) + ": timing" +
           (backwards ? ", opened backwards" : ""));
      for (const auto& timer : timers) {
        if (status.ok()) status = timer->Time(options.seconds / 2);
        if (status.ok() && caching == Caching::kAll && backwards) {
          status = timer->TimeProbes(options.seconds / 8);
        }
      }
      if (!status.ok()) return status;
    }
    result.cache_bytes = databases.front()->cache_bytes();
    for (const auto& timer : timers) timer->Summarize(&result);
    results->push_back(std::move(result));
  }
  return Status::OK();
}

std::vector<std::string> ClaimsThatAre(Verdict verdict,
                                       const ShapeResult& result) {
  std::vector<std::string> sentences;
  const ReadsOfFilter& stock = result[Filter::kStock];
  const ReadsOfFilter& rowbloom = result[Filter::kRowbloom];
  if ((rowbloom.filter_bytes > stock.filter_bytes
           ? Verdict::kMissed
           : Verdict::kHolds) == verdict) {
    sentences.push_back(
        "filters take " + std::to_string(rowbloom.filter_bytes) +
        " bytes, RocksDB's " + std::to_string(stock.filter_bytes));
  }
  for (const Read read : kAllReads) {
    const uint64_t wrong = rowbloom[read].wasted_reads;
    const uint64_t stock_wrong = stock[read].wasted_reads;
    const Estimate ratio = RatioOfCounts(wrong, stock_wrong);
    const double at_most =
        IsAbsentRow(read) ? kShareForAbsentRows : kShareOtherwise;
    // Reads of what one file has are never wasted, with whatever filter.
    if (wrong == 0 && stock_wrong == 0) continue;
    if (Judge(ratio, at_most) != verdict) continue;
    sentences.push_back(
        fmt::format("{}: {} wasted reads, RocksDB {}, a ratio of {:.4f} "
                    "({:.4f} to {:.4f}), "
                    "claimed is at most {}",
                    ToString(read), wrong, stock_wrong, ratio.value, ratio.low,
                    ratio.high, at_most));
  }
  return sentences;
}

}  // namespace rowbloom::bench
