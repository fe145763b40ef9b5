// The parts of an open store, and how names become keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/store_options.h"
#include "storage/store/database.h"
#include "storage/store/family_table.h"
#include "storage/store/opening_env.h"

namespace rowbloom {

struct OpenedStore {
  std::string path;
  StoreOptions options;  // as the store has them: nothing is left open
  std::shared_ptr<SharedState> shared;
  std::unique_ptr<StoreEnv> env;  // nullptr: open for reading only
  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  Database database;
  std::unique_ptr<FamilyTable> families;

  const KeyLayout& key_layout() const { return *options.key_layout; }

  // Each is InvalidArgument when the argument is out of its limits. The memory
  // that is reserved of *row_bytes stays so.
  rocksdb::Status EncodeRow(std::string_view row, std::string* row_bytes) const;
  rocksdb::Status FindFamily(const FamilyMap& among, std::string_view name,
                             FamilyMap::const_iterator* family) const;
  // NotSupported: open for reading only. Else the error, if there was one,
  // after which RocksDB takes no more writes. RocksDB itself would try other
  // changes: a second flush, after the first could not make its log, stops with
  // an assertion (7.8.3 with assertions, as Debian's).
  rocksdb::Status CheckWritable() const;

  // The row that a key begins with, as its bytes and decoded. Corruption: there
  // is none.
  rocksdb::Status FindRow(std::string_view key,
                          std::string_view* row_bytes) const;
  rocksdb::Status DecodeRow(std::string_view row_bytes, std::string* row) const;
};

// InvalidArgument: not 1 to kMaxRowBytes.
rocksdb::Status CheckRow(std::string_view row);

// InvalidArgument: more than `max_bytes`.
rocksdb::Status CheckSize(const char* what, std::string_view bytes,
                          size_t max_bytes);
inline rocksdb::Status CheckQualifier(std::string_view qualifier) {
  return CheckSize("a qualifier", qualifier, kMaxQualifierBytes);
}
// Checks the end of a range, which need not be a row.
inline rocksdb::Status CheckRowBound(std::string_view row) {
  return CheckSize("a row", row, kMaxRowBytes);
}

}  // namespace rowbloom
