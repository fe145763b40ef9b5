// Follower reads a store while another process writes it, and sees what that
// has written whenever it is told to follow:
//
//   std::unique_ptr<rowbloom::Follower> follower;
//   rocksdb::Status s = rowbloom::Follower::Open({}, "users.db", &follower);
//   ...
//   s = follower->Follow();
//   s = follower->store()->Get("user_1001", "info", "mail", &value);
//
// The store is one that is open for reading (StoreOptions::read_only), with all
// that it has: snapshots, filters, the front filter, verification, changes. It
// stays as it was when it was opened. Follow opens the next one, with the
// families, their options and the cells that the writer has by then, and takes
// no lock: any number of processes may follow. A writer that was killed is
// followed to its last write in the log.
//
// The cost of Follow is that of an opening: files and filters are opened, and
// the log is read. It takes the time of a look at the directory if nothing was
// written. RocksDB's own way to catch up in place (DB::TryCatchUpWithPrimary)
// is not used: it applies merge operands twice that are in memory and in a file
// (7.8.3), so that versions come back which were pushed out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/status.h"
#include "rowbloom/store.h"

namespace rowbloom {

// Thread-safe.
class Follower {
 public:
  // Opens the store at `path` for reading. Stores share a block cache, which is
  // made if the options have none, so that blocks stay in it. Errors are those
  // of Store::Open.
  static rocksdb::Status Open(const StoreOptions& options,
                              const std::string& path,
                              std::unique_ptr<Follower>* follower);

  // Makes store() one that has all writes that were acknowledged before the
  // call, but for kSkipWal writes in memory. After an error, Store::Open's,
  // store() is what it was.
  rocksdb::Status Follow();

  // The store as of the last Follow. Reads and scans go on with it for as long
  // as the pointer is held, whatever Follow does.
  std::shared_ptr<Store> store() const;

 private:
  struct Seen {
    std::string identity;                     // the database's
    std::map<std::string, uint64_t> files;    // their sizes, by name
    std::map<std::string, std::string> ends;  // the last bytes of some of them
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  Follower(StoreOptions options, std::string path);

  const StoreOptions options_;
  const std::string path_;
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<Store> store_;
  std::mutex follow_mutex_;  // held by Follow
  Seen seen_;                // as of before store_ was opened
};

}  // namespace rowbloom
