// A file system that fails when it is told to: at one call, at some reads, by
// giving back the bytes of a filter block with damage, or for good, as when the
// power is cut.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "tests/support/disk.h"
#include "tests/support/random.h"

namespace rowbloom::test {

// A plan of the calls that fail. Thread-safe; until one is set nothing fails.
class FaultPlan {
 public:
  enum class Kind {
    kIoError,    // any call fails
    kRetryable,  // so, and RocksDB may go on by itself
    kNoSpace,    // only those that take space on the disk do, and are counted
    // All fail but reads, and those that change files or sync them are counted.
    // A read tells nothing about the disk, and RocksDB 7.8.3 stops with an
    // assertion if one fails while it takes over a file.
    kPowerCut,
  };
  // The effect of a call on the disk.
  enum class Effect {
    kNone,
    kChange,
    kTakesSpace,  // is a change, and a full disk may refuse it
  };

  explicit FaultPlan(uint64_t seed = 0) : random_(seed) {}

  // Lets call number `call` from now on fail (the next is 1), and with
  // `for_good` all that follow. A failed append has written the first half of
  // its data.
  void FailCall(uint64_t call, bool for_good, Kind kind = Kind::kIoError);
  // Lets change number `change` from now on fail (the next is 1), and all calls
  // that follow.
  void CutPowerAt(uint64_t change) {
    FailCall(change, /*for_good=*/true, Kind::kPowerCut);
  }
  // Lets all calls succeed from now on.
  void FailNoCall();
  // One of `n` reads of files fails on average.
  void FailReadsOneIn(uint64_t n) { fail_reads_one_in_ = n; }
  // One of `n` filter blocks that are read comes with a wrong bit, with zeros
  // in place of some bytes, cut short, or not at all. Rowbloom's blocks only:
  // RocksDB's own have nothing that tells.
  void DamageFiltersOneIn(uint64_t n) { damage_one_in_ = n; }

  bool is_power_cut() const { return kind_ == Kind::kPowerCut; }
  uint64_t calls() const { return calls_; }
  uint64_t faults() const { return faults_; }
  uint64_t damages() const { return damages_; }

  // The files of FaultFileSystem call these. Each returns what the call shall.
  rocksdb::IOStatus Call(const char* what, Effect effect = Effect::kNone);
  rocksdb::IOStatus Read();
  // `result` is what was read; `scratch` its buffer.
  rocksdb::IOStatus Damage(rocksdb::Slice* result, char* scratch);

 private:
  bool OneIn(uint64_t n);
  uint64_t Below(uint64_t bound);

  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> faults_{0};
  std::atomic<uint64_t> damages_{0};
  std::atomic<uint64_t> fail_from_{UINT64_MAX};  // these calls: [from, to)
  std::atomic<uint64_t> fail_to_{UINT64_MAX};
  std::atomic<Kind> kind_{Kind::kIoError};
  std::atomic<uint64_t> fail_reads_one_in_{0};  // 0: none
  std::atomic<uint64_t> damage_one_in_{0};
  std::mutex mutex_;
  test::Random random_;  // guarded by mutex_
};

// The default file system, under a plan, which must outlive it, as must `disk`,
// which is told of each call unless it is nullptr. No call waits for the disk,
// which takes most of the time otherwise: it is not this machine that dies.
std::unique_ptr<rocksdb::Env> NewFaultEnv(FaultPlan* plan,
                                          Disk* disk = nullptr);

}  // namespace rowbloom::test
