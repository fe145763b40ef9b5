// Adds backups to a directory. rowbloom/backup.h has the functions that need no
// database.
#pragma once

#include <functional>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rowbloom/backup.h"

namespace rowbloom {

// Checks a backup before its list makes it one. The argument is the directory
// of the files that it does not share: CURRENT, the MANIFEST and the logs.
using CheckBackup = std::function<rocksdb::Status(const std::string& files)>;

// Adds a backup of an open database. After an error of `check` there is none.
// *info may be nullptr.
rocksdb::Status CreateBackup(rocksdb::DB* db, const std::string& directory,
                             const CheckBackup& check, BackupInfo* info);

}  // namespace rowbloom
