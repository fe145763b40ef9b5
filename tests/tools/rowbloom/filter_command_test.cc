// rowbloom filter: what filter.transcript cannot show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/broken_stream.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class FilterCommand : public ::testing::Test {
 protected:
  CliResult Build(std::istream& in, bool err_is_terminal) {
    return Cli(
        {"filter", "build", "--expected", "10", "--fpp", "0.1", "-o", file_},
        in, err_is_terminal);
  }

  CliResult Check(const std::string& input) {
    return Cli({"filter", "check", file_}, input);
  }

  CliResult CheckAbsent(const std::string& input) {
    return Cli({"filter", "check", "-v", file_}, input);
  }

  TempDir dir_;
  const std::string file_ = dir_.File("seen.filter");
};

TEST_F(FilterCommand, EveryKindOfFilterIsAskedAndDescribed) {
  auto counting = *CountingBloomFilter::Create(100, 0.001);
  auto scalable = *ScalableBloomFilter::Reserve(100, 0.001);
  auto cuckoo = *CuckooFilter::Create(100, 0.001);
  counting.Add("a");
  scalable.Add("a");
  EXPECT_EQ(cuckoo.Add("a"), CuckooFilter::AddOutcome::kAdded);
  auto classic = *ClassicBloomFilter::Create(100, 0.001);
  classic.Put("a");
  const struct {
    std::string bytes;
    const char* kind;
    const char* line;
  } cases[] = {
      {*classic.Serialize(), "guava", "strategy +MURMUR128_MITZ_64\n"},
      {classic.SerializeChecked(), "classic", "keys, about +1\n"},
      {counting.Serialize(), "counting", "counters stuck +0\n"},
      {scalable.Serialize(), "scalable", "keys +1 of 100 before it grows\n"},
      {cuckoo.Serialize(), "cuckoo", "fingerprint bits +13\n"},
  };
  for (const auto& c : cases) {
    WriteFile(file_, c.bytes);
    EXPECT_EQ(Check("a\nb\n").out, "a\n") << c.kind;
    EXPECT_EQ(CheckAbsent("a\nb\n").out, "b\n") << c.kind;
    const CliResult info = Cli({"filter", "info", file_});
    EXPECT_EQ(info.code, 0);
    EXPECT_THAT(info.out, ContainsRegex("^kind +" + std::string(c.kind) +
                                        "\nfile bytes +[0-9]+\n"));
    EXPECT_THAT(info.out, ContainsRegex(c.line));
    EXPECT_THAT(info.out, ContainsRegex("false positive rate, now +[0-9.e-]+"));
  }
}

TEST_F(FilterCommand, AFilterWithASecretIsRefused) {
  auto keyed = *ScalableBloomFilter::Reserve(
      1, 0.1, {.secret = FilterSecret{std::byte{1}}});
  WriteFile(file_, keyed.Serialize());
  EXPECT_THAT(Check("a\n").err, HasSubstr("secret"));
}

TEST_F(FilterCommand, AFailedBuildLeavesTheFileAsItWas) {
  WriteFile(file_, "before");
  BrokenStream broken("a\nb\n");
  const CliResult result = Build(broken, false);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input:3: cannot be read"));
  std::string kept;
  std::ifstream(file_) >> kept;
  EXPECT_EQ(kept, "before");
}

TEST_F(FilterCommand, ProgressIsForTerminals) {
  std::istringstream in("a\n");
  EXPECT_THAT(Build(in, true).err, HasSubstr("1 lines"));
  std::istringstream again("a\n");
  EXPECT_EQ(Build(again, false).err, "");
}

// The sizes that `filter size` prints in filter.transcript. Textbook
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
