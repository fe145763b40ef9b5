// The inner loops over the bytes of sections, one implementation per
// instruction set behind one table of functions. lib/block/FORMAT.md has the
// rules of the bytes, README.md those of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/kernels/bloom_block.h"
#include "lib/kernels/ribbon_equation.h"
#include "rowbloom/result.h"

namespace rowbloom {

// One implementation. Stateless and thread-safe.
struct Kernel {
  // The most hashes of one call: the answer has a bit for each.
  static constexpr size_t kMaxMany = 32;

  std::string_view name;

  // Tells whether all bits of `hash` are set.
  bool (*may_contain)(const BloomBlocks& blocks, uint64_t hash);
  // The same for `count` hashes, kMaxMany at most: bit i is for hashes[i].
  uint32_t (*may_contain_many)(const BloomBlocks& blocks,
                               const uint64_t* hashes, size_t count);
  // The same for one hash in `count` sections, kMaxMany at most, which all have
  // the same number of probes: bit i is for sections[i].
  uint32_t (*sections_with)(const BloomBlocks* sections, size_t count,
                            uint64_t hash);
  // Tells whether the columns of `hash` give its fingerprint.
  bool (*ribbon_may_contain)(const RibbonFilter& filter, uint64_t hash);
  uint32_t (*ribbon_may_contain_many)(const RibbonFilter& filter,
                                      const uint64_t* hashes, size_t count);
  // Sets the bits of each hash. `data` is the writable form of blocks.data.
  void (*add)(const BloomBlocks& blocks, std::byte* data,
              const uint64_t* hashes, size_t hash_count);
};

// The kernels that were compiled in and that this CPU runs, fastest first; the
// scalar one is always the last.
std::span<const Kernel> UsableKernels();

// Returns the kernel in use: the last one of UseKernel, or else the one that
// the environment variable ROWBLOOM_KERNEL names, or else the fastest. The
// environment is read once per process.
const Kernel& ActiveKernel();

// Returns a sentence that says why ROWBLOOM_KERNEL has no effect, or "".
std::string ForcedKernelProblem();

// Makes `kernel`, which has to outlive its use, the active one for blocks that
// are built or opened from now on; open blocks keep theirs. Thread-safe. For
// benchmarks and tests, which compare kernels in one process.
void UseKernel(const Kernel& kernel);

// The kernel of this name, or the fastest for "" and null. Error: the name is
// unknown, or this CPU cannot run the kernel.
Result<const Kernel*> ChooseKernel(const char* forced_name);

// Implements Kernel::add without special instructions. All kernels use it for
// the hashes after their last whole group.
void AddScalar(const BloomBlocks& blocks, std::byte* data,
               const uint64_t* hashes, size_t hash_count);

// Each is defined if its instruction set is compiled in. Only kernel.cc refers
// to them, after it has checked the CPU. They are constant-initialised, so that
// no code of their files runs before the check.
extern const Kernel kScalarKernel;
extern const Kernel kAvx2Kernel;
extern const Kernel kAvx512Kernel;
extern const Kernel kNeonKernel;

}  // namespace rowbloom
