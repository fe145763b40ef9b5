// The hash functions of HBase's Bloom filters. They map bytes and a seed to 32
// bits. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "rowbloom/hfile_format.h"

namespace rowbloom::hfile {

// Returns the hash of the bytes. jenkins is lookup3's hashlittle (Bob Jenkins,
// 2006) with the seed added to its start value. murmur is MurmurHash2 (Austin
// Appleby), but its last one to three bytes are signed, as in Java. murmur3 is
// MurmurHash3_x86_32.
uint32_t BloomHash(HFileHash hash, std::string_view bytes, uint32_t seed);

}  // namespace rowbloom::hfile
