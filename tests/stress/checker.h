// Reads a database in every way that asks filters, and compares the answers
// with a model and with reads that ask no filter.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/slice_transform.h"
#include "tests/stress/model.h"
#include "tests/stress/report.h"
#include "tests/support/random.h"

namespace rowbloom::stress {

// What a read may answer beside the right answer.
enum class Errors { kNone, kIoErrorOrCorruption };

// As thread-safe as the database. Wrong answers go to the report. With a
// snapshot the worlds are those of its time.
class Checker {
 public:
  struct Setting {
    rocksdb::DB* db = nullptr;
    const rocksdb::SliceTransform* extractor = nullptr;  // may be null
    Report* report = nullptr;
    Errors errors = Errors::kNone;
    bool verify_checksums = true;
    const rocksdb::Snapshot* snapshot = nullptr;
    // Counts the faults of the file system, if it has any. An iterator that
    // met one is not compared: RocksDB's end early at times, or leave keys out,
    // and report success, without any filter (seen with 7.8.3; for DeleteRange
    // alone it was fixed in 8.7).
    const std::atomic<uint64_t>* faults = nullptr;
  };
  explicit Checker(const Setting& setting) : setting_(setting) {}

  // The key's value, or that it is absent. With `twice`, once more with an
  // iterator, which no filter touches.
  void Get(const Worlds& worlds, const std::string& key, bool twice) const;
  void MultiGet(const Worlds& worlds,
                const std::vector<std::string>& keys) const;

  // All or some keys with the extractor's prefix of `key`, in a random
  // direction and mode. Nothing, where the prefix is not one of the share's,
  // that is, does not start with `share_prefix`.
  void PrefixScan(const Worlds& worlds, const std::string& key,
                  const std::string& share_prefix, test::Random* random) const;

  // All keys from `begin` to before `end`, by an iterator without filter.
  void TotalOrderScan(const Worlds& worlds, const std::string& begin,
                      const std::string& end) const;

 private:
  using Run = std::vector<std::pair<std::string, std::string>>;

  rocksdb::ReadOptions Options() const;
  uint64_t FaultsSoFar() const;
  // Whether there is an answer to compare. An error that may not be is a
  // divergence. Iterators say how many faults there were before.
  bool Answered(const rocksdb::Status& status, const char* what,
                const std::string& key) const;
  bool IteratorAnswered(const rocksdb::Status& status, const char* what,
                        const std::string& key, uint64_t faults_before) const;
  void CompareValue(const Worlds& worlds, const char* what,
                    const std::string& key, bool found,
                    const std::string& value) const;
  // `expected` makes of a world what should have been found.
  template <typename Expected>
  void CompareRun(const Worlds& worlds, const char* what,
                  const std::string& key, const Run& found,
                  Expected expected) const;

  Setting setting_;
};

}  // namespace rowbloom::stress
