// The filter kind `ribbon`; FORMAT.md has its bytes and the paper. Each key is
// one equation over 64 neighbouring slots of a system, and the filter is the
// solution. A bucket where too many keys meet sends those at its start to a
// next, smaller system, so that each system can be filled almost to the last
// slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/kernels/ribbon_equation.h"
#include "rowbloom/bloom_type.h"

namespace rowbloom {

// The hashes that are tried for the last system of a filter, with one seed and
// size after the other, before it is given up: about a second. Random hashes
// need a few tries of some hundreds; those that were chosen to crowd may have
// no solution.
constexpr size_t kMaxTriedHashes = size_t{1} << 24;

// Appends a filter of the hashes to `out`, where equal hashes count once, with
// this many slots for each key of a layer that may send keys on. That takes 21
// bytes for each key beside its hash. False: the last system is not solved
// before this many hashes were tried (less than one filter in 10^9 of distinct
// hashes), there are 2^32 hashes or more, or the filter would be longer than
// `max_bytes`. May throw std::bad_alloc. Either way `out` is as it was.
bool AppendRibbon(std::span<const std::span<const uint64_t>> hashes,
                  double false_positive_rate, size_t max_bytes,
                  std::string* out, double slots_per_key = kRibbonSlotsPerKey,
                  size_t max_tried_hashes = kMaxTriedHashes);

// Reads a payload, which must outlive the result. nullopt, with *problem as a
// sentence, if any length or offset is not as it should be.
std::optional<RibbonFilter> ParseRibbon(std::string_view payload,
                                        std::string* problem);

// The rate that follows from the columns of the filter.
double RibbonFalsePositiveRate(const RibbonFilter& filter);

}  // namespace rowbloom
