// write_golden DIR: writes the golden data of one format, with the code of this
// tree, to a directory that it makes. See tests/data/golden/README.md. Exit
// status: 0 written, 1 not so, 2 usage.
#include "tests/golden/write_golden.h"

#include <cstdio>
#include <exception>
#include <fstream>

#include "tests/golden/filter_blocks.h"
#include "tests/golden/serialized_filters.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {

namespace fs = std::filesystem;

void Pack(const fs::path& directory, const fs::path& folder,
          const std::string& name) {
  // The archive names what it holds after itself.
  const test::TempDir dir;
  fs::copy(directory, dir.path() / name, fs::copy_options::recursive);
  const std::string command =
      "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C '" +
      dir.path().string() + "' -c '" + name + "' | gzip -9n > '" +
      (folder / (name + ".tar.gz")).string() + "'";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
}

void WriteFilterBlocks(const fs::path& folder) {
  const test::TempDir dir;
  const FilterBlocks blocks = BuildFilterBlocks();
  for (const auto& [name, bytes] : blocks.bytes) {
    std::ofstream(dir.path() / name, std::ios::binary) << bytes;
  }
  Pack(dir.path(), folder, "blocks");
  WriteLines(folder / "blocks.keys.txt", blocks.lines);
}

void WriteSerializedFilters(const fs::path& folder) {
  const test::TempDir dir;
  const SerializedFilters filters = BuildSerializedFilters();
  for (const auto& [name, bytes] : filters.bytes) {
    std::ofstream(dir.path() / name, std::ios::binary) << bytes;
  }
  Pack(dir.path(), folder, "filters");
  WriteLines(folder / "filters.keys.txt", filters.lines);
}

namespace {

void Write(const fs::path& dir) {
  if (!fs::create_directory(dir)) {
    throw std::runtime_error(dir.string() + " exists");
  }
  const auto in = [&](const char* name) {
    fs::create_directory(dir / name);
    return dir / name;
  };
  WriteStores(in("stores"));
  WriteBackups(in("backups"));
  WriteDatabases(in("databases"));
  WriteFilterBlocks(in("filter_blocks"));
  WriteSerializedFilters(in("serialized_filters"));
}

}  // namespace
}  // namespace rowbloom::golden

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: write_golden DIR\n");
    return 2;
  }
  try {
    rowbloom::golden::Write(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_golden: %s\n", error.what());
    return 1;
  }
}
