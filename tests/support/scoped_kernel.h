// A kernel for the blocks that a test builds and opens.
#pragma once

#include "lib/kernels/kernel.h"

namespace rowbloom::test {

// The kernels that are compiled in for this CPU's kind; it may lack the
// instructions of some.
inline constexpr const char* kKernelNames[] = {
    "scalar",
#if defined(__x86_64__)
    "avx2",
    "avx512",
#elif defined(__AARCH64EL__)
    "neon",
#endif
};

// Makes a kernel, which has to outlive its blocks, the active one until the end
// of the scope.
class ScopedKernel {
 public:
  explicit ScopedKernel(const Kernel& kernel) { UseKernel(kernel); }
  ~ScopedKernel() { UseKernel(before_); }
  ScopedKernel(const ScopedKernel&) = delete;
  ScopedKernel& operator=(const ScopedKernel&) = delete;

 private:
  const Kernel& before_ = ActiveKernel();
};

}  // namespace rowbloom::test
