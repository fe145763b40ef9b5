#include "lib/kernels/kernel.h"

#include <atomic>
#include <cstdlib>
#include <vector>

namespace rowbloom {
namespace {

std::vector<Kernel> FindUsable() {
  std::vector<Kernel> kernels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  if (avx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    kernels.push_back(kAvx512Kernel);
  }
  if (avx2) kernels.push_back(kAvx2Kernel);
#elif defined(__AARCH64EL__)
  kernels.push_back(kNeonKernel);
#endif
  kernels.push_back(kScalarKernel);
  return kernels;
}

// Never destroyed: a policy may be made while the process ends.
const Result<const Kernel*>& Forced() {
  static const auto& forced =
      *new Result<const Kernel*>(ChooseKernel(std::getenv("ROWBLOOM_KERNEL")));
  return forced;
}

std::atomic<const Kernel*>& Active() {
  static std::atomic<const Kernel*> active{Forced() ? *Forced()
                                                    : &UsableKernels().front()};
  return active;
}

}  // namespace

std::span<const Kernel> UsableKernels() {
  static const auto& kernels = *new std::vector<Kernel>(FindUsable());
  return kernels;
}

Result<const Kernel*> ChooseKernel(const char* forced_name) {
  const std::span<const Kernel> usable = UsableKernels();
  if (forced_name == nullptr || *forced_name == '\0') return &usable.front();
  std::string names;
  for (const Kernel& kernel : usable) {
    if (kernel.name == forced_name) return &kernel;
    names.append(names.empty() ? "" : ", ").append(kernel.name);
  }
  return Error{"ROWBLOOM_KERNEL=" + std::string(forced_name) +
               " is not a kernel that this CPU runs: expected one of " + names};
}

std::string ForcedKernelProblem() {
  return Forced() ? std::string() : Forced().error();
}

const Kernel& ActiveKernel() {
  return *Active().load(std::memory_order_relaxed);
}

void UseKernel(const Kernel& kernel) {
  Active().store(&kernel, std::memory_order_relaxed);
}

}  // namespace rowbloom
