// Rows that all threads write and read at once, without a lock of the test's:
// what one call writes is seen as a whole, nothing is lost between two writers
// of a row, and nothing goes back in time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/stress/store/session.h"

namespace rowbloom::store_stress {

// No share's.
inline constexpr char kCommonPrefix = '\xfe';
inline bool IsCommonRow(std::string_view row) {
  return row.front() == kCommonPrefix;
}

// The common rows of an open session, which outlives the object. Thread-safe.
class CommonRows {
 public:
  explicit CommonRows(Session* session);

  // One of the operations below. `thread` and `number` make written values
  // distinct.
  void Step(uint32_t thread, uint64_t number, Random* random);

  // For one thread, when no other has work under way: whether the counters have
  // counted each step, and pairs are pairs.
  void Check();

 private:
  // The same value in two families, or in none, by one batch.
  void WritePair(const std::string& value, Random* random);
  void ScanPairs(const char* how);
  void ReadPair(Random* random);
  void ComparePair(const std::vector<Cell>& cells, const char* how);
  // Counts by Increment, by CheckAndPut, and by a transaction.
  void Count(Random* random);
  void ReadCounts();
  uint64_t ReadCount(const char* family);

  Session* const session_;
  std::atomic<uint64_t> incremented_;
  std::atomic<uint64_t> swapped_;
};

}  // namespace rowbloom::store_stress
