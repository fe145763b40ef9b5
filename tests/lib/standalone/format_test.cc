// The examples in FORMAT.md are what the classes write. After a change of the
// format: the message of the failed test has the bytes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tests/lib/standalone/serialized.h"
#include "tests/support/hex_examples.h"

namespace rowbloom {
namespace {

TEST(StandaloneFormat, ExamplesAreWhatTheClassesWrite) {
  auto classic = *ClassicBloomFilter::Create(2, 0.1);
  auto counting = *CountingBloomFilter::Create(2, 0.1);
  auto scalable = *ScalableBloomFilter::Reserve(1, 0.1);
  auto cuckoo = *CuckooFilter::Create(2, 0.1);
  const FilterSecret secret = test::Secret(0);
  auto keyed = *CuckooFilter::Create(2, 0.1, secret);
  for (const char* key : {"a", "b"}) {
    classic.Put(key);
    counting.Add(key);
    scalable.Add(key);
    EXPECT_EQ(cuckoo.Add(key), CuckooFilter::AddOutcome::kAdded);
    EXPECT_EQ(keyed.Add(key), CuckooFilter::AddOutcome::kAdded);
  }
  const std::vector<std::string> written = {
      *classic.Serialize(), classic.SerializeChecked(), counting.Serialize(),
      scalable.Serialize(), cuckoo.Serialize(),         keyed.Serialize()};
  const std::vector<std::string> documented =
      test::ReadHexExamples(ROWBLOOM_STANDALONE_FORMAT_MD);
  ASSERT_EQ(documented.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(documented[i], written[i])
        << "example " << i << ":" << test::HexLines(written[i]);
  }
  // Old bytes stay readable.
  if (HasFailure()) return;
  EXPECT_TRUE(ClassicBloomFilter::Parse(documented[0])->MightContain("b"));
  EXPECT_TRUE(
      ClassicBloomFilter::ParseChecked(documented[1])->MightContain("b"));
  EXPECT_TRUE(CountingBloomFilter::Parse(documented[2])->Contains("b"));
  EXPECT_TRUE(ScalableBloomFilter::Parse(documented[3])->Contains("b"));
  EXPECT_TRUE(CuckooFilter::Parse(documented[4])->Contains("b"));
  EXPECT_TRUE(CuckooFilter::Parse(documented[5], secret)->Contains("b"));
}

}  // namespace
}  // namespace rowbloom
