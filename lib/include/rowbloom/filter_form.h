// The kind of a serialized filter, for programs that read any kind.
#pragma once

#include <cstdint>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// The forms in which the filters of this library are written. The values are on
// disk, except kGuava: never renumber.
enum class FilterForm : uint8_t {
  kGuava = 0,     // ClassicBloomFilter::Serialize, Guava's BloomFilter.writeTo
  kClassic = 1,   // ClassicBloomFilter::SerializeChecked
  kCounting = 2,  // CountingBloomFilter::Serialize
  kScalable = 3,  // ScalableBloomFilter::Serialize
  kCuckoo = 4,    // CuckooFilter::Serialize
};

// "guava", "classic", "counting", "scalable", "cuckoo".
std::string_view ToString(FilterForm form);

// The form that the head of the bytes names. The Parse of the class checks the
// rest. Guava's form has no mark: bytes without rowbloom's mark are taken for
// it if they have a strategy and a number of hashes that Guava knows, and the
// length that follows from their head. Error: none of the forms, or one of a
// later version.
Result<FilterForm> IdentifyFilter(std::string_view bytes);

// Tells whether the filter needs its secret to be parsed. REQUIRES
// IdentifyFilter(bytes).
bool NeedsSecret(std::string_view bytes);

}  // namespace rowbloom
