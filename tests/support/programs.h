// Programs that a test can do without, and is skipped where they are absent.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace rowbloom::test {

// Whether a folder of the PATH has it.
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

}  // namespace rowbloom::test
