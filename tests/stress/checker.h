// Reads a database in every way that probes filters, and compares the answers
// with a model and with reads that probe no filter.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/front_filter.h"
#include "tests/stress/model.h"
#include "tests/stress/report.h"
#include "tests/support/random.h"

namespace rowbloom::stress {

// Thread-safe as far as the database is. Wrong answers go to the report. With a
// snapshot the worlds are those of its time.
class Checker {
 public:
  struct Setting {
    rocksdb::DB* db = nullptr;
    FrontFilterDB* front = nullptr;  // db, if it has a front filter
    const rocksdb::SliceTransform* extractor = nullptr;  // may be null
    Report* report = nullptr;
    Errors errors = Errors::kNone;
    bool verify_checksums = true;
    const rocksdb::Snapshot* snapshot = nullptr;
    // Off where reads of any block may fail: RocksDB's iterators then end early
    // at times, leave keys out, or stop the process with an assertion, without
    // any filter (seen with 7.8.3; 8.7 and others mended some of it). Nothing
    // is then read by iterators.
    bool iterators = true;
  };
  explicit Checker(const Setting& setting) : setting_(setting) {}

  // The key's value, or that it is absent. With `twice`, once more with an
  // iterator, which no filter touches.
  void Get(const Worlds& worlds, const std::string& key, bool twice) const;
  void MultiGet(const Worlds& worlds,
                const std::vector<std::string>& keys) const;

  // The front filter, if there is one, says of none of these rows that it is
  // absent while it has a cell, and RowExists of some whether it has.
  void Rows(const Worlds& worlds, const std::vector<std::string>& rows,
            test::Random* random) const;

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
  // Returns whether there is an answer to compare. An error that may not be is
  // a divergence.
  bool Answered(const rocksdb::Status& status, const char* what,
                const std::string& key) const;
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
