// Adds backups to a directory. rowbloom/backup.h has the functions that need no
// database.
#pragma once

#include <string>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rowbloom/backup.h"

namespace rowbloom {

// Adds a backup of an open database. *info may be nullptr.
rocksdb::Status CreateBackup(rocksdb::DB* db, const std::string& directory,
                             BackupInfo* info);

}  // namespace rowbloom
