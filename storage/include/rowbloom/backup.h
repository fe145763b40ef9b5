// Backups of embedded stores: a directory holds any number of one store's, each
// sharing the files that it has in common with the others.
//
//   rocksdb::Status s = store->Backup("/backups/users");   // store.h
//   std::vector<BackupInfo> backups;
//   s = ListBackups("/backups/users", &backups);
//   s = VerifyBackup("/backups/users", backups.back().id);
//   s = RestoreBackup("/backups/users", std::nullopt, "users.db");
//   s = PurgeBackups("/backups/users", 7);
//
// A directory is one of RocksDB's BackupEngine. It takes one change at a time,
// from any process: others are Busy. A process that ends in the middle of a
// backup, or of a delete, and a power cut leave the other backups whole, and
// bytes of no use that the next PurgeBackups removes. `env` has the file system
// of all paths.
// Errors of all functions, beside RocksDB's, which name the file:
//   InvalidArgument  the directory holds something that is no backups
//   NotFound         there is no such directory, or no such backup
//   Busy             somebody else is changing the directory
//   Corruption       a file of the backup is missing or damaged
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

struct BackupInfo {
  uint32_t id = 0;           // one more than the newest had; 1 without any
  uint64_t timestamp_s = 0;  // creation: seconds since 1970-01-01 UTC
  uint64_t bytes = 0;        // all its files, with those it shares
  uint32_t files = 0;
  // A file of it is missing, or its list of them cannot be read; the other
  // fields but id are 0. VerifyBackup finds more.
  bool damaged = false;

  friend bool operator==(const BackupInfo&, const BackupInfo&) = default;
};

// Lists the backups by rising id, oldest first.
rocksdb::Status ListBackups(const std::string& directory,
                            std::vector<BackupInfo>* backups,
                            rocksdb::Env* env = rocksdb::Env::Default());

// Reads all files of a backup and compares their checksums.
rocksdb::Status VerifyBackup(const std::string& directory, uint32_t id,
                             rocksdb::Env* env = rocksdb::Env::Default());

// Makes a store of backup `id` (nullopt: the newest that ListBackups does not
// show as damaged) at `path`, which must not exist or be an empty directory
// that can be replaced (no mount point, link or "."), else InvalidArgument.
// Checks checksums. Files are put together in `path`.restoring, which becomes
// `path` as the last step: a restore that was cut short leaves no store, and
// can be repeated. Another directory of that name is InvalidArgument, one that
// is being filled is Busy.
rocksdb::Status RestoreBackup(const std::string& directory,
                              std::optional<uint32_t> id,
                              const std::string& path,
                              rocksdb::Env* env = rocksdb::Env::Default());

// Deletes a backup, and the files that no other one shares. Corruption: another
// backup is damaged, and this one is not; nothing was deleted. A damaged backup
// takes what other damaged ones alone have with it.
rocksdb::Status DeleteBackup(const std::string& directory, uint32_t id,
                             rocksdb::Env* env = rocksdb::Env::Default());

// Deletes all but the `keep` newest, and the remains of interrupted backups.
// Corruption: a backup is damaged; nothing was deleted, as RocksDB would delete
// the files of damaged backups, too, which a file that comes back makes whole.
rocksdb::Status PurgeBackups(const std::string& directory, uint32_t keep,
                             rocksdb::Env* env = rocksdb::Env::Default());

}  // namespace rowbloom
