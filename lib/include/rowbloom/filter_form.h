// What kind of filter some bytes are, for programs that read any.
#pragma once

#include <cstdint>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// The forms in which the filters of this library are written. But for kGuava
// the values are on disk: never renumber.
enum class FilterForm : uint8_t {
  kGuava = 0,     // ClassicBloomFilter::Serialize, Guava's BloomFilter.writeTo
  kClassic = 1,   // ClassicBloomFilter::SerializeChecked
  kCounting = 2,  // CountingBloomFilter::Serialize
  kScalable = 3,  // ScalableBloomFilter::Serialize
  kCuckoo = 4,    // CuckooFilter::Serialize
};

// "guava", "classic", "counting", "scalable", "cuckoo".
std::string_view ToString(FilterForm form);

// A look at the first bytes: nothing more of them is checked, that is for the
// Parse of the class. Guava's form has no mark of its own: bytes that have
// another's, a strategy and a number of hashes that Guava knows, and the length
// that they speak of, are taken for it. Error: none of the forms, or one of a
// later version.
Result<FilterForm> IdentifyFilter(std::string_view bytes);

// Whether the filter needs its secret to be parsed. REQUIRES
// IdentifyFilter(bytes).
bool NeedsSecret(std::string_view bytes);

}  // namespace rowbloom
