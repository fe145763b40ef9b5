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

#include "rocksdb/listener.h"

namespace rowbloom {

// Knows which compactions of a database run, and can keep new ones waiting.
//
// Ingestion: RocksDB (7.8.3 to 11.8.1) looks for older values of an ingested
// file's keys in the files that readers have
// (ExternalSstFileIngestionJob::Run). A flush or a compaction whose record of
// the MANIFEST another thread wrote changes the files some time before readers
// have the new ones. A file that is ingested in between may get a place below
// older values, which then hide its own; and where readers had no file, RocksDB
// reads past an array. When a compaction counts as completed here, readers have
// its files.
//
// Rules: a compaction removes what the rules of its beginning rule out, which
// wider ones may show again meanwhile.
//
// Thread-safe.
class CompactionGate final : public rocksdb::EventListener {
 public:
  using FamilyIds = std::vector<uint32_t>;
  // The longest time for WaitForNone before Closed, for which writes wait, too.
  static constexpr std::chrono::seconds kLongestWait{30};

  // `background_jobs` bounds the compactions that run at one time.
  explicit CompactionGate(size_t background_jobs) {
    running_.reserve(2 * background_jobs);
  }

  // Waits until no compaction of the families runs, but no longer than this.
  void WaitForNone(const FamilyIds& families,
                   std::chrono::steady_clock::duration longest) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [&] { return NoneRuns(families); });
  }

  // As long as it lives, no compaction of the families runs: it waits for those
  // that do, and others wait for it. REQUIRES that there is one at a time.
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

  // RocksDB calls these without a lock, the second one after each first one
  // unless the database is closing.
  void OnCompactionBegin(rocksdb::DB* /*database*/,
                         const rocksdb::CompactionJobInfo& info) override {
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

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex, as are:
  FamilyIds running_;  // the family of each compaction
  FamilyIds closed_;   // the families of which none may begin
};

}  // namespace rowbloom
