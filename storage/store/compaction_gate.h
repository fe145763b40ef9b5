// Keeps compactions apart from the ingestion of files, and from new rules.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/listener.h"

namespace rowbloom {

// Facts about a compaction.
struct BegunCompaction {
  bool has_snapshots = true;  // it may keep records for a snapshot
  int output_level = 0;
};

// Tracks the running compactions of a database, and can make new ones wait.
//
// Ingestion: RocksDB (7.8.3 to 11.8.1) looks for older values of an ingested
// file's keys in the files that readers see (ExternalSstFileIngestionJob::Run).
// If another thread writes the MANIFEST record of a flush or a compaction, the
// files change some time before readers see the new ones. A file that is
// ingested in between may be placed below older values, which then hide its
// own. If readers had no file, RocksDB reads past the end of an array. Once a
// compaction counts as completed here, readers see its files.
//
// Rules: a compaction removes versions by the rules of its beginning, but wider
// rules may make them visible again meanwhile.
//
// Thread-safe.
class CompactionGate final : public rocksdb::EventListener {
 public:
  using FamilyIds = std::vector<uint32_t>;
  // The limit of a WaitForNone before Closed. Writes wait for Closed, too.
  static constexpr std::chrono::seconds kLongestWait{30};

  // `background_jobs` bounds the compactions that run at one time.
  explicit CompactionGate(size_t background_jobs) {
    running_.reserve(2 * background_jobs);
  }

  // Waits until no compaction of the families runs, for at most `longest`.
  void WaitForNone(const FamilyIds& families,
                   std::chrono::steady_clock::duration longest) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [&] { return NoneRuns(families); });
  }

  // While it lives, no compaction of the families runs: it waits for running
  // ones, and new ones wait for it. REQUIRES that there is one at a time.
  class Closed {
   public:
    Closed(CompactionGate* gate, FamilyIds families) : gate_(gate) {
      std::unique_lock lock(gate_->mutex_);
      gate_->closed_ = std::move(families);
      gate_->changed_.wait(lock,
                           [this] { return gate_->NoneRuns(gate_->closed_); });
    }
    ~Closed() {
      const std::lock_guard lock(gate_->mutex_);
      gate_->closed_.clear();
      gate_->changed_.notify_all();
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    CompactionGate* const gate_;
  };

  // Returns the facts of the compaction that this thread has begun; in other
  // threads, and in a second call, the default.
  static BegunCompaction TakeBegun() { return std::exchange(begun_, {}); }

  // RocksDB calls these without a lock. Each begin is followed by a completion,
  // unless the database is closing.
  void OnCompactionBegin(rocksdb::DB* database,
                         const rocksdb::CompactionJobInfo& info) override {
    // RocksDB has just listed the snapshots. One that is released since then,
    // as in the wait below, still has its records kept.
    uint64_t snapshots = 0;
    begun_.has_snapshots =
        database == nullptr ||
        !database->GetIntProperty(rocksdb::DB::Properties::kNumSnapshots,
                                  &snapshots) ||
        snapshots > 0;
    begun_.output_level = info.output_level;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !Has(closed_, info.cf_id); });
    running_.push_back(info.cf_id);
  }
  void OnCompactionCompleted(rocksdb::DB* /*database*/,
                             const rocksdb::CompactionJobInfo& info) override {
    const std::lock_guard lock(mutex_);
    running_.erase(std::ranges::find(running_, info.cf_id));
    changed_.notify_all();
  }

 private:
  static bool Has(const FamilyIds& ids, uint32_t id) {
    return std::ranges::find(ids, id) != ids.end();
  }
  bool NoneRuns(const FamilyIds& families) const {
    return std::ranges::none_of(
        running_, [&](uint32_t family) { return Has(families, family); });
  }

  static inline thread_local BegunCompaction begun_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // The mutex guards these:
  FamilyIds running_;  // the family of each compaction
  FamilyIds closed_;   // the families of which none may begin
};

}  // namespace rowbloom
