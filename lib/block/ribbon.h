// The filter kind `ribbon`; FORMAT.md has its bytes and the paper. Each key is
// one equation over 64 neighbouring slots of a system, and the filter is the
// solution. If a bucket has too many keys, those at its start go to the next,
// smaller system, so that each system can be filled almost to the last slot.
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

// The limit for the last system of a filter, which is tried with one seed and
// size after the other: the hashes of all tries, about a second. Random hashes
// need a few tries of some hundreds. Hashes chosen to crowd may have no
// solution.
constexpr size_t kMaxTriedHashes = size_t{1} << 24;

// Appends a filter of the hashes to `out`. Equal ones take room each. Each
// layer but the last has `slots_per_key` slots for each key. This takes 21
// bytes of memory for each key beside its hash. False: the last system is not
// solved by `max_tried_hashes` (less than one filter in 10^9 of distinct
// hashes), there are 2^32 hashes or more, or the filter would be longer than
// `max_bytes`. May throw std::bad_alloc. Both leave `out` unchanged.
bool AppendRibbon(std::span<const std::span<const uint64_t>> hashes,
                  double false_positive_rate, size_t max_bytes,
                  std::string* out, double slots_per_key = kRibbonSlotsPerKey,
                  size_t max_tried_hashes = kMaxTriedHashes);

// Reads a payload, which must outlive the result. nullopt: a length or an
// offset is wrong, as the sentence in *problem says.
std::optional<RibbonFilter> ParseRibbon(std::string_view payload,
                                        std::string* problem);

// The rate that follows from the columns of the filter.
double RibbonFalsePositiveRate(const RibbonFilter& filter);

}  // namespace rowbloom
