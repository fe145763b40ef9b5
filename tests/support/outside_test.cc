// A test that misses something is skipped, or fails if that is required.
#include "tests/support/outside.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace rowbloom::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ROWBLOOM_REQUIRE is `list` as long as the object lives.
class ScopedRequire {
 public:
  explicit ScopedRequire(const char* list) {
    const char* before = std::getenv("ROWBLOOM_REQUIRE");
    if (before != nullptr) before_ = before;
    setenv("ROWBLOOM_REQUIRE", list, /*replace=*/1);
  }
  ~ScopedRequire() {
    if (before_.has_value()) {
      setenv("ROWBLOOM_REQUIRE", before_->c_str(), /*replace=*/1);
    } else {
      unsetenv("ROWBLOOM_REQUIRE");
    }
  }
  ScopedRequire(const ScopedRequire&) = delete;
  ScopedRequire& operator=(const ScopedRequire&) = delete;

 private:
  std::optional<std::string> before_;
};

// A misspelt name would require nothing.
TEST(Outside, RequiredNamesAreKnown) {
  std::vector<std::string> known;
  for (const Outside* thing : kAllOutside) known.push_back(thing->name);
  for (const std::string& name : RequiredNames()) {
    EXPECT_THAT(known, Contains(name)) << "ROWBLOOM_REQUIRE";
  }
}

TEST(Outside, NamesAreSeparatedByCommas) {
  {
    const ScopedRequire none("");
    EXPECT_THAT(RequiredNames(), IsEmpty());
  }
  const ScopedRequire two("redis,jvm");
  EXPECT_THAT(RequiredNames(), ElementsAre("redis", "jvm"));
  EXPECT_TRUE(IsRequired(kRedis));
  EXPECT_TRUE(IsRequired(kJvm));
  EXPECT_FALSE(IsRequired(kGuava));
}

void MissRedis() { ROWBLOOM_SKIP_WITHOUT(kRedis, false); }

TEST(Outside, MissingARequiredThingFails) {
  const ScopedRequire redis("jvm,redis");
  EXPECT_FATAL_FAILURE(MissRedis(), "needs Debian's redis-server");
}

TEST(Outside, MissingAnythingElseSkips) {
  const ScopedRequire jvm("jvm");
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::
            INTERCEPT_ONLY_CURRENT_THREAD,
        &results);
    MissRedis();
  }
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results.GetTestPartResult(0).skipped());
}

TEST(Outside, AnythingThatIsThereLetsTheTestGoOn) {
  const ScopedRequire redis("redis");
  bool went_on = false;
  [&] {
    ROWBLOOM_SKIP_WITHOUT(kRedis, true);
    went_on = true;
  }();
  EXPECT_TRUE(went_on);
}

}  // namespace
}  // namespace rowbloom::test
