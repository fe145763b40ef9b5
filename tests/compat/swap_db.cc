// swap_db COMMAND DIR: databases that go from one RocksDB to another.
//
//   swap_db write DIR [FORMAT_VERSION]   databases and stores, generation 1
//   swap_db check DIR                    reads all of it in every way
//   swap_db extend DIR                   compacts, and writes a generation more
//   swap_db lose-key DIR                 damage that check must find
//   swap_db lose-filters DIR
//
// The programs of two RocksDB versions take turns. DIR/history has a line for
// each generation: the version that wrote it. FORMAT_VERSION is that of
// RocksDB's tables; 5 is the newest that RocksDB 7.8 reads. Exit status: 0 all
// is there and was found by filters, 1 not so, 2 usage.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rocksdb/version.h"
#include "tests/compat/failure.h"
#include "tests/compat/swap_case.h"
#include "tests/compat/swap_database.h"
#include "tests/compat/swap_store.h"

namespace rowbloom::compat {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kSharedFormatVersion = 5;

const std::vector<KeyLayout> kStoreLayouts = {KeyLayout::Escaped(),
                                              KeyLayout::FixedRow(8)};

std::string StorePath(const fs::path& dir, const KeyLayout& layout) {
  return dir /
         (layout == KeyLayout::Escaped() ? "store-escaped" : "store-fixed");
}

std::vector<std::string> ReadHistory(const fs::path& dir) {
  std::ifstream file(dir / "history");
  std::vector<std::string> versions;
  for (std::string line; std::getline(file, line);) versions.push_back(line);
  Require(!versions.empty(), "no history: DIR was not made by swap_db write");
  return versions;
}

void AddToHistory(const fs::path& dir) {
  std::ofstream file(dir / "history", std::ios::app);
  file << rocksdb::GetRocksVersionAsString() << "\n" << std::flush;
  Require(file.good(), "cannot write the history");
}

// Calls function(case, path) for each database, naming it when that fails.
template <typename Function>
void ForEachDatabase(const fs::path& dir, const Function& function) {
  for (const SwapCase& swap_case : AllSwapCases()) {
    try {
      function(swap_case, (dir / swap_case.Name()).string());
    } catch (const Failure& failure) {
      throw Failure(swap_case.Name() + ": " + failure.what());
    }
  }
}

void Write(const fs::path& dir, uint32_t format_version) {
  fs::create_directory(dir);
  ForEachDatabase(dir, [&](const SwapCase& swap_case, const std::string& path) {
    WriteDatabase(swap_case, path, format_version);
  });
  for (const KeyLayout& layout : kStoreLayouts) {
    WriteStore(layout, StorePath(dir, layout), 1);
  }
  AddToHistory(dir);
  std::printf("RocksDB %s wrote %zu databases and %zu stores\n",
              rocksdb::GetRocksVersionAsString().c_str(), AllSwapCases().size(),
              kStoreLayouts.size());
}

struct Totals {
  uint64_t keys = 0;
  SectionStats row;
  SectionStats row_col;
  void Add(uint64_t more_keys, const FilterStats& filter) {
    keys += more_keys;
    row.checked += filter.row.checked;
    row.skipped += filter.row.skipped;
    row_col.checked += filter.row_col.checked;
    row_col.skipped += filter.row_col.skipped;
  }
};

void Check(const fs::path& dir) {
  const std::vector<std::string> history = ReadHistory(dir);
  const int generations = static_cast<int>(history.size());
  Totals totals;
  uint64_t stock_skips = 0;
  size_t strict = 0;
  std::string not_strict;
  ForEachDatabase(dir, [&](const SwapCase& swap_case, const std::string& path) {
    const DatabaseReport report = CheckDatabase(swap_case, path, generations);
    totals.Add(report.keys, report.filter);
    stock_skips += report.stock_skips;
    if (report.not_strict.empty()) {
      ++strict;
    } else {
      not_strict = report.not_strict;
    }
  });
  for (const KeyLayout& layout : kStoreLayouts) {
    const StoreReport report =
        CheckStore(layout, StorePath(dir, layout), generations);
    totals.Add(report.cells, report.filter);
  }

  std::printf("RocksDB %s reads what was written by",
              rocksdb::GetRocksVersionAsString().c_str());
  for (const std::string& version : history) {
    std::printf(" %s", version.c_str());
  }
  std::printf(
      ": all %llu keys of %zu databases and %zu stores; skipped by row %llu of "
      "%llu, by row_col %llu of %llu, by stock filters %llu; OPTIONS of %zu "
      "databases loaded strictly",
      static_cast<unsigned long long>(totals.keys), AllSwapCases().size(),
      kStoreLayouts.size(), static_cast<unsigned long long>(totals.row.skipped),
      static_cast<unsigned long long>(totals.row.checked),
      static_cast<unsigned long long>(totals.row_col.skipped),
      static_cast<unsigned long long>(totals.row_col.checked),
      static_cast<unsigned long long>(stock_skips), strict);
  if (!not_strict.empty()) {
    std::printf(", the others with ignore_unknown_options (%s)",
                not_strict.c_str());
  }
  std::printf("\n");
}

void Extend(const fs::path& dir) {
  const int generations = static_cast<int>(ReadHistory(dir).size());
  ForEachDatabase(dir, [&](const SwapCase& swap_case, const std::string& path) {
    ExtendDatabase(swap_case, path, generations);
  });
  for (const KeyLayout& layout : kStoreLayouts) {
    WriteStore(layout, StorePath(dir, layout), generations + 1);
  }
  AddToHistory(dir);
  std::printf("RocksDB %s compacted and wrote generation %d\n",
              rocksdb::GetRocksVersionAsString().c_str(), generations + 1);
}

int Run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const bool has_format_version = command == "write" && arguments.size() == 3;
  if (arguments.size() != 2 && !has_format_version) return 2;
  const fs::path dir = arguments[1];
  const SwapCase damaged = AllSwapCases().back();
  if (command == "write") {
    Write(dir, has_format_version
                   ? static_cast<uint32_t>(std::stoul(arguments[2]))
                   : kSharedFormatVersion);
  } else if (command == "check") {
    Check(dir);
  } else if (command == "extend") {
    Extend(dir);
  } else if (command == "lose-key") {
    LoseKey(damaged, dir / damaged.Name());
  } else if (command == "lose-filters") {
    LoseFilters(dir / damaged.Name());
  } else {
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace rowbloom::compat

int main(int argc, char** argv) {
  try {
    const int status =
        rowbloom::compat::Run(std::vector<std::string>(argv + 1, argv + argc));
    if (status == 2) {
      std::fprintf(stderr,
                   "usage: swap_db write|check|extend|lose-key|lose-filters "
                   "DIR; swap_db write DIR FORMAT_VERSION\n");
    }
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "swap_db: %s\n", error.what());
    return 1;
  }
}
