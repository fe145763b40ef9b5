// FilterCheck: whether the filter of an SST has what is in the file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rocksdb/status.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/sst_filter.h"
#include "tools/sst_inspect/sst_table.h"

namespace rowbloom::sst_inspect {

// Looks up keys, and the rows or prefixes in them, in the filter, on a thread
// of its own: a lookup waits for memory, which needs no processor, while the
// next keys are decoded. A few keys are looked up without the thread. Holds one
// filter partition and 512 KiB of keys, or two keys that are longer. Not
// thread-safe.
class FilterCheck {
 public:
  // The problems are in the order of the keys; the first kMostProblems are
  // kept.
  static constexpr size_t kMostProblems = 20;
  struct Result {
    uint64_t keys_asked = 0;
    uint64_t rows_asked = 0;  // or prefixes
    uint64_t false_negatives = 0;
    uint64_t problem_count = 0;
    std::vector<std::string> problems;
    std::set<std::string> notes;  // why a lookup was left out
  };

  // The file and the format must outlive it.
  FilterCheck(const SstTable& file, const KeyFormat& format);
  ~FilterCheck();
  FilterCheck(const FilterCheck&) = delete;
  FilterCheck& operator=(const FilterCheck&) = delete;

  // Reads where the partitions are. Once, before anything else.
  rocksdb::Status Open();

  // Tells whether the file has a filter with something in it.
  bool has_filter() const { return !filter_.partitions().empty(); }

  // Keys without timestamps, in the file's order; whether they are `ascending`
  // in it. May throw std::bad_alloc.
  void Add(std::span<const std::string_view> keys, bool ascending);

  // Waits until all keys were looked up. Once, after the last key. Throws what
  // the thread threw.
  const Result& Finish();

 private:
  // Keys side by side.
  struct Keys {
    std::string bytes;
    std::vector<size_t> ends;
    bool ascending = true;

    void Clear();
  };

  void HandOver();
  void Work();
  void Stop();

  // These run on the thread, if there is one.
  void Ask(const Keys& keys);
  void AskFor(std::span<const std::string_view> keys, bool ascending);
  void LoadPartition(size_t partition);
  void CheckPartition(const DecodedFilter& filter);
  void AskPartition(std::span<const std::string_view> keys);
  void AskForPrefix(std::string_view key);
  void Problem(std::string text);
  void FalseNegative(std::string_view what, std::string_view bytes);

  const SstTable& file_;
  const TableFacts facts_;
  const KeyFormat& format_;
  const PrefixRule prefix_of_;

  // The members that belong to the thread from its start to its end.
  FilterAsker filter_;
  const DecodedFilter* asked_ = nullptr;  // the partition loaded last
  // Rows are split here as it splits them.
  bool rows_are_filters_ = false;
  std::optional<std::string> last_prefix_;  // that it let pass
  Result result_;

  Keys next_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The mutex guards these. The thread has handed_ while is_handed_.
  Keys handed_;
  bool is_handed_ = false;
  bool is_over_ = false;
  std::exception_ptr failure_;
};

}  // namespace rowbloom::sst_inspect
