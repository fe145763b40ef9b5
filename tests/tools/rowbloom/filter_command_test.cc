// rowbloom filter: size, build, check, info.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
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
using ::testing::Not;
using ::testing::StartsWith;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// first, first + 1 and so on, a line each.
std::string NumberLines(int first, int count) {
  std::string lines;
  for (int i = first; i < first + count; ++i) {
    lines += std::to_string(i) + "\n";
  }
  return lines;
}

class FilterCommand : public ::testing::Test {
 protected:
  CliResult Build(const std::string& input,
                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"filter", "build", "--expected", "1000",
                                     "--fpp",  "0.01",  "-o",         file_};
    args.insert(args.end(), more.begin(), more.end());
    return Cli(args, input);
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

TEST_F(FilterCommand, CheckPrintsWhatMayBeInAndWhatIsNot) {
  const CliResult built = Build(NumberLines(0, 1000));
  EXPECT_EQ(built.code, 0) << built.err;
  EXPECT_THAT(built.out,
              ContainsRegex("^1000 lines, 9[0-9][0-9] of them surely "
                            "new; 1238 bytes, rate 0.0"));
  EXPECT_EQ(built.err, "");

  const std::string asked = NumberLines(500, 2500);
  const CliResult present = Check(asked);
  EXPECT_EQ(present.code, 0);
  EXPECT_THAT(present.out, StartsWith(NumberLines(500, 500)));
  EXPECT_LT(present.out.size(), NumberLines(500, 500).size() + 5 * 60);
  const CliResult absent = CheckAbsent(asked);
  EXPECT_EQ(absent.code, 0);
  // Each line is in one of the two, in order.
  std::istringstream lines(asked);
  std::istringstream may_be(present.out);
  std::istringstream is_not(absent.out);
  std::string next_present;
  std::string next_absent;
  std::getline(may_be, next_present);
  std::getline(is_not, next_absent);
  for (std::string line; std::getline(lines, line);) {
    if (line == next_present) {
      next_present.clear();
      std::getline(may_be, next_present);
    } else {
      ASSERT_EQ(line, next_absent);
      next_absent.clear();
      std::getline(is_not, next_absent);
    }
  }
  EXPECT_EQ(next_present + next_absent, "");
}

TEST_F(FilterCommand, LinesAreAnyBytes) {
  const std::string odd("a\r\n\n\0x\n\xff", 8);  // the last without its end
  EXPECT_EQ(Build(odd).code, 0);
  EXPECT_EQ(Check(odd).out, odd + "\n");
  EXPECT_EQ(Check("a\n").out, "");
}

TEST_F(FilterCommand, NoLineIsExitCodeOne) {
  EXPECT_EQ(Build("a\n").code, 0);
  CliResult result = Check("b\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out + result.err, "");
  result = CheckAbsent("a\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(CheckAbsent("").code, 1);
}

TEST_F(FilterCommand, FormatAndStrategyAreThoseAskedFor) {
  EXPECT_EQ(Build("a\n", {"--format", "guava"}).code, 0);
  const auto mitz64 = ClassicBloomFilter::Parse(ReadFile(file_));
  ASSERT_TRUE(mitz64);
  EXPECT_EQ(mitz64->strategy(), ClassicStrategy::kMurmur128Mitz64);
  EXPECT_TRUE(mitz64->MightContain("a"));
  EXPECT_EQ(Check("a\n").code, 0);
  EXPECT_EQ(Build("a\n", {"--format", "guava", "--strategy", "mitz32"}).code,
            0);
  const auto mitz32 = ClassicBloomFilter::Parse(ReadFile(file_));
  ASSERT_TRUE(mitz32);
  EXPECT_EQ(mitz32->strategy(), ClassicStrategy::kMurmur128Mitz32);
  EXPECT_EQ(Build("a\n", {"--strategy", "mitz32"}).code, 0);
  EXPECT_TRUE(ClassicBloomFilter::ParseChecked(ReadFile(file_)));
}

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

TEST_F(FilterCommand, FilesThatAreNoFilterAreNamed) {
  for (const char* verb : {"check", "info"}) {
    CliResult result = Cli({"filter", verb, file_});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr(file_ + ": No such file"));
    result = Cli({"filter", verb, dir_.path().string()});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr(dir_.path().string() + ": "));
  }
  WriteFile(file_, "some text");
  EXPECT_THAT(Check("a\n").err, HasSubstr("not a serialized filter"));
  EXPECT_EQ(Build("a\n").code, 0);
  std::string bytes = ReadFile(file_);
  bytes[50] ^= 1;
  WriteFile(file_, bytes);
  const CliResult damaged = Check("a\n");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("checksum"));
  auto keyed = *ScalableBloomFilter::Reserve(
      1, 0.1, {.secret = FilterSecret{std::byte{1}}});
  WriteFile(file_, keyed.Serialize());
  EXPECT_THAT(Check("a\n").err, HasSubstr("secret"));
}

TEST_F(FilterCommand, AFailedBuildLeavesTheFileAsItWas) {
  WriteFile(file_, "before");
  BrokenStream broken("a\nb\n");
  const CliResult result =
      Cli({"filter", "build", "--expected", "10", "--fpp", "0.1", "-o", file_},
          broken);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input:3: cannot be read"));
  EXPECT_EQ(ReadFile(file_), "before");
  const CliResult nowhere = Cli({"filter", "build", "--expected", "10", "--fpp",
                                 "0.1", "-o", dir_.File("none/such.filter")},
                                "a\n");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("none/such.filter"));
  // What a part was written to is gone.
  const CliResult onto_a_folder =
      Cli({"filter", "build", "--expected", "10", "--fpp", "0.1", "-o",
           (dir_.path() / ".").string()},
          "a\n");
  EXPECT_EQ(onto_a_folder.code, 2);
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(dir_.path())) {
    ++entries;
  }
  EXPECT_EQ(entries, 1u);
}

TEST_F(FilterCommand, MoreLinesThanExpectedAreTold) {
  const CliResult result = Build(NumberLines(0, 5000));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("more lines than --expected 1000"));
}

TEST_F(FilterCommand, ProgressIsForTerminals) {
  std::istringstream in("a\n");
  const CliResult result =
      Cli({"filter", "build", "--expected", "10", "--fpp", "0.1", "-o", file_},
          in, /*err_is_terminal=*/true);
  EXPECT_THAT(result.err, HasSubstr("1 lines"));
  EXPECT_EQ(Build("a\n").err, "");
}

TEST(FilterSize, PrintsEveryKind) {
  const CliResult result =
      Cli({"filter", "size", "--expected", "1000000", "--fpp", "0.01"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("kind "));
  // Textbook numbers: 9.59 bits and 7 hashes, four bits in place of one, a
  // stage of half the rate, 10 bits at a load of 0.95.
  EXPECT_THAT(result.out, ContainsRegex("\nclassic +1198136 +9.59 +7 hashes "));
  EXPECT_THAT(result.out,
              ContainsRegex("\ncounting +4796480 +38.37 +7 hashes"));
  EXPECT_THAT(result.out,
              ContainsRegex("\nscalable +1379336 +11.03 +8 hashes"));
  EXPECT_THAT(result.out, ContainsRegex("\ncuckoo +1316190 +10.53 +10-bit"));
  EXPECT_THAT(result.out, ContainsRegex("\nbloom +12[0-9]+ +9.92 +6 hashes"));
  EXPECT_THAT(result.out, ContainsRegex("\nribbon +8[0-9]+ +6.[0-9]+ "));
  // The sizes are those of the filters.
  EXPECT_EQ(ClassicBloomFilter::Create(1'000'000, 0.01)->size_bytes(),
            1'198'136u);
  EXPECT_EQ(CountingBloomFilter::Create(1'000'000, 0.01)->size_bytes(),
            4'796'480u);
  EXPECT_EQ(ScalableBloomFilter::Reserve(1'000'000, 0.01)->Info().size_bytes,
            1'379'336u);
  EXPECT_EQ(CuckooFilter::Create(1'000'000, 0.01)->size_bytes(), 1'316'190u);
}

TEST(FilterSize, LeavesOutWhatCannotBe) {
  const CliResult result =
      Cli({"filter", "size", "--expected", "1000", "--fpp", "1e-12"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("cuckoo +not possible"));
  EXPECT_THAT(result.out, ContainsRegex("bloom +not possible"));
  EXPECT_THAT(result.out, ContainsRegex("classic +7[0-9]+ "));
}

TEST(FilterUsage, IsOneSentence) {
  const struct {
    std::vector<std::string> args;
    const char* problem;
  } cases[] = {
      {{}, "expected size, build, check or info after filter, found nothing"},
      {{"monkey"}, "found \"monkey\""},
      {{"size", "--fpp", "0.1"}, "--expected is required"},
      {{"size", "--expected", "10"}, "--fpp is required"},
      {{"size", "--expected", "10", "--fpp", "2"}, "--fpp 2"},
      {{"size", "--expected", "0", "--fpp", "0.1"}, "--expected 0"},
      {{"size", "--expected", "x", "--fpp", "0.1"}, "--expected"},
      {{"build", "--expected", "10", "--fpp", "0.1"}, "--output is required"},
      {{"build", "--expected", "10", "--fpp", "0.1", "-o", "x", "--format",
        "java"},
       "--format"},
      {{"build", "--expected", "10", "--fpp", "2", "-o", "x"}, "rate 2"},
      {{"check"}, "FILE is required"},
      {{"info"}, "FILE is required"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> args = c.args;
    args.insert(args.begin(), "filter");
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 2) << c.problem;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("rowbloom: "));
    EXPECT_THAT(result.err, HasSubstr(c.problem));
  }
  for (const char* verb : {"size", "build", "check", "info"}) {
    const CliResult help = Cli({"filter", verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, Not(HasSubstr("--db")));
  }
  EXPECT_THAT(Cli({"filter", "--help"}).out, HasSubstr("Exit codes"));
}

}  // namespace
}  // namespace rowbloom::test
