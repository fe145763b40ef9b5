// Backups of embedded stores. A directory holds any number of backups of one
// store, which share the files that they have in common.
//
//   rocksdb::Status s = store->Backup("/backups/users");   // store.h
//   std::vector<BackupInfo> backups;
//   s = ListBackups("/backups/users", &backups);
//   s = VerifyBackup("/backups/users", /*id=*/1);
//   s = RestoreBackup("/backups/users", std::nullopt, "users.db");
//   s = PurgeBackups("/backups/users", 7);
//
// The directory has the form of RocksDB's BackupEngine. One change runs at a
// time, in any process: others are Busy. If a process ends during a backup or a
// delete, or the power is cut, the other backups stay whole, and the next
// PurgeBackups removes what is left over. `env` has the file system of all
// paths; nullptr: rocksdb::Env::Default(). Each call reads the lists of all
// backups into memory.
//
// A backup does not read the files again that it shares with earlier ones: if
// such a file is damaged, all of them are. So verify the newest from time to
// time. Once the damaged file is removed, the next Backup copies it anew, and
// all that share it are whole again.
//
// Errors of all functions, beside RocksDB's, which name the file:
//   InvalidArgument  the directory has other files than backups
//   NotFound         there is no such directory, or no such backup
//   Busy             another call or process is changing the directory
//   Corruption       a file of the backup is missing or damaged
//   NotSupported     the RocksDB library loaded at run time has another minor
//                    version than the headers
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

struct BackupInfo {
  uint32_t id = 0;  // that of the newest before it plus 1; the first has 1
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
// show as damaged; Corruption if all are) at `path`, which must not exist or be
// an empty directory that can be replaced (no mount point, link or "."), else
// InvalidArgument. Compares checksums. Files are collected in `path`.restoring,
// which is renamed to `path` as the last step: an interrupted restore leaves no
// store, and can be repeated. If a directory of that name is no remains of a
// restore, the error is InvalidArgument; if another call fills it, the error is
// Busy.
rocksdb::Status RestoreBackup(const std::string& directory,
                              std::optional<uint32_t> id,
                              const std::string& path,
                              rocksdb::Env* env = rocksdb::Env::Default());

// Deletes a backup, and the files that no other one shares. Corruption: another
// backup is damaged, and this one is not; nothing was deleted. With a damaged
// backup, the files that only damaged backups have are deleted, too.
rocksdb::Status DeleteBackup(const std::string& directory, uint32_t id,
                             rocksdb::Env* env = rocksdb::Env::Default());

// Deletes all but the `keep` newest, and the remains of interrupted backups.
// Corruption: a backup is damaged, and nothing was deleted. RocksDB would
// delete the files of damaged backups, too, and such a backup may become whole
// again when a missing file is put back.
rocksdb::Status PurgeBackups(const std::string& directory, uint32_t keep,
                             rocksdb::Env* env = rocksdb::Env::Default());

}  // namespace rowbloom
