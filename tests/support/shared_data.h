// Input that other people's programs made, which is not part of this
// repository: see its README.md. CMake's ROWBLOOM_SHARED_DATA says where it is;
// tests skip, visibly, where it is not.
//
//   const std::string path = SharedData("hbase/2.6/row_none.hfile");
//   if (path.empty()) GTEST_SKIP() << kNoSharedData;
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace rowbloom::test {

inline constexpr char kNoSharedData[] =
    "not found in " ROWBLOOM_SHARED_DATA
    "; set ROWBLOOM_SHARED_DATA when configuring";

// The path of a file or folder there; empty when it does not exist.
inline std::string SharedData(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(ROWBLOOM_SHARED_DATA) / name;
  std::error_code error;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace rowbloom::test
