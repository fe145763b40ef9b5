// Runs a Java source file with Guava in its class path, for tests that meet
// programs of the JVM. CMake's rowbloom_use_jvm says where both are; a test
// begins with ROWBLOOM_SKIP_WITHOUT_JVM().
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/outside.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {

// The paths of both; empty where they are absent.
#ifdef ROWBLOOM_JAVA
inline constexpr char kJava[] = ROWBLOOM_JAVA;
#else
inline constexpr char kJava[] = "";
#endif
#ifdef ROWBLOOM_GUAVA_JAR
inline constexpr char kGuavaJar[] = ROWBLOOM_GUAVA_JAR;
#else
inline constexpr char kGuavaJar[] = "";
#endif

#define ROWBLOOM_SKIP_WITHOUT_JVM()                                        \
  ROWBLOOM_SKIP_WITHOUT(::rowbloom::test::kJvm, *::rowbloom::test::kJava); \
  ROWBLOOM_SKIP_WITHOUT(::rowbloom::test::kGuava, *::rowbloom::test::kGuavaJar)

// Returns what the program prints. If it fails, that is a test failure with
// what it printed. REQUIRES both, and arguments without quotes.
inline std::string RunJava(const std::string& source,
                           const std::vector<std::string>& arguments) {
  const TempDir dir;
  std::string command = std::string("'") + kJava +
                        "' -XX:TieredStopAtLevel=1 -cp '" + kGuavaJar +
                        "' '" ROWBLOOM_SOURCE_DIR "/" + source + "'";
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
