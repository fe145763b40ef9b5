// The parts that the filters without a database have in common: their
// serialized forms, and a secret that keeps outsiders from choosing answers.
//
// Without a secret the hash of a filter is public. People who choose keys can
// then find, on a machine of their own, keys that all set the same bits, that
// are false positives, or that fill one bucket. Give a secret where keys come
// from people who gain by that (URLs of a crawler, e-mail addresses of a
// sign-up form) and where false positives cost something: a lookup for each
// request, a page that is never fetched, a name that cannot be taken. Keys that
// only your own programs make need none.
//
// With a secret the hash is SipHash-2-4 with 128 bits of output (J.-P.
// Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012) in place
// of XXH3-128 or Guava's MurmurHash3, and answers tell nothing about other
// keys. Draw the secret from the system's random numbers, one for each purpose,
// and keep it: it is not stored with the filter, which cannot be read without.
//
// Serialize (of ClassicBloomFilter, SerializeChecked) writes a filter with a
// version, a checksum and a check of the secret; lib/standalone/FORMAT.md has
// the bytes. Parse (ParseChecked) is the inverse, with the secret that the
// filter was made with. Error: damaged bytes, another version, or another
// secret. Both may throw std::bad_alloc. The checksum protects against damage,
// not against people: bytes from people who are not trusted need a signature
// around them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

using FilterSecret = std::array<std::byte, 16>;

// The kinds of serialized filters. The values are on disk, except kGuava: never
// renumber.
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

}  // namespace rowbloom
