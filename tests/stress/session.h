// A database that is open, with the model of what it must hold.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "tests/stress/checker.h"
#include "tests/stress/key_space.h"
#include "tests/stress/model.h"
#include "tests/stress/opening.h"
#include "tests/stress/report.h"
#include "tests/stress/share.h"

namespace rowbloom::stress {

using Shares = SharesOf<ShareOf<Cells, Changes>>;

// Thread-safe where nothing else is said.
class Session {
 public:
  using Share = ShareOf<Cells, Changes>;
  struct Setting {
    const Database* database = nullptr;
    OpeningRules rules = {};  // but for their env
    std::string path = {};
    Shares* shares = nullptr;
    Report* report = nullptr;
    rocksdb::Env* env = nullptr;
    Errors errors = Errors::kNone;
    bool verify_checksums = true;
    bool read_only = false;
    bool iterators = true;  // see Checker
  };
  explicit Session(const Setting& setting) : setting_(setting) {}
  ~Session() { Close(); }

  // Opens the database, and counts it. Returns whether it is open. If it is
  // not, that is a divergence, unless errors are expected.
  bool Open(Opening opening);
  // The same with an opening that is drawn, and added to the report's context.
  bool Open(Random* random);
  // Adds the counters of the filters to the report. Call it in one thread.
  void Close();

  // For one thread, before any that writes: finds out whether interrupted
  // writes took place, which the journals then say. A share that is neither
  // with nor without them is a divergence, as are keys that no share has.
  void Resolve();
  // Reads all keys of the model, and absent ones, in every way.
  void CheckEverything(Random* random);
  // Checks that new files get filters which are asked and rule rows out, where
  // the opening says so.
  void ProveThatFiltersAreAsked(Random* random);

  // Deletes a key without telling the model, for Sabotage. Call it in one
  // thread.
  void DeleteBehindTheModel();

  // Returns whether the write was acknowledged. The share's mutex must be held
  // exclusively.
  bool Write(Share* share, const Changes& changes, bool sync);
  // Puts alone, by a file that is written and ingested. REQUIRES MayIngest().
  bool Ingest(Share* share, const Cells& cells, bool move_file);

  // Universal compaction before 9.0 may return older data of an ingested key.
  bool MayIngest() const {
    return setting_.database->compaction_style ==
           rocksdb::kCompactionStyleLevel;
  }

  // Returns whether a status of anything but a read is good. If it is not, that
  // is a divergence, unless errors are expected.
  bool Check(const rocksdb::Status& status, const char* what);

  // True if anything but a read has failed.
  bool met_error() const { return met_error_; }

  Checker NewChecker(const rocksdb::Snapshot* snapshot = nullptr) const;
  rocksdb::DB* db() const { return db_.get(); }
  const KeySpace& keys() const { return setting_.database->keys; }
  Report* report() const { return setting_.report; }
  Share* share(size_t index) const { return (*setting_.shares)[index].get(); }
  size_t share_count() const { return setting_.shares->size(); }

 private:
  struct Asked {
    uint64_t questions = 0;
    uint64_t ruled_out = 0;
  };
  // By the filters of files, or the front filter.
  Asked FiltersAsked();

  Setting setting_;
  Opening opening_;
  std::unique_ptr<rocksdb::DB> db_;
  FrontFilterDB* front_ = nullptr;  // db_, if it has a front filter
  std::atomic<uint64_t> files_ingested_{0};
  std::atomic<bool> met_error_{false};
};

}  // namespace rowbloom::stress
