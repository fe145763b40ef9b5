// The rows of a column family as of one time, and the lookup in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/kernels/kernel.h"
#include "storage/filter_policy/front_filter/family_rules.h"
#include "storage/filter_policy/front_filter/file_rows.h"
#include "storage/filter_policy/front_filter/file_run.h"
#include "storage/filter_policy/front_filter/memtable_rows.h"

namespace rowbloom::front_filter {

// A row to look up.
struct Row {
  std::string_view bytes;
  uint64_t hash;
  // The qualifier of the one key that is looked for, as in KeyParts.
  std::optional<std::string_view> qualifier = std::nullopt;

  // The hash that memtables are probed with.
  uint64_t memtable_hash() const {
    return qualifier && qualifier->empty() ? HashBareRow(hash) : hash;
  }
};

// Rows that are looked up together, Kernel::kMaxMany at most. Masks have a bit
// for each.
class RowBatch {
 public:
  // `hashes` are those of the rows. Both have to outlive it.
  RowBatch(std::span<const Row> rows, const uint64_t* hashes)
      : rows_(rows), hashes_(hashes) {}

  size_t size() const { return rows_.size(); }
  const Row& operator[](size_t i) const { return rows_[i]; }
  const uint64_t* hashes() const { return hashes_; }
  uint32_t all() const {
    return static_cast<uint32_t>((uint64_t{1} << size()) - 1);
  }

 private:
  const std::span<const Row> rows_;
  const uint64_t* const hashes_;
};

// Files that are all probed for each row. They have to outlive it.
class SectionSet {
 public:
  void Add(const FileRows* file);

  // Returns the rows in `wanted` that one of the files may have.
  uint32_t Find(const RowBatch& rows, uint32_t wanted,
                const Kernel& kernel) const;

 private:
  // Files whose ROW sections are of kind bloom and have the same number of
  // probes; at most as many files as one call probes.
  struct Group {
    std::vector<BloomBlocks> sections;
    std::vector<const FileRows*> files;

    [[gnu::always_inline]] void Prefetch(uint64_t row_hash) const {
      for (const BloomBlocks& section : sections) {
        PrefetchBlock(section, row_hash);
      }
    }
    uint32_t FindEachRow(const RowBatch& rows, uint32_t wanted,
                         const Kernel& kernel) const;
    uint32_t FindInEachFile(const RowBatch& rows, uint32_t wanted,
                            const Kernel& kernel) const;
  };

  std::vector<Group> blooms_;
  std::vector<const FileRows*> ribbons_;
};

// The files of one listing. Immutable.
class FileSet {
 public:
  // `files` by level. With an unknown order, their ranges are ignored.
  FileSet(RowOrder order, std::vector<ListedFile> files);

  const std::vector<ListedFile>& files() const { return files_; }
  size_t known() const { return known_; }
  size_t unknown() const { return files_.size() - known_; }
  size_t with_cells() const { return with_cells_; }
  uint64_t row_bytes() const { return row_bytes_; }  // all ROW sections
  bool Has(uint64_t number) const;

  // Returns the rows in `wanted` that one of the files may have.
  uint32_t Find(const RowBatch& rows, uint32_t wanted,
                const Kernel& kernel) const;

 private:
  // Calls see(rows) for the files of ranges_ and runs_ that may have the row by
  // their ranges, until it returns true; returns whether it did.
  template <typename See>
  bool InFilesOfRow(const Row& row, const See& see) const;

  const RowOrder order_;
  const std::vector<ListedFile> files_;
  size_t known_ = 0;
  size_t with_cells_ = 0;
  uint64_t row_bytes_ = 0;
  SectionSet everywhere_;                  // probed for each row
  std::vector<const ListedFile*> ranges_;  // unknown files
  std::vector<FileRun> runs_;  // the files in one overlap at their ends at most
  std::vector<uint64_t> numbers_;  // sorted
};

// Files and memtables. Immutable but for the bits of memtables.
struct View : std::enable_shared_from_this<View> {
  std::shared_ptr<const FileSet> files;
  std::vector<std::shared_ptr<const MemtableRows>> memtables;
  // Files that are about to be ingested.
  std::vector<std::shared_ptr<const FileRows>> announced;
  SectionSet announced_sections;   // theirs
  bool announced_unknown = false;  // there are more, with unknown rows
  const Kernel* kernel = nullptr;

  void Announce(std::shared_ptr<const FileRows> file) {
    announced_sections.Add(file.get());
    announced.push_back(std::move(file));
  }

  // Tells whether the row may exist.
  bool MayHave(const Row& row) const {
    return Absent({{&row, 1}, &row.hash}) == 0;
  }
  // The rows that do not exist.
  uint32_t Absent(const RowBatch& rows) const;
};

}  // namespace rowbloom::front_filter
