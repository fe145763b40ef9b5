// The rows of one SST.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/block/hash.h"
#include "lib/block/lookup.h"
#include "rocksdb/env.h"
#include "rocksdb/table_properties.h"
#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/filter_policy/front_filter/memory.h"
#include "storage/filter_policy/front_filter/section_memory.h"
#include "storage/filter_policy/loaded_block.h"

namespace rowbloom::front_filter {

// Copies of the sections of one file: the ROW section, and if there is room the
// section of its bare rows and the ROWCOL section. A ROWCOL section that is not
// kept is probed in RocksDB's memory. Immutable.
class FileRows {
 public:
  // The reason why a file has no usable section.
  struct Problem {
    std::string message;
    // The size of the ROW section if it would exceed the limit; else 0.
    uint64_t bytes_beyond_limit = 0;
    // The file could not be opened, as if there are too many open files.
    bool read_failed = false;
  };
  struct Loaded {
    std::shared_ptr<const FileRows> rows;  // null: see problem
    Problem problem;
  };

  // Reads the sections of the file at `path`. A file of range deletes alone has
  // no filter and no rows. `expected` are properties of the file; with others,
  // another file is in its place. May throw std::bad_alloc.
  static Loaded Load(const FamilyRules& rules, rocksdb::Env* env,
                     const std::string& path,
                     const std::shared_ptr<Memory>& memory,
                     const rocksdb::TableProperties* expected = nullptr);

  FileRows(const FileRows&) = delete;
  FileRows& operator=(const FileRows&) = delete;

  // The ROW section.
  const SectionProbe& probe() const { return rows_.probe; }
  uint64_t bytes() const {
    return rows_.taken.bytes() + bare_rows_.taken.bytes();
  }
  bool has_cells() const { return cells_.probe.present(); }

  // False: the file has no key of the row with this qualifier, as in KeyParts.
  // True if no section in memory has such keys.
  bool MayHaveKey(uint64_t row_hash, std::optional<std::string_view> qualifier,
                  const Kernel& kernel) const {
    if (!qualifier) return true;
    if (qualifier->empty()) return bare_rows_.probe.Find(kernel, row_hash);
    const uint64_t hash = HashRowCol(row_hash, *qualifier);
    if (has_cells()) return cells_.probe.Find(kernel, hash);
    return loaded_ == nullptr || loaded_->MayHaveCell(hash, kernel);
  }

 private:
  // A section in memory that was taken for it; by default, none.
  struct Held {
    SectionProbe probe;  // views `memory`
    SectionMemory memory;
    TakenMemory taken;
  };

  FileRows() = default;

  Held rows_;
  Held bare_rows_;
  Held cells_;
  // The file's block, if its ROWCOL section has all keys and is not in cells_.
  std::shared_ptr<const LoadedBlock> loaded_;
};

}  // namespace rowbloom::front_filter
