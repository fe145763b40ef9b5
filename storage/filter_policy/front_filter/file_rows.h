// The rows of one SST.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/block/lookup.h"
#include "rocksdb/env.h"
#include "rowbloom/result.h"
#include "storage/filter_policy/front_filter/family_rules.h"

namespace rowbloom::front_filter {

// Memory that sections may take. Thread-safe.
class Budget {
 public:
  explicit Budget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  uint64_t used_bytes() const { return used_bytes_.load(); }
  bool HasRoomFor(uint64_t bytes) const {
    const uint64_t used = used_bytes_.load();
    return used <= limit_bytes_ && bytes <= limit_bytes_ - used;
  }
  // False: that would be beyond the limit.
  bool Take(uint64_t bytes);
  void GiveBack(uint64_t bytes) { used_bytes_.fetch_sub(bytes); }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
};

// The ROW section of one file, in memory of its own. Immutable.
class FileRows {
 public:
  // The reason why a file has no usable section.
  struct Problem {
    std::string message;
    // The bytes that its section would take, if they are beyond the budget;
    // else 0.
    uint64_t bytes_beyond_budget = 0;
  };
  struct Loaded {
    std::shared_ptr<const FileRows> rows;  // null: see problem
    Problem problem;
  };

  // Reads the section of the file at `path`. May throw std::bad_alloc.
  static Loaded Load(const FamilyRules& rules, rocksdb::Env* env,
                     const std::string& path,
                     const std::shared_ptr<Budget>& budget);

  ~FileRows();
  FileRows(const FileRows&) = delete;
  FileRows& operator=(const FileRows&) = delete;

  const SectionProbe& probe() const { return probe_; }
  uint64_t bytes() const { return bytes_; }

 private:
  FileRows() = default;

  SectionProbe probe_;  // of memory_
  std::unique_ptr<std::byte[]> memory_;
  uint64_t bytes_ = 0;  // taken from budget_
  std::shared_ptr<Budget> budget_;
};

}  // namespace rowbloom::front_filter
