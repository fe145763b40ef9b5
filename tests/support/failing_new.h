// Memory that runs out on demand. A program that is linked with failing_new.cc
// has its operator new and delete replaced, for RocksDB's library too.
#pragma once

#include <cstddef>

namespace rowbloom::test {

// While it lives, this thread's operator new succeeds so many times, and then
// throws: once, or until the end. REQUIRES one at a time in each thread.
class FailingNew {
 public:
  enum class For { kOneCall, kAllCalls };

  FailingNew(size_t successes, For failures);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  // True once a call has failed.
  static bool HasFailed();
  // The calls so far. REQUIRES that none has failed.
  size_t Calls() const;

 private:
  const size_t successes_;
};

}  // namespace rowbloom::test
