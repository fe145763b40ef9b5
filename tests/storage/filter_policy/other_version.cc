// Preloaded before the plugin, makes it see a RocksDB of another version.
#include <string>

#include "rocksdb/version.h"

namespace rocksdb {

std::string GetRocksVersionAsString(bool with_patch) {
  return with_patch ? "7.0.9" : "7.0";
}

}  // namespace rocksdb
