// Follower reads a store while another process writes it. Each call of Follow
// makes it see what that process has written:
//
//   std::unique_ptr<rowbloom::Follower> follower;
//   rocksdb::Status s = rowbloom::Follower::Open({}, "users.db", &follower);
//   ...
//   if (s.ok()) s = follower->Follow();
//   std::optional<std::string> value;
//   if (s.ok()) {
//     s = follower->store()->Get("user_1001", "info", "mail", &value);
//   }
//
// The store is open for reading (StoreOptions::read_only), with snapshots,
// filters, the front filter, verification and changes. It keeps the state of
// its opening. Follow opens the store again, with the families, their options
// and the cells that the writer has by then. It takes no lock: any number of
// processes may follow. If the writer was killed, its last write in the log is
// seen.
//
// Follow costs as much as an opening: files and filters are opened, and the log
// is read. A front filter, which is on by default, reads the ROW sections of
// all files again: set front_filter_limit_bytes to 0 to follow often. If
// nothing was written, Follow only lists the directory and reads the ends of
// the logs and the MANIFEST.
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
  // Opens the store at `path` for reading. All stores of the follower share the
  // options' block cache, or a new one if there is none. Errors are those of
  // Store::Open.
  static rocksdb::Status Open(const StoreOptions& options,
                              const std::string& path,
                              std::unique_ptr<Follower>* follower);

  // Makes store() return a store with all writes that were acknowledged before
  // the call, except kSkipWal writes in memory. Errors are those of
  // Store::Open, and leave store() unchanged.
  rocksdb::Status Follow();

  // The store as of the last Follow. It can be read for as long as the pointer
  // is held, whatever Follow does.
  std::shared_ptr<Store> store() const;

 private:
  struct Seen {
    std::string identity;                     // the database's
    std::map<std::string, uint64_t> files;    // their sizes, by name
    std::map<std::string, std::string> ends;  // the last bytes of some of them
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  Follower(StoreOptions options, std::string path);

  const std::string path_;
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<Store> store_;
  std::mutex follow_mutex_;  // held by Follow, for what follows
  StoreOptions options_;     // with the block cache once a store was opened
  Seen seen_;                // as of before store_ was opened
};

}  // namespace rowbloom
