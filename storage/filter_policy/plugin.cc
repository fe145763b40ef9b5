// librowbloom_plugin.so: registers rowbloom in a program that was not built
// with it.
//
//   LD_PRELOAD=librowbloom_plugin.so ldb --db=users.db get user_1001:mail
#include "rowbloom/filter_policy.h"

namespace {

// Runs before main(), where no caller can catch an exception. A program without
// RocksDB, or with another version, must run as without this library. If
// nothing was registered, a strict load of the options says what is missing.
__attribute__((constructor)) void Register() noexcept {
  try {
    rowbloom::RegisterRowbloom().PermitUncheckedError();
  } catch (...) {  // out of memory
  }
}

}  // namespace
