// Opens the databases of RocksDB's own stress test, db_stress, with rowbloom's
// filters and the front filter. It is linked into that program, where its
// DB::Open takes the place of the library's. db_stress compares what it reads
// with what it wrote. See rocksdb_stress.sh.
#include <dlfcn.h>
#include <gflags/gflags.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"

// db_stress has these flags.
DECLARE_int32(prefix_size);
#if ROCKSDB_MAJOR < 8
#define FLAGS_bloom_before_level FLAGS_ribbon_starting_level
DECLARE_int32(ribbon_starting_level);
#else
DECLARE_int32(bloom_before_level);
#endif
DECLARE_bool(use_txn);

namespace rowbloom {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::DBOptions;
using rocksdb::Status;

// The size of the shortest keys of db_stress.
constexpr int kKeyBytes = 8;
// A level that no file has.
constexpr int kNoLevel = 999;

// Keeps the front filters of all openings. A thread prints what they did until
// the process ends, which is mostly killed. The script of RocksDB 7.8 shows its
// standard error then, and that of 11.8 takes any for a failure.
class Filters {
 public:
  Filters() {
    std::thread([this] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        Print();
      }
    }).detach();
  }

  void Add(std::shared_ptr<FrontFilter> filter) {
    const std::scoped_lock lock(mutex_);
    filters_.push_back(std::move(filter));
  }

 private:
  void Print() {
    const std::scoped_lock lock(mutex_);
    FrontFilterCounts sum;
    for (const auto& filter : filters_) {
      const FrontFilterStats stats = filter->Stats();
      sum.asked += stats.asked;
      sum.answered += stats.answered;
    }
    std::FILE* const output = ROCKSDB_MAJOR < 11 ? stderr : stdout;
    std::fprintf(output, "rowbloom: %zu front filters answered %lu of %lu\n",
                 filters_.size(), static_cast<unsigned long>(sum.answered),
                 static_cast<unsigned long>(sum.asked));
    std::fflush(output);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<FrontFilter>> filters_;
};

Filters& AllFilters() {
  static auto* const filters = new Filters;
  return *filters;
}

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rowbloom: %s\n", status.ToString().c_str());
  std::abort();
}

// Gives a family rowbloom's filters in the place of its own. db_stress seeks in
// rows if it has a prefix size, which is that of the rows then.
void UseRowFilters(rocksdb::ColumnFamilyOptions* family) {
  const auto* const table =
      family->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) return;
  rocksdb::BlockBasedTableOptions own = *table;
  own.filter_policy = nullptr;
  family->table_factory.reset(rocksdb::NewBlockBasedTableFactory(own));
  family->prefix_extractor = nullptr;
  const bool seeks = FLAGS_prefix_size > 0;
  Require(ConfigureRowFilters(
      {.key_layout = KeyLayout::FixedRow(
           static_cast<uint32_t>(seeks ? FLAGS_prefix_size : kKeyBytes)),
       .kind = FLAGS_bloom_before_level < kNoLevel ? FilterKind::kRibbon
                                                   : FilterKind::kBloom},
      family));
  if (!seeks) family->prefix_extractor = nullptr;
}

// The output of DB::Open.
#if ROCKSDB_MAJOR < 11
using Opened = DB*;
#else
using Opened = std::unique_ptr<DB>;
#endif
using Opening = Status(const DBOptions&, const std::string&,
                       const std::vector<ColumnFamilyDescriptor>&,
                       std::vector<ColumnFamilyHandle*>*, Opened*);

// The function of the library. The one below has its name.
Opening* InLibrary() {
  Dl_info here;
  const auto own = reinterpret_cast<void*>(static_cast<Opening*>(&DB::Open));
  if (dladdr(own, &here) == 0 || here.dli_sname == nullptr) std::abort();
  return reinterpret_cast<Opening*>(dlsym(RTLD_NEXT, here.dli_sname));
}

Status OpenWithFilters(DBOptions options, const std::string& path,
                       std::vector<ColumnFamilyDescriptor> families,
                       std::vector<ColumnFamilyHandle*>* handles, Opened* db) {
  static Opening* const in_library = InLibrary();
  for (ColumnFamilyDescriptor& family : families) {
    UseRowFilters(&family.options);
  }
  // RocksDB's transactions want its own database.
  if (FLAGS_use_txn) {
    return in_library(options, path, families, handles, db);
  }
  std::shared_ptr<FrontFilter> filter;
  Require(FrontFilter::Create({.bypass = false}, &filter));
  for (ColumnFamilyDescriptor& family : families) {
    Require(filter->Prepare(&options, &family.options));
  }
  const Status s = in_library(options, path, families, handles, db);
  if (!s.ok()) return s;
  Require(filter->Attach(&**db, *handles));
  AllFilters().Add(filter);
  std::unique_ptr<DB> own(std::move(*db));
  *db = Opened(new FrontFilterDB(std::move(own), std::move(filter)));
  return s;
}

}  // namespace
}  // namespace rowbloom

rocksdb::Status rocksdb::DB::Open(
    const DBOptions& options, const std::string& path,
    const std::vector<ColumnFamilyDescriptor>& families,
    std::vector<ColumnFamilyHandle*>* handles, rowbloom::Opened* db) {
  return rowbloom::OpenWithFilters(options, path, families, handles, db);
}
