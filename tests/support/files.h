// Whole files, and directories of them, as strings of bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <string>

namespace rowbloom::test {

// The bytes of a file that must be there.
inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The bytes of every file under `directory`, by relative path. Directories have
// an entry too.
inline std::map<std::string, std::string> Contents(
    const std::string& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    contents[entry.path().lexically_relative(directory).string()] =
        entry.is_directory() ? "directory"
                             : std::string(std::istreambuf_iterator<char>(in),
                                           std::istreambuf_iterator<char>());
  }
  return contents;
}

// Makes the file, or gives the one that is there these bytes.
inline void WriteFile(const std::string& path, const std::string& bytes) {
  // The file is written over in place: ext4 waits for the disk when a file is
  // closed that was emptied first.
  std::ofstream(path, std::ios::binary | std::ios::app).close();
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  ASSERT_TRUE(file.good()) << path;
  std::filesystem::resize_file(path, bytes.size());
}

// Turns the lowest bit of a byte of the file.
inline void FlipBit(const std::string& path, uint64_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

}  // namespace rowbloom::test
