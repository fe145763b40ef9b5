#include "lib/kernels/kernel.h"

#include <array>
#include <atomic>
#include <cstdlib>

#include "lib/kernels/block_index.h"

namespace rowbloom {
namespace {

// More than the second cache of a core has.
constexpr uint64_t kLargeBytes = uint64_t{4} << 20;

struct KernelList {
  std::array<BloomKernel, 3> kernels;
  size_t count = 0;

  KernelList() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      kernels[count++] = kAvx512Kernel;
    }
    if (avx2) kernels[count++] = kAvx2Kernel;
#endif
    kernels[count++] = kScalarKernel;
  }
};

const Result<const BloomKernel*>& Forced() {
  static const Result<const BloomKernel*> forced =
      ChooseKernel(std::getenv("ROWBLOOM_KERNEL"));
  return forced;
}

std::atomic<const BloomKernel*>& Active() {
  static std::atomic<const BloomKernel*> active{
      Forced() ? *Forced() : &UsableKernels().front()};
  return active;
}

}  // namespace

const MatchFunctions& MatchFunctionsByLayout::For(
    const Matcher& matcher) const {
  switch (matcher.layout_kind) {
    case KeyLayout::Kind::kEscaped:
      return escaped;
    case KeyLayout::Kind::kDelimited:
      return delimited;
    case KeyLayout::Kind::kLengthPrefixed:
      return length_prefixed;
    default:
      if (matcher.layout_parameter <= 16) return fixed_to_16;
      if (matcher.layout_parameter > 32) return fixed_more;
      if (matcher.row.count * kBlockBytes < kLargeBytes) return fixed_to_32;
      return matcher.has_row_col ? fixed_to_32_large : fixed_to_32_large_rows;
  }
}

std::span<const BloomKernel> UsableKernels() {
  static const KernelList list;
  return {list.kernels.data(), list.count};
}

Result<const BloomKernel*> ChooseKernel(const char* forced_name) {
  const std::span<const BloomKernel> usable = UsableKernels();
  if (forced_name == nullptr || *forced_name == '\0') return &usable.front();
  std::string names;
  for (const BloomKernel& kernel : usable) {
    if (kernel.name == forced_name) return &kernel;
    names.append(names.empty() ? "" : ", ").append(kernel.name);
  }
  return Error{"ROWBLOOM_KERNEL=" + std::string(forced_name) +
               " is not a kernel that this CPU runs: expected one of " + names};
}

std::string ForcedKernelProblem() {
  return Forced() ? std::string() : Forced().error();
}

const BloomKernel& ActiveKernel() {
  return *Active().load(std::memory_order_relaxed);
}

void UseKernel(const BloomKernel& kernel) {
  Active().store(&kernel, std::memory_order_relaxed);
}

}  // namespace rowbloom
