// Memory that runs out on demand. A program that is linked with failing_new.cc
// has its operator new and delete replaced, for RocksDB's library too.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

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

// One run of calls, of which those between Begin and End meet the failure.
class Attempt {
 public:
  Attempt(size_t successes, FailingNew::For failures)
      : successes_(successes), failures_(failures) {}

  void Begin() { failing_.emplace(successes_, failures_); }
  void End() {
    failed_ = FailingNew::HasFailed();
    failing_.reset();
  }
  bool failed() const { return failed_; }

 private:
  size_t successes_;
  FailingNew::For failures_;
  std::optional<FailingNew> failing_;
  bool failed_ = false;
};

// Runs `call(&attempt)` with its first operator new failing, then with its
// second, until none fails. Returns the calls of operator new.
template <typename Call>
size_t WithEachFailure(FailingNew::For failures, Call call) {
  for (size_t count = 0;; ++count) {
    SCOPED_TRACE("operator new " + std::to_string(count) + " fails");
    Attempt attempt(count, failures);
    call(&attempt);
    if (!attempt.failed() || testing::Test::HasFailure()) return count;
  }
}

// Does so with that one alone failing, and with all after it.
template <typename Call>
size_t WithEachFailure(Call call) {
  WithEachFailure(FailingNew::For::kOneCall, call);
  return WithEachFailure(FailingNew::For::kAllCalls, call);
}

}  // namespace rowbloom::test
