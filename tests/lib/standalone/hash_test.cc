#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lib/standalone/key_hash.h"
#include "tests/lib/standalone/serialized.h"

namespace rowbloom {
namespace {

// The bytes 00 01 02 ..., as the published vectors have them.
const FilterSecret kVectorSecret = test::Secret(0);

std::string CountingBytes(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// The vectors are vectors_sip128 of the authors' reference implementation;
// OpenSSL's SIPHASH gives the same.
TEST(SipHash, GivesThePublishedOutput) {
  struct Vector {
    size_t bytes;
    uint64_t low, high;
  };
  for (const Vector& c :
       std::vector<Vector>{{0, 0xe6a825ba047f81a3, 0x930255c71472f66d},
                           {1, 0x44af996bd8c187da, 0x45fc229b11597634},
                           {2, 0xc75da4a48d227781, 0xe4ff0af6de8ba3fc},
                           {3, 0x4ea967520cb6709c, 0x51ed8529b0b6335f},
                           {8, 0x61f55862baa9623b, 0xb49714f364e2830f},
                           {15, 0x11a8b03399e99354, 0xd9c3cf970fec087e}}) {
    const Hash128 hash = SipHash(kVectorSecret, CountingBytes(c.bytes));
    EXPECT_EQ(hash.low, c.low) << c.bytes;
    EXPECT_EQ(hash.high, c.high) << c.bytes;
  }
}

TEST(HashKey, DependsOnTheSecretAndOnNothingElse) {
  FilterSecret other = kVectorSecret;
  other[15] = std::byte(0);
  const Hash128 open = HashKey(std::nullopt, "key");
  EXPECT_EQ(open.low, HashKey(std::nullopt, "key").low);
  EXPECT_NE(open.low, HashKey(kVectorSecret, "key").low);
  EXPECT_NE(HashKey(other, "key").low, HashKey(kVectorSecret, "key").low);
  // XXH3-128 of no bytes, as the xxHash specification has it.
  EXPECT_EQ(HashKey(std::nullopt, "").low, 0x6001c324468d497f);
  EXPECT_EQ(HashKey(std::nullopt, "").high, 0x99aa06d3014798d8);
}

TEST(VisitPlaces, StaysBelowTheCountAndReachesAllOfIt) {
  for (const uint64_t count : {uint64_t{1}, uint64_t{3}, uint64_t{64}}) {
    std::vector<int> hits(count);
    for (int key = 0; key < 100; ++key) {
      VisitPlaces(HashKey(std::nullopt, std::to_string(key)),
                  {.bits = count, .hashes = 10}, [&](uint64_t place) {
                    EXPECT_LT(place, count);
                    if (place < count) ++hits[place];
                    return place < count;
                  });
    }
    for (const int hit : hits) EXPECT_GT(hit, 0);
  }
}

}  // namespace
}  // namespace rowbloom
