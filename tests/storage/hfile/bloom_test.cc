// The arithmetic of HBase's Bloom filters against vectors that its classes
// made.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "storage/hfile/bloom_chunk.h"
#include "storage/hfile/bloom_filter.h"
#include "storage/hfile/bloom_hash.h"
#include "tests/storage/hfile/dump.h"
#include "tests/support/data.h"

namespace rowbloom::hfile {
namespace {

using nlohmann::json;

json BloomVectors() {
  std::ifstream in(test::DataPath("hbase/bloom_vectors.json"));
  return json::parse(in);
}

// The plan of the chunks that a filter's description implies matches chunks
// that were filled and folded.
TEST(HFileChunkPlan, IsThatOfTheWriter) {
  for (const uint64_t bytes : {256U, 300U, 4096U}) {
    const ChunkSizing sizing = SizeChunk(bytes, 0.01F, /*max_fold=*/2);
    for (uint64_t keys = 1; keys < 4 * sizing.max_keys;
         keys += 1 + sizing.max_keys / 37) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(keys));
      HFileBloomInfo info;
      info.key_count = keys;
      const uint64_t full_chunks = (keys - 1) / sizing.max_keys;
      BloomChunk last(sizing, HFileHash::kMurmur);
      for (uint64_t i = full_chunks * sizing.max_keys; i < keys; ++i) {
        last.Add(std::to_string(i));
      }
      last.Fold();
      info.chunk_count = static_cast<uint32_t>(full_chunks + 1);
      info.max_keys = full_chunks * sizing.max_keys + last.max_keys();
      const auto plan = PlanChunks(info, sizing.bytes, last.bits().size());
      ASSERT_TRUE(plan.has_value());
      EXPECT_EQ(plan->last_keys, last.key_count());
      EXPECT_EQ(plan->last_max_keys, last.max_keys());
      ASSERT_TRUE(plan->last_folds.has_value());
      EXPECT_EQ(sizing.bytes >> *plan->last_folds, last.bits().size());
      if (full_chunks > 0) {
        EXPECT_EQ(plan->full_keys, sizing.max_keys);
      }
      // Numbers that no writer leaves.
      if (full_chunks > 0) {
        HFileBloomInfo wrong = info;
        wrong.key_count = info.max_keys + 1;
        EXPECT_FALSE(
            PlanChunks(wrong, sizing.bytes, last.bits().size()).has_value());
        EXPECT_FALSE(PlanChunks(info, sizing.bytes, 0).has_value());
      }
    }
  }
  EXPECT_FALSE(PlanChunks({}, 256, 256).has_value());
}

TEST(HFileBloomVectors, HashesAreThoseOfHBase) {
  const json vectors = BloomVectors();
  size_t compared = 0;
  for (const json& row : vectors.at("hashes")) {
    const std::string bytes = test::FromHex(row.at("hex"));
    for (const HFileHash hash :
         {HFileHash::kJenkins, HFileHash::kMurmur, HFileHash::kMurmur3}) {
      const json& expected = row.at(std::string(ToString(hash)));
      const auto check = [&](const char* name, uint32_t seed) {
        ASSERT_EQ(static_cast<int32_t>(BloomHash(hash, bytes, seed)),
                  expected.at(name).get<int32_t>())
            << ToString(hash) << " of " << row.at("hex") << ", " << name;
        ++compared;
      };
      check("seed0", 0);
      check("seed_minus1", ~uint32_t{0});
      check("seed_0x5eed", 0x5eed);
      check("seed_is_hash0", BloomHash(hash, bytes, 0));
    }
  }
  EXPECT_EQ(compared, 133U * 3 * 4);
}

TEST(HFileBloomVectors, ChunksAreSizedAsHBaseSizesThem) {
  const json vectors = BloomVectors();
  EXPECT_EQ(vectors.at("sizing").size(), 234U);
  for (const json& row : vectors.at("sizing")) {
    const ChunkSizing sizing =
        SizeChunk(row.at("byteSizeHint").get<uint64_t>(),
                  row.at("errorRate_double").get<double>(),
                  row.at("foldFactor").get<uint32_t>());
    EXPECT_EQ(sizing.bytes, row.at("byteSize").get<uint64_t>()) << row;
    EXPECT_EQ(sizing.ideal_keys, row.at("idealMaxKeys").get<uint64_t>()) << row;
    EXPECT_EQ(sizing.hash_count, row.at("hashCount").get<uint32_t>()) << row;
    EXPECT_EQ(sizing.max_keys, row.at("maxKeys").get<uint64_t>()) << row;
  }
}

// The bytes that are hashed: a row, or a row and a qualifier.
std::string KeyOf(const json& key) {
  if (key.is_string()) return test::FromHex(key);
  const std::string row = test::FromHex(key.at("row"));
  const std::string qualifier = test::FromHex(key.at("qualifier"));
  const std::string bytes = RowColBloomKey(row, qualifier);
  EXPECT_EQ(bytes, test::FromHex(key.at("bloom_key")));
  return bytes;
}

TEST(HFileBloomVectors, ChunksHaveTheBitsThatHBaseSets) {
  const json vectors = BloomVectors();
  EXPECT_EQ(vectors.at("chunks").size(), 9U);
  for (const json& row : vectors.at("chunks")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    const auto hash = static_cast<HFileHash>(row.at("hashType").get<int>());
    // The errorRate of a ROWCOL filter is already that of a single probe.
    const ChunkSizing sizing =
        SizeChunk(row.at("byteSizeHint").get<uint64_t>(),
                  row.at("errorRate_double").get<double>(),
                  row.at("foldFactor").get<uint32_t>());
    BloomChunk chunk(sizing, hash);
    EXPECT_EQ(chunk.bits().size(), row.at("before_fold").at("byteSize"));
    EXPECT_EQ(chunk.max_keys(), row.at("before_fold").at("maxKeys"));
    EXPECT_EQ(sizing.hash_count, row.at("hashCount"));
    for (const json& key : row.at("inserted")) chunk.Add(KeyOf(key));
    EXPECT_EQ(chunk.key_count(), row.at("keyCount"));
    const std::string unfolded = chunk.bits();
    if (row.at("bits_before_fold_hex").is_string()) {
      EXPECT_EQ(unfolded, test::FromHex(row.at("bits_before_fold_hex")));
    }
    chunk.Fold();
    EXPECT_EQ(chunk.bits().size(), row.at("after_fold").at("byteSize"));
    EXPECT_EQ(chunk.max_keys(), row.at("after_fold").at("maxKeys"));
    EXPECT_EQ(chunk.bits(), test::FromHex(row.at("bits_hex")));
    const auto may = [&](const std::string& bits, const json& key) {
      return ChunkMayContain(bits, hash, sizing.hash_count, KeyOf(key));
    };
    for (const json& key : row.at("inserted")) {
      EXPECT_TRUE(may(unfolded, key) && may(chunk.bits(), key)) << key;
    }
    for (const json& absent : row.at("absent")) {
      EXPECT_EQ(may(unfolded, absent.at("key")),
                absent.at("contains_before_fold"))
          << absent;
      EXPECT_EQ(may(chunk.bits(), absent.at("key")), absent.at("contains"))
          << absent;
    }
    for (const json& key : row.at("extra_false_positives")) {
      EXPECT_TRUE(may(chunk.bits(), key)) << key;
    }
  }
}

}  // namespace
}  // namespace rowbloom::hfile
