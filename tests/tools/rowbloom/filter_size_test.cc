// rowbloom filter-size: its sizes are those of the filters.
#include <gtest/gtest.h>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"

namespace rowbloom::test {
namespace {

// The sizes that `filter-size` prints in filter_size.transcript. Textbook
// numbers: 9.59 bits and 7 hashes, four bits in place of one, a stage of half
// the rate, 10 bits at a load of 0.95.
TEST(FilterSize, IsThatOfTheFilters) {
  EXPECT_EQ(ClassicBloomFilter::Create(1'000'000, 0.01)->size_bytes(),
            1'198'136u);
  EXPECT_EQ(CountingBloomFilter::Create(1'000'000, 0.01)->size_bytes(),
            4'796'480u);
  EXPECT_EQ(ScalableBloomFilter::Reserve(1'000'000, 0.01)->Info().size_bytes,
            1'379'336u);
  EXPECT_EQ(CuckooFilter::Create(1'000'000, 0.01)->size_bytes(), 1'316'190u);
}

}  // namespace
}  // namespace rowbloom::test
