// librowbloom_plugin.so: registers rowbloom in a program that was not built
// with it.
//
//   LD_PRELOAD=librowbloom_plugin.so ldb --db=users.db get user_1001:mail
#include "rowbloom/filter_policy.h"

namespace {

// Runs before main(), where nobody could catch an exception. A program without
// RocksDB must not notice that the library was loaded, either.
__attribute__((constructor)) void Register() noexcept {
  try {
    rowbloom::RegisterRowbloom();
  } catch (...) {
    // Out of memory. A strict load of the options then says what is missing.
  }
}

}  // namespace
