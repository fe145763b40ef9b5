// A secret that keeps outsiders from choosing what a filter answers.
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
// keys. The secret is not stored with the filter, which cannot be read without
// it: keep it. Draw it from the system's random numbers, one for each purpose.
// The checksums of serialized filters protect against damage, not against
// people: bytes from people who are not trusted need a signature around them.
#pragma once

#include <array>
#include <cstddef>

namespace rowbloom {

using FilterSecret = std::array<std::byte, 16>;

}  // namespace rowbloom
