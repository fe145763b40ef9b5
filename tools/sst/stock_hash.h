// The hashes of keys in RocksDB's own filters. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowbloom::sst {

// The hash of Bloom (format_version 5 and later) and Ribbon filters: XXH3 with
// 64 bits and seed 0 as it was in the preview of xxHash 0.7.2, which RocksDB
// froze, and not what libxxhash computes. Only the empty string differs from
// that preview. Source: RocksDB 7.8.3, util/xxph3.h and util/hash.cc.
uint64_t StockHash64(std::string_view key);

// The hash of the legacy Bloom filter: 32 bits, like MurmurHash1. Source:
// RocksDB 7.8.3, util/hash.cc, BloomHash in util/hash.h.
uint32_t StockLegacyHash(std::string_view key);

}  // namespace rowbloom::sst
