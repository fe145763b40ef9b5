// The inner loops of the `bloom` filter kind, one implementation per
// instruction set behind one table. All work on the same bytes and agree bit
// for bit; the scalar one is the reference. lib/block/FORMAT.md has the rule
// that maps a hash to bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/kernels/matcher.h"
#include "rowbloom/result.h"

namespace rowbloom {

struct MatchFunctions {
  // Asks for a key, a KeyView.
  Answer (*match)(const Matcher& matcher, const void* key);
  // The same, when only whether the key may be there matters, and counts the
  // answer in matcher.counters.
  bool (*may_match)(const Matcher& matcher, const void* key);
  // match for up to BatchAnswers::kMaxKeys keys. `key_pointers` is an array of
  // pointers to KeyViews.
  void (*match_batch)(const Matcher& matcher, const void* key_pointers,
                      size_t count, BatchAnswers* answers);
};

// By how the row of a key ends and, where it is known before, how long it is:
// that decides how it is hashed.
struct MatchFunctionsByLayout {
  MatchFunctions escaped;
  MatchFunctions delimited;
  MatchFunctions length_prefixed;
  MatchFunctions fixed_to_16;  // bytes
  MatchFunctions fixed_to_32;
  MatchFunctions fixed_to_32_large;  // a ROW section beyond a core's caches
  MatchFunctions fixed_to_32_large_rows;  // the same without a ROWCOL section
  MatchFunctions fixed_more;

  const MatchFunctions& For(const Matcher& matcher) const;
};

// One implementation. Stateless and thread-safe.
struct BloomKernel {
  std::string_view name;
  // Whether all bits of `hash` are set.
  bool (*may_contain)(const BloomBlocks& blocks, uint64_t hash);
  // Whether the columns of `hash` give its fingerprint.
  bool (*ribbon_may_contain)(const RibbonFilter& filter, uint64_t hash);
  // Writes the solution of a layer's system to `words`, which hold all of its
  // blocks. `columns` of narrow blocks.
  void (*ribbon_solve)(const RibbonSystem& system, const RibbonShape& layer,
                       int columns, std::byte* words);
  // Sets the bits of each hash. `data` is the writable form of blocks.data.
  void (*add)(const BloomBlocks& blocks, std::byte* data,
              const uint64_t* hashes, size_t hash_count);
  // Starts loading the block of `hash` into the cache.
  void (*prefetch)(const BloomBlocks& blocks, uint64_t hash);
  // By Sections. Tests leave them out.
  std::array<MatchFunctionsByLayout, kSectionsCases> match;

  bool HasMatch() const { return match.front().escaped.match != nullptr; }
  const MatchFunctions& MatchFor(const Matcher& matcher) const {
    return match[static_cast<size_t>(SectionsOf(matcher))].For(matcher);
  }
};

// The kernels that were compiled in and that this CPU runs, fastest first; the
// scalar one is always the last.
std::span<const BloomKernel> UsableKernels();

// The kernel in use: the one that the environment variable ROWBLOOM_KERNEL
// names, or else the fastest, unless UseKernel was called. The environment is
// read once per process.
const BloomKernel& ActiveKernel();

// Empty, or why ROWBLOOM_KERNEL is not followed, as a sentence: the name is
// unknown, or this CPU cannot run the kernel.
std::string ForcedKernelProblem();

// Makes `kernel`, one of UsableKernels(), the active one for blocks that are
// built or opened from now on; open blocks keep theirs. Thread-safe. For
// benchmarks and tests, which compare kernels in one process.
void UseKernel(const BloomKernel& kernel);

// The kernel of this name, or the fastest for "" and null. Error: the name is
// unknown, or this CPU cannot run the kernel.
Result<const BloomKernel*> ChooseKernel(const char* forced_name);

// Sets the bits of the hashes without special instructions: few enough for
// every kernel to use it.
void AddScalar(const BloomBlocks& blocks, std::byte* data,
               const uint64_t* hashes, size_t hash_count);

// Each is defined where its instruction set is compiled in. kernel.cc alone
// refers to them, after asking the CPU. They are constant-initialised: no code
// of those files may run before.
extern const BloomKernel kScalarKernel;
extern const BloomKernel kAvx2Kernel;
extern const BloomKernel kAvx512Kernel;

}  // namespace rowbloom
