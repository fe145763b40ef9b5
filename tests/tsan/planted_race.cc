// planted_race writes the same bytes in two threads on purpose. ThreadSanitizer
// has to report that with the suppressions of the other tests, in functions
// that RocksDB calls, too.
//
//   planted_race own|copy|filter|listener|merge|none
//
// "none" takes a mutex at each of the places, and nothing may be reported.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/table.h"
#include "rowbloom/open_db.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "tests/support/temp_dir.h"

namespace {

using rocksdb::Slice;

std::string kind;  // NOLINT

void Require(bool holds, const char* message) {
  if (holds) return;
  std::fprintf(stderr, "planted_race: %s\n", message);
  std::exit(1);
}

// Place is where two threads write the same bytes, one after the other. Relaxed
// atomics alone tell the second that the first has written, which is a race.
class Place {
 public:
  explicit Place(std::string_view name) : name_(name) {}

  void Visit() {
    if (kind != name_ && kind != "none") return;
    const int earlier = visits_.fetch_add(1, std::memory_order_relaxed);
    if (earlier == 0) AwaitAtLeast(2, visits_);
    if (earlier == 1) AwaitAtLeast(1, writes_);
    if (kind == "none") {
      const std::scoped_lock lock(mutex_);
      PlantedRace();
    } else {
      PlantedRace();
    }
    writes_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static void AwaitAtLeast(int count, const std::atomic<int>& counter) {
    while (counter.load(std::memory_order_relaxed) < count) {
      std::this_thread::yield();
    }
  }

  void PlantedRace() {
    if (name_ == "copy") {
      std::memcpy(bytes_, name_.data(), copied_.load());
    } else {
      ++bytes_[0];
    }
  }

  const std::string_view name_;
  // The compiler does not know the size, and so calls memcpy.
  std::atomic<size_t> copied_ = 4;
  std::mutex mutex_;
  std::atomic<int> visits_ = 0;
  std::atomic<int> writes_ = 0;
  char bytes_[8] = {};
};

Place own("own");            // NOLINT
Place copy("copy");          // NOLINT
Place filter("filter");      // NOLINT
Place listener("listener");  // NOLINT
Place merge("merge");        // NOLINT

class Joining final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "planted_race.Joining"; }
  bool Merge(const Slice& /*key*/, const Slice* existing, const Slice& value,
             std::string* joined, rocksdb::Logger* /*logger*/) const override {
    merge.Visit();
    if (existing != nullptr) *joined = existing->ToString();
    joined->append(value.data(), value.size());
    return true;
  }
};

class Listening final : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB* /*db*/,
                        const rocksdb::FlushJobInfo& /*info*/) override {
    listener.Visit();
    completed_.store(true, std::memory_order_relaxed);
  }
  bool completed() const { return completed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> completed_ = false;
};

class VisitingReader final : public rocksdb::FilterBitsReader {
 public:
  using FilterBitsReader::MayMatch;
  bool MayMatch(const Slice& /*entry*/) override {
    filter.Visit();
    return true;
  }
};

// The policy builds RocksDB's filters and reads them with VisitingReader.
class VisitingPolicy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return bloom_->Name(); }
  const char* CompatibilityName() const override {
    return bloom_->CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return bloom_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const Slice& /*contents*/) const override {
    return new VisitingReader;
  }

 private:
  std::unique_ptr<const rocksdb::FilterPolicy> bloom_{
      rocksdb::NewBloomFilterPolicy(10)};
};

void InTwoThreads(const std::function<void()>& run) {
  std::thread first(run);
  std::thread second(run);
  first.join();
  second.join();
}

void VisitAll() {
  InTwoThreads([] {
    own.Visit();
    copy.Visit();
  });

  const auto listening = std::make_shared<Listening>();
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::make_shared<VisitingPolicy>();
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<Joining>();
  options.listeners = {listening};
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const rowbloom::test::TempDir dir;
  std::unique_ptr<rocksdb::DB> db;
  Require(rocksdb::DB::Open(options, dir.File("db"), rowbloom::Into(&db)).ok(),
          "Open");

  Require(db->Put({}, "flushed", "1").ok(), "Put");
  rocksdb::FlushOptions flush;
  flush.wait = false;
  Require(db->Flush(flush).ok(), "Flush");
  listener.Visit();
  while (!listening->completed()) std::this_thread::yield();

  Require(db->Merge({}, "merged", "2").ok(), "Merge");
  InTwoThreads([&db] {
    std::string value;
    Require(db->Get({}, "flushed", &value).ok(), "Get of a flushed key");
    Require(db->Get({}, "merged", &value).ok(), "Get of a merged key");
  });
}

}  // namespace

int main(int argc, char** argv) {
  Require(argc == 2, "takes the place of the race");
  kind = argv[1];
  VisitAll();
  return 0;
}
