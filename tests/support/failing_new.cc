#include "tests/support/failing_new.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

thread_local size_t calls_left = kNever;
thread_local bool fails_for_good = false;
thread_local bool has_failed = false;

bool Fails() {
  if (calls_left == kNever) return false;
  if (calls_left > 0) {
    --calls_left;
    return false;
  }
  if (!fails_for_good) calls_left = kNever;
  has_failed = true;
  return true;
}

void* TryNew(size_t bytes) noexcept {
  return Fails() ? nullptr : std::malloc(std::max<size_t>(bytes, 1));
}

void* TryNew(size_t bytes, std::align_val_t alignment) noexcept {
  const auto align = static_cast<size_t>(alignment);
  const size_t whole = (std::max<size_t>(bytes, 1) + align - 1) & ~(align - 1);
  return Fails() ? nullptr : std::aligned_alloc(align, whole);
}

void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// All forms, since those of a sanitizer go by rules of their own.
using Align = std::align_val_t;
using NoThrow = std::nothrow_t;
void* operator new(size_t n) { return OrThrow(TryNew(n)); }
void* operator new[](size_t n) { return OrThrow(TryNew(n)); }
void* operator new(size_t n, Align a) { return OrThrow(TryNew(n, a)); }
void* operator new[](size_t n, Align a) { return OrThrow(TryNew(n, a)); }
void* operator new(size_t n, const NoThrow&) noexcept { return TryNew(n); }
void* operator new[](size_t n, const NoThrow&) noexcept { return TryNew(n); }
void* operator new(size_t n, Align a, const NoThrow&) noexcept {
  return TryNew(n, a);
}
void* operator new[](size_t n, Align a, const NoThrow&) noexcept {
  return TryNew(n, a);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, Align) noexcept { std::free(memory); }
void operator delete[](void* memory, Align) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, Align) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, Align) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const NoThrow&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const NoThrow&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, Align, const NoThrow&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, Align, const NoThrow&) noexcept {
  std::free(memory);
}

namespace rowbloom::test {

FailingNew::FailingNew(size_t successes, For failures) : successes_(successes) {
  has_failed = false;
  fails_for_good = failures == For::kAllCalls;
  calls_left = successes;
}

FailingNew::~FailingNew() { calls_left = kNever; }

size_t FailingNew::Calls() const { return successes_ - calls_left; }

bool FailingNew::HasFailed() { return has_failed; }

}  // namespace rowbloom::test
