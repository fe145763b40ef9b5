// The verbs that write: broken input, another process, a wrong clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rowbloom/store.h"
#include "storage/store/open_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/broken_stream.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Writing : public ::testing::Test {
 protected:
  CliResult Run(const std::string& verb,
                const std::vector<std::string>& more_args,
                const std::string& input = "") {
    std::vector<std::string> args = {verb, "--db", db_};
    args.insert(args.end(), more_args.begin(), more_args.end());
    return Cli(args, input);
  }

  // Runs a verb that succeeds and has nothing to say.
  void Do(const std::string& verb, const std::vector<std::string>& more_args,
          const std::string& input = "") {
    const CliResult result = Run(verb, more_args, input);
    EXPECT_EQ(result.code, 0) << verb;
    EXPECT_EQ(result.out + result.err, "");
  }

  // All cells and versions of the store.
  std::string Scan() { return Run("scan", {"--versions", "9"}).out; }

  TempDir dir_;
  const std::string db_ = dir_.File("db");
};

TEST_F(Writing, PutOfBrokenInputWritesNothing) {
  Do("create", {"--family", "f"});
  BrokenStream in("half");
  const CliResult result = Cli({"put", "--db", db_, "r", "f:q", "-"}, in);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "rowbloom: standard input: cannot be read\n");
  EXPECT_EQ(Scan(), "");
}

TEST_F(Writing, OneProcessWritesAndOthersRead) {
  Do("create", {"--family", "f"});
  std::unique_ptr<Store> writer;
  ASSERT_THAT(Store::Open({}, db_, {}, &writer), IsOk());
  ASSERT_THAT(writer->Put("r", "f", "q", "v"), IsOk());
  const CliResult result = Run("put", {"r", "f:q", "w"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr(db_));
  EXPECT_EQ(Run("get", {"r", "f:q"}).out, "v\n");
}

// The first family is as it is to be, so that nothing is written for it.
TEST_F(Writing, AlterTellsWhichFamiliesWereChangedBeforeOneFailed) {
  const auto files = std::make_shared<CallingFileSystem>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  StoreOptions options;
  options.env = env.get();
  std::unique_ptr<Store> store;
  ASSERT_THAT(Store::Open(options, db_, {{"a", {}}, {"b", {}}}, &store),
              IsOk());
  const cli::Session session{.store = std::move(store), .db = db_};
  files->On(FileCall::kSync, [](const std::string& /*path*/) {
    return rocksdb::IOStatus::IOError("injected");
  });
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(cli::Run({"alter", "--family", "a", "--family", "b,ttl=1d"},
                     {.in = in, .out = out, .err = {err}, .session = &session}),
            2);
  files->Off(FileCall::kSync);
  EXPECT_THAT(err.str(), HasSubstr("rowbloom: family \"b\": "));
  EXPECT_THAT(err.str(), HasSubstr("; changed: a\n"));
}

// A store that was written while the machine's clock was wrong.
class WrongClock : public Writing {
 protected:
  static constexpr uint64_t k2099 = 4'070'908'800'000;

  void SetUp() override {
    std::unique_ptr<Store> store;
    ASSERT_THAT(OpenStore(
                    {}, db_, {{"f", {}}}, [] { return k2099; }, &store),
                IsOk());
    ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
    ASSERT_THAT(store->Backup(backups_), IsOk());
  }

  uint64_t TimestampOf(const std::string& row) {
    const CliResult result = Run("get", {row, "f:q", "--json"});
    return nlohmann::json::parse(result.out)["timestamp"];
  }

  const std::string backups_ = dir_.File("backups");
};

TEST_F(WrongClock, IsAWarningOfVerbsThatOpenTheStore) {
  const std::pair<std::string, std::vector<std::string>> commands[] = {
      {"create", {"--family", "g"}},
      {"alter", {"--family", "g,ttl=1d"}},
      {"drop", {"--family", "g"}},
      {"load", {"-"}},
      {"put", {"r", "f:q2", "v"}},
      {"delete", {"r", "f:q2"}},
      {"get", {"r", "f:q"}},
      {"row", {"r"}},
      {"scan", {}},
      {"flush", {}},
      {"compact", {}},
      {"checkpoint", {dir_.File("copy")}},
      {"backup", {backups_}},
      {"stats", {}}};
  for (const auto& [verb, args] : commands) {
    const CliResult result = Run(verb, args, "r\tf:q3\tv\n");
    EXPECT_EQ(result.code, 0) << verb;
    EXPECT_THAT(result.err, MatchesRegex("rowbloom: the store at .* days ahead "
                                         ".*`rowbloom reset-clock`.*\n"))
        << verb;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
    EXPECT_THAT(result.out, Not(HasSubstr("reset-clock"))) << verb;
  }
  EXPECT_EQ(TimestampOf("r"), k2099);  // the output is JSON alone
}

TEST_F(WrongClock, IsPutRightByResetClock) {
  EXPECT_THAT(Run("put", {"s", "f:q", "v"}).err, HasSubstr("reset-clock"));
  EXPECT_GE(TimestampOf("s"), k2099);
  Do("reset-clock", {});
  EXPECT_EQ(Run("get", {"r", "f:q"}).err, "");
  const uint64_t before_ms = SystemWallClock();
  Do("put", {"t", "f:q", "v"});
  EXPECT_GE(TimestampOf("t"), before_ms);
  EXPECT_LE(TimestampOf("t"), SystemWallClock());
  EXPECT_EQ(TimestampOf("r"), k2099);
}

}  // namespace
}  // namespace rowbloom::test
