// Things from outside are programs of other packages and files of other
// projects that a test needs and this repository does not have. A test that
// misses one is skipped, or fails if ROWBLOOM_REQUIRE, a list of names
// separated by commas, has its name. outside.sh is the same for tests that are
// scripts.
//
//   ROWBLOOM_SKIP_WITHOUT(test::kRedis, test::HaveProgram("redis-server"));
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace rowbloom::test {

struct Outside {
  const char* name;    // in ROWBLOOM_REQUIRE
  const char* source;  // the package or program that provides it
};

inline constexpr Outside kChromium{"chromium", "Debian's chromium"};
inline constexpr Outside kGroff{"groff", "Debian's groff-base"};
inline constexpr Outside kGuava{"guava", "Debian's libguava-java"};
inline constexpr Outside kHudi{
    "hudi",
    "the HFiles of hudi-rs's test data in the folder ROWBLOOM_HUDI_DATA"};
inline constexpr Outside kJvm{"jvm", "Debian's default-jdk-headless"};
inline constexpr Outside kPython{"python3", "Debian's python3"};
inline constexpr Outside kRedis{"redis", "Debian's redis-server"};
inline constexpr Outside kRocksDbTools{"rocksdb-tools",
                                       "Debian's rocksdb-tools"};
inline constexpr Outside kTerminal{"terminal", "a pseudo-terminal"};

// ROWBLOOM_REQUIRE may name these.
inline constexpr const Outside* kAllOutside[] = {
    &kChromium, &kGroff, &kGuava,        &kHudi,    &kJvm,
    &kPython,   &kRedis, &kRocksDbTools, &kTerminal};

// The names in ROWBLOOM_REQUIRE.
inline std::vector<std::string> RequiredNames() {
  const char* list = std::getenv("ROWBLOOM_REQUIRE");
  std::vector<std::string> names;
  const std::string text = list == nullptr ? "" : list;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

inline bool IsRequired(const Outside& thing) {
  const std::vector<std::string> names = RequiredNames();
  return std::find(names.begin(), names.end(), thing.name) != names.end();
}

// Tells whether a folder of the PATH has the program.
inline bool HaveProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string program = folders.substr(at, end - at) + "/" + name;
    if (access(program.c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

// The folder with Hudi's HFiles; empty when nobody has named one that exists.
inline std::string HudiFolder() {
  const char* folder = std::getenv("ROWBLOOM_HUDI_DATA");
  if (folder == nullptr || access(folder, R_OK | X_OK) != 0) return "";
  return folder;
}

}  // namespace rowbloom::test

// Ends the test unless `there` is true: as skipped, or, if `thing` is required,
// as failed.
#define ROWBLOOM_SKIP_WITHOUT(thing, there)                       \
  do {                                                            \
    if (there) break;                                             \
    const ::rowbloom::test::Outside& missing = thing;             \
    if (::rowbloom::test::IsRequired(missing)) {                  \
      FAIL() << "ROWBLOOM_REQUIRE names " << missing.name         \
             << ", which is not here: needs " << missing.source;  \
    }                                                             \
    GTEST_SKIP() << missing.name << ": needs " << missing.source; \
  } while (false)
