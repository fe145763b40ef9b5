// Runs a Java source file with Guava in its class path, for tests that meet
// programs of the JVM. CMake's rowbloom_use_jvm says where both are.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace rowbloom::test {

inline constexpr bool kHasJvm =
#ifdef ROWBLOOM_GUAVA_JAR
    true;
#else
    false;
#endif

inline constexpr const char* kNeedsJvm =
    "needs Debian's libguava-java and default-jdk-headless";

// What the program prints. A test failure, and what it printed, if it fails.
// REQUIRES kHasJvm, and arguments without quotes.
inline std::string RunJava([[maybe_unused]] const std::string& source,
                           const std::vector<std::string>& arguments) {
  const TempDir dir;
  std::string command;
#ifdef ROWBLOOM_GUAVA_JAR
  command = "'" ROWBLOOM_JAVA
            "' -XX:TieredStopAtLevel=1 -cp "
            "'" ROWBLOOM_GUAVA_JAR "' '" ROWBLOOM_SOURCE_DIR "/" +
            source + "'";
#endif
  for (const std::string& argument : arguments) {
    command += " '" + argument + "'";
  }
  command += " > '" + dir.File("output") + "' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream in(dir.File("output"), std::ios::binary);
  std::string output{std::istreambuf_iterator<char>(in),
                     std::istreambuf_iterator<char>()};
  EXPECT_EQ(status, 0) << output;
  return output;
}

}  // namespace rowbloom::test
