#include "rowbloom/redis_bloom_filter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rowbloom/classic_bloom_filter.h"
#include "storage/redis/connection.h"
#include "tests/storage/redis/redis_server.h"
#include "tests/support/failing_new.h"
#include "tests/support/jvm.h"
#include "tests/support/outside.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using redis::Connection;
using redis::Reply;
using rocksdb::Status;
using ::testing::HasSubstr;

constexpr auto kMitz32 = ClassicStrategy::kMurmur128Mitz32;

// A server that does answer may take longer than the default on a busy machine.
constexpr int kLongMs = 60'000;

auto IsGone() { return StatusIs(Status::kNotFound, HasSubstr("gone")); }

bool MayHave(RedisBloomFilter& filter, std::string_view key) {
  bool may = false;
  EXPECT_THAT(filter.MightContain(key, &may), IsOk());
  return may;
}

// A filter of a server without other options, which is made.
RedisFilterOptions SmallFilter(const std::string& unix_socket) {
  RedisFilterOptions options;
  options.endpoint.unix_socket = unix_socket;
  options.endpoint.timeout_ms = kLongMs;
  options.name = "seen";
  options.shape = {64, 3};
  options.create_if_missing = true;
  return options;
}

class RedisFilter : public ::testing::Test {
 protected:
  void SetUp() override {
    ROWBLOOM_SKIP_WITHOUT(kRedis, RedisServer::Exists());
    server_ = std::make_unique<RedisServer>();
    options_ = SmallFilter(server_->socket());
    ASSERT_THAT(RedisBloomFilter::GuavaShape(1000, 0.01, &options_.shape),
                IsOk());
  }

  std::unique_ptr<RedisBloomFilter> Open() {
    std::unique_ptr<RedisBloomFilter> filter;
    EXPECT_THAT(RedisBloomFilter::Open(options_, &filter), IsOk());
    return filter;
  }

  Status TryToOpen() {
    std::unique_ptr<RedisBloomFilter> filter;
    return RedisBloomFilter::Open(options_, &filter);
  }

  // Sends a command as another program would, and returns the reply.
  Reply Ask(std::initializer_list<std::string_view> words) {
    Connection connection(options_.endpoint);
    Reply reply;
    EXPECT_THAT(connection.Call(words, &reply), IsOk());
    return reply;
  }

  std::unique_ptr<RedisServer> server_;
  RedisFilterOptions options_;
};

TEST_F(RedisFilter, AnswersAsTheClassicFilterDoes) {
  const uint64_t seed = SeedFromEnv();
  const auto filter = Open();
  const auto other = Open();  // another program
  auto classic = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  ASSERT_EQ(classic.bits(), filter->shape().bits);
  ASSERT_EQ(classic.hashes(), filter->shape().hashes);
  std::vector<std::string> storage;
  for (uint64_t i = 0; i < 3000; ++i) storage.push_back(DistinctKey(i, seed));
  const std::vector<std::string_view> keys(storage.begin(), storage.end());
  const auto members = std::span(keys).first(1000);
  bool changed = false;
  EXPECT_THAT(filter->Put(keys[0], &changed), IsOk());
  EXPECT_TRUE(changed);
  EXPECT_TRUE(classic.Put(keys[0]));
  EXPECT_THAT(filter->Put(keys[0], &changed), IsOk());
  EXPECT_FALSE(changed);
  std::vector<bool> each_changed;
  EXPECT_THAT(filter->Put(members, &each_changed), IsOk());
  ASSERT_EQ(each_changed.size(), members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    ASSERT_EQ(each_changed[i], classic.Put(members[i])) << i;
  }
  // 21,000 bits: more than one round trip takes.
  std::vector<bool> may_contain;
  EXPECT_THAT(other->MightContain(keys, &may_contain), IsOk());
  ASSERT_EQ(may_contain.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(may_contain[i], classic.MightContain(keys[i])) << i;
  }
  EXPECT_TRUE(MayHave(*other, keys[5]));
  EXPECT_THAT(
      other->MightContain(std::span<const std::string_view>(), &may_contain),
      IsOk());
  EXPECT_TRUE(may_contain.empty());

  std::unique_ptr<ClassicBloomFilter> read;
  ASSERT_THAT(other->Read(&read), IsOk());
  EXPECT_EQ(*read->Serialize(), *classic.Serialize());
}

TEST_F(RedisFilter, ListInBracesIsOfKeys) {
  const auto filter = Open();
  ASSERT_THAT(filter->Put({"a", "b"}), IsOk());
  EXPECT_TRUE(MayHave(*filter, "a"));
  EXPECT_TRUE(MayHave(*filter, "b"));
}

// The parent's replies would be read by the child, and the other way round: a
// key that was put would be absent.
TEST_F(RedisFilter, ChildOfForkConnectsAnew) {
  Connection connection(options_.endpoint);
  Reply before;
  ASSERT_THAT(connection.Call({"CLIENT", "ID"}, &before), IsOk());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Reply own;
    const bool is_new = connection.Call({"CLIENT", "ID"}, &own).ok() &&
                        own.integer != before.integer;
    _exit(is_new ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Reply after;
  ASSERT_THAT(connection.Call({"CLIENT", "ID"}, &after), IsOk());
  EXPECT_EQ(after.integer, before.integer);
}

// The offsets that Guava's rule gives for "user_1", worked out by
// another program from the definition; a JVM service sends the same commands.
TEST_F(RedisFilter, SharesBitsWithWhoeverSetsThemByTheRule) {
  options_.shape = {9585, 7};  // optimalNumOfBits(1000, 0.01), not rounded
  const auto filter = Open();
  EXPECT_THAT(filter->Put("user_1"), IsOk());
  std::string bytes = Ask({"GET", "seen"}).text;
  ASSERT_EQ(bytes.size(), 9585u / 8 + 1 + 8);  // the last ones are the id
  bytes.resize(bytes.size() - 8);
  std::vector<uint64_t> offsets;
  for (uint64_t offset = 0; offset < 8 * bytes.size(); ++offset) {
    if ((bytes[offset / 8] << offset % 8 & 0x80) != 0) {
      offsets.push_back(offset);
    }
  }
  ASSERT_FALSE(offsets.empty());
  EXPECT_EQ(offsets.back(), 9585u);  // the mark
  offsets.pop_back();
  EXPECT_THAT(offsets,
              ::testing::ElementsAre(131, 2915, 3120, 5904, 6109, 6727, 8893));
  // The filter also finds a key whose bits were set by another program.
  options_.name = "theirs";
  for (const uint64_t offset : offsets) {
    Ask({"SETBIT", "theirs", std::to_string(offset), "1"});
  }
  std::unique_ptr<RedisBloomFilter> theirs;
  EXPECT_THAT(RedisBloomFilter::Open(options_, &theirs),
              StatusIs(Status::kNotFound, HasSubstr("no mark")));
  options_.adopt = true;
  theirs = Open();
  EXPECT_TRUE(MayHave(*theirs, "user_1"));
  EXPECT_FALSE(MayHave(*theirs, "user_2"));
  std::unique_ptr<ClassicBloomFilter> read;
  EXPECT_THAT(theirs->Read(&read),
              StatusIs(Status::kInvalidArgument, HasSubstr("multiple of 64")));
}

// A service that hashes with Guava and sets the bits itself.
TEST_F(RedisFilter, IsSharedWithAJvmService) {
  ROWBLOOM_SKIP_WITHOUT_JVM();
  const uint64_t seed = SeedFromEnv();
  constexpr uint64_t kCount = 500;
  const auto filter = Open();
  auto both = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  for (uint64_t i = 0; i < kCount; ++i) {
    const std::string ours = "ours_" + std::to_string(seed + i);
    EXPECT_THAT(filter->Put(ours), IsOk());
    both.Put(ours);
    both.Put("theirs_" + std::to_string(seed + i));
  }
  const std::string passed = RunJava(
      "tests/storage/redis/RedisPeer.java",
      {server_->socket(), options_.name, std::to_string(options_.shape.bits),
       std::to_string(options_.shape.hashes), std::to_string(seed),
       std::to_string(kCount)});
  std::unique_ptr<ClassicBloomFilter> shared;
  ASSERT_THAT(filter->Read(&shared), IsOk());
  EXPECT_EQ(*shared->Serialize(), *both.Serialize());
  uint64_t expected = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    expected += both.MightContain("absent_" + std::to_string(i)) ? 1 : 0;
  }
  EXPECT_EQ(passed, std::to_string(expected) + "\n");
}

TEST_F(RedisFilter, LoadsAWholeFilterAndReadsItBack) {
  auto classic = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  for (uint64_t i = 0; i < 1000; ++i) classic.Put(DistinctKey(i));
  const auto filter = Open();
  EXPECT_THAT(filter->Put("before"), IsOk());
  ASSERT_THAT(filter->Load(classic), IsOk());
  std::unique_ptr<ClassicBloomFilter> read;
  ASSERT_THAT(filter->Read(&read), IsOk());
  EXPECT_EQ(*read->Serialize(), *classic.Serialize());
  for (uint64_t i = 0; i < 1000; i += 97) {
    EXPECT_TRUE(MayHave(*filter, DistinctKey(i)));
  }
  const auto refused = [&](const ClassicBloomFilter& other) {
    return filter->Load(other);
  };
  EXPECT_THAT(refused(*ClassicBloomFilter::Create(1000, 0.01)),
              StatusIs(Status::kInvalidArgument, HasSubstr("MITZ_64")));
  EXPECT_THAT(refused(*ClassicBloomFilter::Create(2000, 0.01, kMitz32)),
              StatusIs(Status::kInvalidArgument, HasSubstr("bits")));
  EXPECT_THAT(
      refused(*ClassicBloomFilter::Create(1000, 0.01, kMitz32, FilterSecret{})),
      StatusIs(Status::kInvalidArgument, HasSubstr("secret")));
}

TEST_F(RedisFilter, OpenFindsWhatIsThereAlone) {
  options_.create_if_missing = false;
  std::unique_ptr<RedisBloomFilter> filter;
  EXPECT_THAT(RedisBloomFilter::Open(options_, &filter),
              StatusIs(Status::kNotFound,
                       HasSubstr("Redis at " + options_.endpoint.unix_socket +
                                 ": no filter \"seen\"")));
  EXPECT_EQ(filter, nullptr);
  options_.create_if_missing = true;
  EXPECT_THAT(Open()->Put("a"), IsOk());
  options_.create_if_missing = false;
  EXPECT_TRUE(MayHave(*Open(), "a"));
  options_.shape.bits += 64;
  EXPECT_THAT(RedisBloomFilter::Open(options_, &filter),
              StatusIs(Status::kNotFound, HasSubstr("another size")));
  Ask({"RPUSH", "list", "x"});
  options_.name = "list";
  EXPECT_THAT(RedisBloomFilter::Open(options_, &filter),
              StatusIs(Status::kIOError, HasSubstr("WRONGTYPE")));
}

TEST_F(RedisFilter, OptionsOutOfRangeAreNamed) {
  const RedisFilterOptions good = options_;
  options_.shape.bits = 0;
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("bits 0")));
  options_.shape.bits = RedisBloomFilter::kMaxBits + 1;
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("bits")));
  options_ = good;
  options_.shape.hashes = 256;
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("hashes 256")));
  options_ = good;
  options_.name = "";
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("name")));
  options_ = good;
  options_.endpoint.unix_socket = std::string(108, 's');
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("108 bytes")));
  options_ = good;
  options_.endpoint.timeout_ms = 0;
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kInvalidArgument, HasSubstr("timeout_ms 0")));
  RedisFilterShape shape;
  EXPECT_THAT(RedisBloomFilter::GuavaShape(10, 1, &shape),
              StatusIs(Status::kInvalidArgument, HasSubstr("rate")));
  EXPECT_THAT(RedisBloomFilter::GuavaShape(uint64_t{1} << 40, 0.01, &shape),
              StatusIs(Status::kInvalidArgument, HasSubstr("bits")));
}

// A filter that is gone is an error, and so is one that someone's SETBIT began
// anew.
TEST_F(RedisFilter, ALostFilterIsNeverAbsent) {
  const auto filter = Open();
  EXPECT_THAT(filter->Put("a"), IsOk());
  Ask({"DEL", "seen"});
  bool may = true;
  EXPECT_THAT(filter->MightContain("a", &may), IsGone());
  EXPECT_TRUE(may);
  EXPECT_THAT(filter->Put("b"), IsGone());
  // The string is there again, by that Put.
  EXPECT_EQ(Ask({"EXISTS", "seen"}).integer, 1);
  EXPECT_THAT(filter->MightContain("a", &may), IsGone());
  std::unique_ptr<ClassicBloomFilter> read;
  EXPECT_THAT(filter->Read(&read), IsGone());
  auto classic = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  classic.Put("a");
  EXPECT_THAT(filter->Load(classic), IsOk());
  EXPECT_TRUE(MayHave(*filter, "a"));
}

// All commands of a round trip have an error then.
TEST_F(RedisFilter, AKeyOfAnotherTypeIsNamedInABatch) {
  const auto filter = Open();
  Ask({"DEL", "seen"});
  Ask({"RPUSH", "seen", "x"});
  const std::vector<std::string_view> keys(1000, "a");
  EXPECT_THAT(filter->Put(keys),
              StatusIs(Status::kIOError, HasSubstr("WRONGTYPE")));
}

// Another program opens it again after it was lost.
TEST_F(RedisFilter, AFilterThatIsMadeAnewIsAnother) {
  for (const int bits : {9600, 9585}) {
    SCOPED_TRACE(bits);
    options_.shape = {static_cast<uint64_t>(bits), 7};
    const auto before = Open();
    EXPECT_THAT(before->Put("a"), IsOk());
    Ask({"FLUSHALL"});
    const auto after = Open();
    EXPECT_THAT(after->Put("b"), IsOk());
    bool may = true;
    EXPECT_THAT(before->MightContain("a", &may), IsGone());
    EXPECT_THAT(before->Put("a"), IsGone());
    EXPECT_TRUE(may);
    EXPECT_TRUE(MayHave(*after, "b"));
    Ask({"FLUSHALL"});
  }
}

// Whoever loads a filter says that it has all keys: those who had its
// predecessor go on.
TEST_F(RedisFilter, ALoadedFilterIsThatOfTheHandle) {
  const auto filter = Open();
  const auto other = Open();
  EXPECT_THAT(filter->Put("a"), IsOk());
  Ask({"FLUSHALL"});
  const auto successor = Open();
  auto classic = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  classic.Put("a");
  EXPECT_THAT(filter->Load(classic), IsOk());
  EXPECT_TRUE(MayHave(*other, "a"));
  bool may = false;
  EXPECT_THAT(successor->MightContain("a", &may), IsGone());
}

// The server executes others' commands between those of one round trip.
TEST_F(RedisFilter, AFilterThatIsLostAndLoadedMeanwhileIsNeverAbsent) {
  auto classic = *ClassicBloomFilter::Create(1000, 0.01, kMitz32);
  std::vector<std::string> storage;
  for (uint64_t i = 0; i < 500; ++i) storage.push_back(DistinctKey(i));
  const std::vector<std::string_view> keys(storage.begin(), storage.end());
  for (const std::string_view key : keys) classic.Put(key);
  const auto filter = Open();
  const auto other = Open();
  ASSERT_THAT(other->Load(classic), IsOk());  // the keys are put by now
  std::atomic<bool> ends{false};
  auto loading = std::async(std::launch::async, [&] {
    Connection connection(options_.endpoint);
    Reply ignored;
    Status s;
    while (s.ok() && !ends) {
      s = connection.Call({"DEL", "seen"}, &ignored);
      if (s.ok()) s = other->Load(classic);
    }
    return s;
  });
  for (int round = 0; round < 100; ++round) {
    std::vector<bool> may_contain;
    const Status s = filter->MightContain(keys, &may_contain);
    if (s.IsNotFound()) continue;
    EXPECT_THAT(s, IsOk());
    EXPECT_EQ(std::count(may_contain.begin(), may_contain.end(), false), 0);
  }
  ends = true;
  EXPECT_THAT(loading.get(), IsOk());
}

TEST_F(RedisFilter, StringsOfAnotherSizeAreRefused) {
  const auto filter = Open();
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_THAT(filter->Put(DistinctKey(i)), IsOk());
  }
  const uint64_t bits = options_.shape.bits;
  for (const bool adopt : {false, true}) {
    options_.adopt = adopt;
    for (uint64_t other = 64; other < 2 * bits; other += 64) {
      if (other == bits) continue;
      options_.shape.bits = other;
      ASSERT_THAT(TryToOpen(),
                  StatusIs(Status::kNotFound, HasSubstr("another size")))
          << other;
    }
  }
}

// Another program's filter stays as it is when it is not adopted.
TEST_F(RedisFilter, AStringWithBitsBehindTheLastOneIsNotAdopted) {
  Ask({"SETBIT", "seen", "1002", "1"});
  const std::string made = Ask({"GET", "seen"}).text;
  options_.adopt = true;
  options_.shape.bits = 1001;
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kNotFound, HasSubstr("another size")));
  EXPECT_EQ(Ask({"GET", "seen"}).text, made);
  options_.shape.bits = 1003;
  EXPECT_NE(Open(), nullptr);
}

// Its bytes are as many as those of a filter with 64 bits less and an id, and
// may have that one's mark.
TEST_F(RedisFilter, AMarkAloneIsNoIdOfASmallerFilter) {
  const std::string mark = std::to_string(options_.shape.bits);
  options_.shape.bits -= 64;
  Ask({"SETBIT", "seen", std::to_string(options_.shape.bits), "1"});
  Ask({"SETBIT", "seen", mark, "1"});
  EXPECT_THAT(TryToOpen(),
              StatusIs(Status::kNotFound, HasSubstr("another size")));
}

// Filters that were made before filters had ids.
TEST_F(RedisFilter, AMarkAloneIsEnough) {
  const std::string mark = std::to_string(options_.shape.bits);
  Ask({"SETBIT", "seen", mark, "1"});
  options_.create_if_missing = false;
  const auto filter = Open();
  EXPECT_THAT(filter->Put("a"), IsOk());
  const auto other = Open();
  EXPECT_TRUE(MayHave(*other, "a"));
  EXPECT_EQ(Ask({"STRLEN", "seen"}).integer,
            static_cast<int64_t>(options_.shape.bits / 8 + 1));
  std::unique_ptr<ClassicBloomFilter> read;
  ASSERT_THAT(other->Read(&read), IsOk());
  EXPECT_TRUE(read->MightContain("a"));
  EXPECT_THAT(other->Load(*read), IsOk());
  Ask({"DEL", "seen"});
  options_.create_if_missing = true;
  Open();
  bool may = false;
  EXPECT_THAT(filter->MightContain("a", &may), IsGone());
}

TEST_F(RedisFilter, ThoseWhoMakeItAtOnceHaveOneFilter) {
  for (int round = 0; round < 20; ++round) {
    options_.name = "seen" + std::to_string(round);
    std::vector<std::future<std::unique_ptr<RedisBloomFilter>>> openings;
    for (int i = 0; i < 4; ++i) {
      openings.push_back(
          std::async(std::launch::async, [this] { return Open(); }));
    }
    for (auto& opening : openings) {
      const auto filter = opening.get();
      ASSERT_NE(filter, nullptr);
      EXPECT_THAT(filter->Put("a"), IsOk());
    }
  }
}

// Replies that an exception left unread must not answer the next call.
TEST_F(RedisFilter, AnswersAreRightAfterMemoryRanOut) {
  const auto filter = Open();
  std::vector<std::string> storage;
  for (uint64_t i = 0; i < 100; ++i) storage.push_back(DistinctKey(i));
  const std::vector<std::string_view> keys(storage.begin(), storage.end());
  ASSERT_THAT(filter->Put(keys), IsOk());
  std::vector<bool> may_contain;
  const auto ask = [&](Attempt* attempt) {
    attempt->Begin();
    const Status s = filter->MightContain(keys, &may_contain);
    attempt->End();
    EXPECT_EQ(s.ok(), !attempt->failed()) << s.ToString();
    ASSERT_TRUE(MayHave(*filter, keys[0]));
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kOneCall, ask), 0u);
}

TEST_F(RedisFilter, AUserWithoutAPasswordIsTold) {
  Ask({"ACL", "SETUSER", "limited", "on", "nopass", "~*", "+@all"});
  options_.endpoint.user = "limited";
  EXPECT_EQ(Ask({"ACL", "WHOAMI"}).text, "limited");
}

TEST_F(RedisFilter, AProgramThatIsStartedDoesNotHaveTheConnection) {
  const int next = open("/dev/null", O_RDONLY);
  close(next);
  const auto filter = Open();
  EXPECT_EQ(fcntl(next, F_GETFD), FD_CLOEXEC);
}

// A server of a test's own, which says the same to all. It begins with `start`
// once it is addressed, and goes on with `more` every 20 ms, or closes the
// connection if there is no more.
class FakeServer {
 public:
  FakeServer(const std::string& path, std::string start, std::string more)
      : listening_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(listening_, reinterpret_cast<sockaddr*>(&address),
                   sizeof(address)),
              0);
    EXPECT_EQ(listen(listening_, 8), 0);
    thread_ = std::thread([this, start = std::move(start),
                           more = std::move(more)] { Serve(start, more); });
  }
  ~FakeServer() {
    ends_ = true;
    shutdown(listening_, SHUT_RDWR);
    thread_.join();
    close(listening_);
  }

 private:
  void Serve(const std::string& start, const std::string& more) const {
    while (true) {
      const int client = accept(listening_, nullptr, nullptr);
      if (client < 0) return;
      char command[4096];
      bool is_there =
          recv(client, command, sizeof(command), 0) > 0 && Send(client, start);
      while (is_there && !more.empty() && !ends_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        is_there = Send(client, more);
      }
      close(client);
    }
  }
  static bool Send(int client, const std::string& bytes) {
    return send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  const int listening_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(RedisReplies, OfAnotherServerAreRefusedInTime) {
  struct Case {
    std::string start;
    std::string more;
    std::string error;
  };
  for (const Case& one :
       {Case{"+", "x", "within 300 ms"},
        Case{"*400000000\r\n", "", "no reply that is one of Redis"},
        Case{"*2\r\n*2\r\n", "", "no reply that is one of Redis"},
        Case{"*8\r\n", "$30000\r\n" + std::string(30'000, 'x') + "\r\n",
             "found more"},
        Case{"$500000000\r\n", std::string(100'000, 'x'), "found more"},
        Case{"HTTP/1.1 400 Bad Request\r\n", "", "no reply that is one"},
        Case{"-\x1b[2J" + std::string(1000, 'e') + "\r\n+1\r\n+1\r\n+1\r\n", "",
             "refuses: \\x1B[2Je"},
        Case{"-ERR max number of clients reached\r\n", "",
             "refuses: ERR max number of clients reached"},
        Case{"+OK\r\n+OK\r\n+OK\r\n+OK\r\n", "", "another type"}}) {
    SCOPED_TRACE(one.error);
    const TempDir dir;
    const FakeServer server(dir.File("s"), one.start, one.more);
    RedisFilterOptions options = SmallFilter(dir.File("s"));
    if (one.more == "x") options.endpoint.timeout_ms = 300;
    std::unique_ptr<RedisBloomFilter> filter;
    const auto start = std::chrono::steady_clock::now();
    const Status s = RedisBloomFilter::Open(options, &filter);
    EXPECT_THAT(s, StatusIs(Status::kIOError, HasSubstr(one.error)));
    EXPECT_LT(s.ToString().size(), 500u);
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(30));
  }
}

TEST(RedisReplies, HaveTheTimeoutForEachMiB) {
  const TempDir dir;
  const std::string part = std::string(180'000, 'x') + "\r\n";
  const size_t bytes = 70 * part.size() - 2;
  const FakeServer server(dir.File("s"), "$" + std::to_string(bytes) + "\r\n",
                          part);
  RedisEndpoint endpoint;
  endpoint.unix_socket = dir.File("s");
  endpoint.timeout_ms = 1000;  // 70 parts take more, a MiB's 6 parts 120 ms
  Connection connection(endpoint);
  Reply reply;
  EXPECT_THAT(connection.Call({"GET", "filter"}, &reply, size_t{16} << 20),
              IsOk());
  EXPECT_EQ(reply.text.size(), bytes);
}

// The rest of a Load would replace the filter after later puts.
TEST(RedisCommands, AreNotSentAfterTheirTimeout) {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int few_bytes = 4096;  // most of the command stays in our kernel
  setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof(few_bytes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  ASSERT_EQ(
      getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  RedisEndpoint endpoint;
  endpoint.port = ntohs(address.sin_port);
  endpoint.timeout_ms = 300;
  Connection connection(endpoint);
  const std::string filter(200'000, 'x');
  Reply reply;
  EXPECT_THAT(connection.Call({"SET", "seen", filter}, &reply),
              StatusIs(Status::kIOError, HasSubstr("127.0.0.1")));
  // The server goes on, and reads what has arrived.
  const int client = accept(listening, nullptr, nullptr);
  std::string part(4096, '\0');
  size_t arrived = 0;
  ssize_t bytes = 0;
  while ((bytes = recv(client, part.data(), part.size(), 0)) > 0) {
    arrived += static_cast<size_t>(bytes);
  }
  EXPECT_LT(arrived, filter.size());
  close(client);
  close(listening);
}

TEST_F(RedisFilter, ALostConnectionIsAnErrorAndComesBack) {
  const auto filter = Open();
  EXPECT_THAT(filter->Put("a"), IsOk());
  bool may = true;
  // The server closes it.
  Ask({"CLIENT", "KILL", "TYPE", "normal"});
  const auto is_lost = StatusIs(Status::kIOError, HasSubstr(server_->socket()));
  EXPECT_THAT(filter->MightContain("a", &may), is_lost);
  EXPECT_TRUE(MayHave(*filter, "a"));
  // The server ends, and comes back with nothing.
  server_->Stop();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(filter->MightContain("a", &may), is_lost);
    EXPECT_THAT(filter->Put("b"), is_lost);
  }
  server_->Start();
  EXPECT_THAT(filter->MightContain("a", &may), IsGone());
  EXPECT_TRUE(may);
}

TEST_F(RedisFilter, AServerThatDoesNotAnswerIsAnError) {
  EXPECT_THAT(Open()->Put("a"), IsOk());
  options_.endpoint.timeout_ms = 300;
  std::unique_ptr<RedisBloomFilter> filter;
  ASSERT_TRUE(
      WaitFor([&] { return RedisBloomFilter::Open(options_, &filter).ok(); }));
  server_->Pause();
  bool may = true;
  EXPECT_THAT(filter->MightContain("a", &may),
              StatusIs(Status::kIOError, HasSubstr("no reply")));
  server_->Continue();
  EXPECT_TRUE(WaitFor([&] { return filter->MightContain("a", &may).ok(); }));
  EXPECT_TRUE(may);
}

// A profiler sends them, for example.
TEST_F(RedisFilter, SignalsDoNotProlongTheTimeout) {
  static std::atomic<int> signals{0};
  static constexpr int kMostSignals = 100;  // 5 s
  options_.endpoint.timeout_ms = 300;
  Connection connection(options_.endpoint);
  Reply reply;
  ASSERT_TRUE(WaitFor([&] { return connection.Call({"PING"}, &reply).ok(); }));
  server_->Pause();
  struct sigaction counting = {};
  counting.sa_handler = [](int) {
    const itimerval never = {};
    if (++signals == kMostSignals) setitimer(ITIMER_REAL, &never, nullptr);
  };
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGALRM, &counting, &before), 0);
  const itimerval often = {{0, 50'000}, {0, 50'000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  const std::string long_value(8'000'000, 'x');
  EXPECT_THAT(connection.Call({"SET", "seen", long_value}, &reply),
              StatusIs(Status::kIOError, HasSubstr("cannot send")));
  EXPECT_LT(signals.load(), kMostSignals);
  const itimerval no_more = {};
  setitimer(ITIMER_REAL, &no_more, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

TEST(RedisPassword, IsAsked) {
  ROWBLOOM_SKIP_WITHOUT(kRedis, RedisServer::Exists());
  const RedisServer server("open sesame");
  RedisFilterOptions options = SmallFilter(server.socket());
  std::unique_ptr<RedisBloomFilter> filter;
  EXPECT_THAT(RedisBloomFilter::Open(options, &filter),
              StatusIs(Status::kIOError, HasSubstr("NOAUTH")));
  options.endpoint.password = "wrong";
  EXPECT_THAT(RedisBloomFilter::Open(options, &filter),
              StatusIs(Status::kIOError, HasSubstr("WRONGPASS")));
  options.endpoint.password = "open sesame";
  EXPECT_THAT(RedisBloomFilter::Open(options, &filter), IsOk());
  options.endpoint.user = "default";
  EXPECT_THAT(RedisBloomFilter::Open(options, &filter), IsOk());
}

}  // namespace
}  // namespace rowbloom::test
