// The hash functions of HBase's Bloom filters, 32 bits from bytes and a seed.
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "rowbloom/hfile_format.h"

namespace rowbloom::hfile {

// jenkins: lookup3's hashlittle (Bob Jenkins, 2006), the seed being added to
// its start. murmur: MurmurHash2 (Austin Appleby), except that the last one to
// three bytes are signed, as Java's are. murmur3: MurmurHash3_x86_32.
uint32_t BloomHash(HFileHash hash, std::string_view bytes, uint32_t seed);

}  // namespace rowbloom::hfile
