// The bits that a filter of a kind takes for a rate, and back: bloom_math.h
// and ribbon.h behind one question, for plans that spread bits.
#pragma once

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// Bits for each key of a large filter with `rate`. Of kRibbon those of kBloom
// if they are fewer, as the builder takes kBloom then.
double KindBits(FilterKind kind, double rate);

// Inverse of KindBits: the least rate that so many bits give, between those of
// kMaxBitsPerKey and kMinBitsPerKey of kBloom; of kRibbon at least that of its
// most columns.
double KindRate(FilterKind kind, double bits_per_key);

}  // namespace rowbloom
