// The writer of a filter block. The byte five before a block's end tells
// RocksDB's own kinds apart (7.8.3, table/block_based/filter_policy.cc): -1
// Bloom, -2 Ribbon, 1 and more the legacy Bloom's number of probes; up to five
// bytes are an empty filter. rowbloom's blocks have a marker of their own
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::sst_inspect {

enum class FilterOrigin : uint8_t {
  kRowbloom,
  kBloom,
  kRibbon,
  kLegacyBloom,
  kEmpty,    // answers "not there" to everything
  kUnknown,  // another marker, or a policy that is neither RocksDB's nor ours
};

// `compatibility_name`: as the metaindex names the policy.
FilterOrigin OriginOf(std::string_view compatibility_name,
                      std::string_view contents);

// "rowbloom's", or for others "not rowbloom's: RocksDB Ribbon (marker -2)".
std::string Describe(FilterOrigin origin, std::string_view compatibility_name,
                     std::string_view contents);

}  // namespace rowbloom::sst_inspect
