// The comparison of what is built today with the newest golden data, for bytes
// that do not depend on the machine.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/golden/golden.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {

// The newest archive of the kind has these bytes, by name, and these lines.
template <typename Built>
void ExpectAsInTheNewestFolder(const std::string& kind, const Built& built) {
  const std::string archive = Archives(kind).back();
  SCOPED_TRACE(archive);
  const test::TempDir dir;
  const std::string path = Unpack(archive, dir.path());
  EXPECT_EQ(Joined(built.lines), Joined(ReadLines(archive + ".keys.txt")));
  EXPECT_FALSE(built.bytes.empty());
  for (const auto& [name, bytes] : built.bytes) {
    EXPECT_EQ(Hex(bytes), Hex(test::ReadFile(path + "/" + name))) << name;
  }
}

}  // namespace rowbloom::golden
