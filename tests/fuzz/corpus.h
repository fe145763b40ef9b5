// The files of a fuzz target's corpus. corpus_test.cc says how they are written
// anew.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "tests/support/files.h"

namespace rowbloom::fuzz {

// The bytes of seeds by their names.
using Files = std::map<std::string, std::string>;

// Largest seed: fuzzers are slow on large ones.
inline constexpr size_t kMaxSeedBytes = 10'000;

inline std::string SeedPath(const std::string& target,
                            const std::string& name) {
  return std::string(ROWBLOOM_CORPUS_DIR) + "/" + target + "/" + name;
}

inline bool WritesCorpus() {
  return std::getenv("ROWBLOOM_WRITE_CORPUS") != nullptr;
}

inline void WriteSeeds(const std::string& target, const Files& files) {
  std::filesystem::create_directories(SeedPath(target, ""));
  for (const auto& [name, bytes] : files) {
    test::WriteFile(SeedPath(target, name), bytes);
  }
}

// The corpus has these files, with these bytes, unless it is written anew.
inline void ExpectSeeds(const std::string& target, const Files& files) {
  if (WritesCorpus()) WriteSeeds(target, files);
  for (const auto& [name, bytes] : files) {
    EXPECT_EQ(test::ReadFile(SeedPath(target, name)), bytes)
        << target << "/" << name;
    EXPECT_LT(bytes.size(), kMaxSeedBytes) << target << "/" << name;
  }
}

}  // namespace rowbloom::fuzz
