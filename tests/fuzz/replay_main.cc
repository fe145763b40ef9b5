// Gives every file of a corpus to a fuzz target, so that each build, with
// whatever compiler and sanitizer, runs the inputs that fuzzing found.
//
//   TARGET_fuzz PATH...    a PATH is a file, or a directory of files
//
// Exits with 1 when there was no input at all or one could not be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

bool Replay(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) {
    std::fprintf(stderr, "%s: cannot read\n", path.c_str());
    return false;
  }
  // Named before it runs: it may be the last one.
  std::printf("%s: %zu bytes\n", path.filename().c_str(), text.size());
  std::fflush(stdout);
  // An allocation of just this size, for sanitizers to see its end.
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    if (!fs::is_directory(argv[i], error)) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  bool read_all = true;
  for (const fs::path& file : files) read_all = Replay(file) && read_all;
  std::printf("replayed %zu inputs\n", files.size());
  return read_all && !files.empty() ? 0 : 1;
}
