// A database that is open, with the model of what it must hold.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "tests/stress/checker.h"
#include "tests/stress/journal.h"
#include "tests/stress/key_space.h"
#include "tests/stress/model.h"
#include "tests/stress/opening.h"
#include "tests/stress/report.h"

namespace rowbloom::stress {

// Some of the keys, written by one thread and read by all.
struct Share {
  std::shared_mutex mutex;  // guards the model; exclusive while writing
  Cells cells;
  // The contents, too, if a write was interrupted: then nothing is written
  // until Session::Resolve has found out which.
  std::optional<Cells> otherwise;
  std::unique_ptr<Journal> journal;  // may be null

  Worlds worlds() const {
    return otherwise ? Worlds{&cells, &*otherwise} : Worlds{&cells};
  }
};

// Survives the openings of its database.
using Shares = std::vector<std::unique_ptr<Share>>;
Shares NewShares(uint32_t count);

// Thread-safe where nothing else is said.
class Session {
 public:
  struct Setting {
    const Database* database = nullptr;
    std::string path;
    Shares* shares = nullptr;
    Report* report = nullptr;
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
  // For one thread; adds the counters of the filters to the report.
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

  // For Sabotage: deletes a key without telling the model. For one thread.
  void DeleteBehindTheModel();

  // Returns whether the write was acknowledged. The share's mutex must be held
  // exclusively.
  bool Write(Share* share, const Changes& changes, bool sync);
  // Puts alone, by a file that is written and ingested. REQUIRES MayIngest().
  bool Ingest(Share* share, const Cells& cells, bool move_file);

  // Not with universal compaction: before 9.0, RocksDB may then return older
  // data of an ingested key.
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
  // Records what came of `changes`, which `status` tells.
  bool Settle(Share* share, const Changes& changes,
              const rocksdb::Status& status, const char* what);

  Setting setting_;
  Opening opening_;
  std::unique_ptr<rocksdb::DB> db_;
  std::atomic<uint64_t> files_ingested_{0};
  std::atomic<bool> met_error_{false};
};

}  // namespace rowbloom::stress
