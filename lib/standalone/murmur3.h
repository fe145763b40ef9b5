// MurmurHash3 x64-128, seed 0, as Guava's Hashing.murmur3_128() has it: the
// hash that ClassicBloomFilter's bytes are bound to. Public domain algorithm by
// Austin Appleby (SMHasher, MurmurHash3_x64_128).
#pragma once

#include <string_view>

#include "lib/standalone/key_hash.h"

namespace rowbloom {

// low holds bytes 0 to 7 of Guava's HashCode, high bytes 8 to 15, each
// little-endian.
Hash128 Murmur3(std::string_view bytes);

}  // namespace rowbloom
