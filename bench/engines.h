// Databases of cells that users might pick for one another, behind one
// interface: the embedded store, RocksDB used directly, LMDB and SQLite. All
// hold the same cells, and hand a write to the operating system before it
// returns; none waits for the disk.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::bench {

// Rows have names of this length, so that RocksDB alone can tell a row's end.
inline constexpr size_t kEngineRowBytes = 20;

// A cell that is written or read. Values have at least eight bytes.
struct CellView {
  std::string_view row;
  std::string_view qualifier;
  std::string_view value;
};

// The cells that reads gave: their number, and a digest that does not depend on
// their order.
struct Answers {
  uint64_t cells = 0;
  uint64_t digest = 0;
  // True: the digest is of all bytes. False: of the first eight of each value,
  // which are as good as a name of cell and version, and cost nothing.
  bool of_all_bytes = false;

  void Add(const CellView& cell) {
    ++cells;
    uint64_t word = 0;
    std::memcpy(&word, cell.value.data(), sizeof(word));
    if (of_all_bytes) {
      const std::hash<std::string_view> hash;
      word = hash(cell.row) + 3 * hash(cell.qualifier) + 5 * hash(cell.value);
    }
    digest += word * 0x9e3779b97f4a7c15;
  }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Writes all of the cells or none.
  virtual rocksdb::Status Write(std::span<const CellView> cells) = 0;
  // An absent cell or row adds nothing to *answers.
  virtual rocksdb::Status Get(std::string_view row, std::string_view qualifier,
                              Answers* answers) = 0;
  virtual rocksdb::Status GetRow(std::string_view row, Answers* answers) = 0;
  // The cells of so many rows from `start` on.
  virtual rocksdb::Status Scan(std::string_view start, uint64_t rows,
                               Answers* answers) = 0;
  // Brings what is in memory alone into files.
  virtual rocksdb::Status Flush() = 0;
};

struct EngineKind {
  std::string_view name;
  // Makes a database in a new directory, with a cache of its own of so many
  // bytes; LMDB has none. nullptr: left out of this build, because its library
  // was not found.
  rocksdb::Status (*create)(const std::string& path, uint64_t cache_bytes,
                            std::unique_ptr<Engine>* engine);
};

// All kinds, those that are left out among them; the first is the store.
std::span<const EngineKind> EngineKinds();

// The parts of EngineKinds with files of their own.
rocksdb::Status CreateLmdb(const std::string& path, uint64_t cache_bytes,
                           std::unique_ptr<Engine>* engine);
rocksdb::Status CreateSqlite(const std::string& path, uint64_t cache_bytes,
                             std::unique_ptr<Engine>* engine);

}  // namespace rowbloom::bench
