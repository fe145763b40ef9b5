// A lock that is still held when the process ends.
#include "storage/format/held_lock.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

// Exits with 0 if a lock in a static object can be released after static
// objects that were made later were destroyed.
[[noreturn]] void EndWithALock(const std::string& file) {
  mallopt(M_PERTURB, 0xa5);  // memory that was freed changes
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::atexit([] { std::_Exit(0); });
  static std::optional<HeldLock> lock;
  if (!lock.emplace(env).Take(file, "held").ok()) std::_Exit(1);
  std::exit(2);
}

TEST(HeldLock, IsReleasedWhileTheProcessEnds) {
  const test::TempDir dir;
  EXPECT_EXIT(EndWithALock(dir.File("LOCK")), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rowbloom
