// WaitFor(condition): waits for what RocksDB or a worker does in the
// background.
//
//   EXPECT_TRUE(WaitFor([&] { return Files() == 1; }));
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace rowbloom::test {

// Returns true once the condition holds. Returns false when it does not within
// two minutes, which is far more than a loaded machine with a slow disk needs:
// a test that asserts the result fails for a mistake only. The condition is
// evaluated every millisecond in this thread.
inline bool WaitFor(const std::function<bool()>& condition) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace rowbloom::test
