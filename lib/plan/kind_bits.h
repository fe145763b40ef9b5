// The bits that a filter of a kind takes for a rate, and back: bloom_math.h and
// ribbon_math.h behind one function.
#pragma once

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// Bits for each key of a large filter with `rate`. kRibbon has those of kBloom
// where they are fewer, as the builder takes kBloom then.
double KindBits(FilterKind kind, double rate);

// Inverse of KindBits: the lowest rate that so many bits give. It lies between
// the rates of kMaxBitsPerKey and kMinBitsPerKey of kBloom; kRibbon has at
// least the rate of its most columns.
double KindRate(FilterKind kind, double bits_per_key);

}  // namespace rowbloom
