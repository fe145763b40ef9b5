// The families that model tests of the store write to: each way to keep
// versions, and of those that expire.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rowbloom/store_options.h"

namespace rowbloom::test {

inline constexpr uint64_t kModelStart = 1'700'000'000'000;  // milliseconds
inline constexpr uint64_t kModelTtl = 4000;

inline const std::map<std::string, FamilyOptions> kModelFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 3}},
    {"expiring",
     {.bloom_type = BloomType::kRow,
      .timestamps = Timestamps::kClient,
      .max_versions = 4,
      .min_versions = 2,
      .ttl_ms = kModelTtl}},
    {"latest", {}},
    {"latest_ttl", {.ttl_ms = kModelTtl}},
    {"one", {.timestamps = Timestamps::kClient, .ttl_ms = kModelTtl}},
    {"store", {.bloom_type = BloomType::kNone, .max_versions = 2}},
};

}  // namespace rowbloom::test
