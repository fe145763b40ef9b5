// Copies of a store that are made while it is in use: checkpoints, backups and,
// where HFiles are built, exports.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "tests/stress/store/session.h"

namespace rowbloom::store_stress {

// Thread-safe, but for Check.
class Copies {
 public:
  // Puts them into `directory`.
  explicit Copies(std::string directory) : directory_(std::move(directory)) {}

  // Makes one of the session's store, with a share's contents at that time. The
  // share's mutex must be held exclusively.
  void Make(Session* session, uint32_t share, Random* random);

  // Checks all that were made since the last call, in sessions like `setting`,
  // and removes them, but for backups: one that was acknowledged has the share
  // as it was, another one is whole, absent or refused by name.
  void Check(const Session::Setting& setting, Random* random);

 private:
  enum class Kind { kCheckpoint, kBackup, kExport };
  struct Copy {
    Kind kind;
    std::string path;  // for a backup, where it is restored
    uint32_t share;
    World world;
    uint32_t backup = 0;  // its number
    bool acknowledged = false;
  };

  rocksdb::Status MakeOne(Store* store, Copy* copy);
  // Makes a store of a copy, unless it is one.
  rocksdb::Status Restore(const Session::Setting& setting, const Copy& copy);
  void CheckOne(Session::Setting setting, const Copy& copy, Random* random);
  rocksdb::Status CheckBackups();
  std::string Backups() const { return directory_ + "/backups"; }

  const std::string directory_;
  std::mutex mutex_;  // guards what follows
  std::vector<Copy> copies_;
  std::set<uint32_t> backups_;  // those acknowledged
  uint64_t made_ = 0;
};

}  // namespace rowbloom::store_stress
