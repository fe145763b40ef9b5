// TempDir: a directory of a test's own, removed with all it holds when the
// object goes.
//
//   TempDir dir;
//   Open(dir.path() / "db");
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rowbloom::test {

class TempDir {
 public:
  TempDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "rowbloom-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot create a directory like " + name);
    }
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The path of an entry, which need not exist.
  std::string File(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

// Copies the files of an open database to a new directory: the state that a
// crash would leave. A file that RocksDB removes meanwhile is left out. Threads
// of its own remove obsolete files, even after the flush that made them so has
// returned.
inline void CopyOpenDatabase(const std::filesystem::path& from,
                             const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  fs::create_directory(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    std::error_code error;
    fs::copy(entry.path(), to / entry.path().filename(),
             fs::copy_options::recursive, error);
    if (error && fs::exists(entry.path())) {
      throw fs::filesystem_error("copy", entry.path(), to, error);
    }
  }
}

}  // namespace rowbloom::test
