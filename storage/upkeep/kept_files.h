// KeptFiles keeps files that a database no longer needs.
#pragma once

#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace rowbloom {

// RocksDB deletes no file, logs included, while the object lives. A database
// that is open for reading deletes none by itself.
class KeptFiles {
 public:
  explicit KeptFiles(rocksdb::DB* database)
      : database_(*database), keeps_(database->DisableFileDeletions().ok()) {}
  ~KeptFiles() {
    if (keeps_) Enable(&database_).PermitUncheckedError();
  }
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

 private:
  // RocksDB 9 takes no argument.
  template <typename Db>
  static rocksdb::Status Enable(Db* database) {
    if constexpr (requires { database->EnableFileDeletions(false); }) {
      return database->EnableFileDeletions(/*force=*/false);
    } else {
      return database->EnableFileDeletions();
    }
  }

  rocksdb::DB& database_;
  const bool keeps_;
};

}  // namespace rowbloom
