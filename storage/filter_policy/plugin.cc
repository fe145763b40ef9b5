// librowbloom_plugin.so: registers rowbloom in a program that was not built
// with it.
//
//   LD_PRELOAD=librowbloom_plugin.so ldb --db=users.db get user_1001:mail
//
// Nothing is registered where the program runs on another RocksDB than the one
// of the headers: the registry's classes, too, change with the minor version.
#include <string>

#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"

namespace {

bool IsTheRocksDbOfTheHeaders() {
  return rocksdb::GetRocksVersionAsString(/*with_patch=*/false) ==
         std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
}

// Runs before main(), where nobody could catch an exception. A program without
// RocksDB must not notice that the library was loaded, either.
__attribute__((constructor)) void Register() noexcept {
  try {
    if (IsTheRocksDbOfTheHeaders()) rowbloom::RegisterRowbloom();
  } catch (...) {
    // Out of memory. A strict load of the options then says what is missing.
  }
}

}  // namespace
