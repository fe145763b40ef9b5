// filter_bench: its keys, its filters, and the benchmarks that it registers.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/allocation_counter.h"
#include "bench/built_filter.h"
#include "bench/environment.h"
#include "bench/filter_kinds.h"
#include "lib/kernels/kernel.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

using nlohmann::json;

class Keys : public testing::TestWithParam<KeyShape> {};

INSTANTIATE_TEST_SUITE_P(Each, Keys,
                         testing::Values(KeyShape::kRow, KeyShape::kRowCol),
                         [](const auto& test) {
                           return test.param == KeyShape::kRow ? "row"
                                                               : "row_column";
                         });

TEST_P(Keys, PresentAreSortedAndAbsentAreNotAmongThem) {
  constexpr uint64_t kKeys = 20'000;
  const KeySpace space(GetParam(), kKeys, test::SeedFromEnv());
  const KeyArray array = space.Present();
  ASSERT_EQ(array.size(), kKeys);
  std::set<std::string> all;
  std::set<std::string> rows;
  std::string last;
  for (size_t i = 0; i < array.size(); ++i) {
    const std::string key = array[i].ToString();
    ASSERT_EQ(key.size(), kKeyBytes);
    ASSERT_LT(last, key);
    last = key;
    all.insert(key);
    rows.insert(key.substr(0, RowBytes(GetParam())));
  }
  EXPECT_EQ(rows.size(), space.rows());
  std::string key(kKeyBytes, '\0');
  for (uint64_t i = 0; i < 2 * kKeys; ++i) {
    space.AbsentRow(i, key.data());
    ASSERT_FALSE(rows.contains(key.substr(0, RowBytes(GetParam()))));
    ASSERT_TRUE(all.insert(key).second) << "asked for twice: " << i;
  }
  if (GetParam() == KeyShape::kRow) return;
  for (uint64_t i = 0; i < 2 * kKeys; ++i) {
    space.AbsentColumn(i, key.data());
    ASSERT_TRUE(rows.contains(key.substr(0, RowBytes(GetParam()))));
    ASSERT_TRUE(all.insert(key).second) << "asked for twice: " << i;
  }
}

TEST(AllocationCounter, CountsWhatIsHeldAtThePeak) {
  constexpr size_t kBytes = 1 << 20;
  const auto before = std::make_unique<char[]>(kBytes);
  const AllocationCounter counter;
  const size_t none = counter.peak_bytes();
  for (int i = 0; i < 3; ++i) {
    std::vector<char> held(kBytes);
    const std::vector<char> also_held(held);
  }
  EXPECT_EQ(none, 0u);
  EXPECT_GE(counter.peak_bytes(), 2 * kBytes);
  EXPECT_LT(counter.peak_bytes(), 2 * kBytes + kBytes / 4);
}

// Runs the program with its output in `dir`; its exit status.
int RunProgram(const test::TempDir& dir, const std::string& arguments) {
  const std::string command = std::string("\"" ROWBLOOM_FILTER_BENCH "\" ") +
                              arguments + " >\"" + dir.File("out") + "\" 2>\"" +
                              dir.File("err") + "\"";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Program, RefusesToMeasureWithoutOptimisation) {
  if (kOptimised) GTEST_SKIP() << "this build is optimised";
  const test::TempDir dir;
  EXPECT_EQ(RunProgram(dir, "--keys 1000"), 1);
  EXPECT_NE(test::ReadFile(dir.File("err")).find("built without optimisation"),
            std::string::npos);
}

TEST(Program, WrongUsageIsStatusTwo) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const test::TempDir dir;
  EXPECT_EQ(RunProgram(dir, "--keys 1001"), 2);
  EXPECT_EQ(RunProgram(dir, "--rates 1"), 2);
  EXPECT_EQ(RunProgram(dir, "--nonsense"), 2);
}

// MODE/SHAPE/KEYS/RATE/FILTER/KERNEL/EQUAL/OPERATION.
std::vector<std::string> Parts(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream in(name);
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);
  return parts;
}

// Every filter as "MODE/SHAPE/FILTER/KERNEL/EQUAL", and its operations.
TEST(Program, MeasuresEachFilterAtItsRate) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const test::TempDir dir;
  ASSERT_EQ(RunProgram(dir,
                       "--keys 1000 --rates 0.01 --absent 20000 --offset 16 "
                       "--frontier-keys 1000 --benchmark_repetitions=1 "
                       "--benchmark_min_time=0.0001 --json \"" +
                           dir.File("json") + "\""),
            0)
      << test::ReadFile(dir.File("err"));
  const json results = json::parse(test::ReadFile(dir.File("json")));
  EXPECT_EQ(results["context"]["offset_bytes"], "16");
  EXPECT_TRUE(results["context"].contains("commit"));
  std::map<std::string, size_t> operations;
  size_t frontier = 0;
  for (const json& run : results["benchmarks"]) {
    SCOPED_TRACE(run.dump());
    if (run["run_type"] != "iteration") continue;
    EXPECT_FALSE(run.value("error_occurred", false));
    const std::vector<std::string> parts = Parts(run["name"]);
    ASSERT_GE(parts.size(), 8u);
    if (parts[0] == "frontier") {
      ++frontier;
      continue;
    }
    ++operations[parts[0] + "/" + parts[1] + "/" + parts[4] + "/" + parts[5] +
                 "/" + parts[6]];
    if (parts[7] != "build") {
      EXPECT_EQ(run["keys"], 1024);
      continue;
    }
    EXPECT_EQ(run["keys"], 1000);
    const bool row = parts[1] == "row";
    EXPECT_EQ(run["entries"], row ? 1000 : 1000 + 1000 / kColumns);
    EXPECT_GE(run["peak_bytes"], run["filter_bytes"]);
    // The bits of an entry are those that its rate needs, and not many more.
    // Small filters have fixed parts.
    const double bits =
        8 * run["filter_bytes"].get<double>() / run["entries"].get<double>();
    const double rate =
        run[row ? "absent_row_passed" : "absent_column_passed"].get<double>() /
        20000;
    EXPECT_GT(bits, -std::log2(rate));
    if (parts[0] == "filters") {
      EXPECT_LT(bits, -2.2 * std::log2(rate));
    }
    if (parts[6] == "rate") {
      EXPECT_GT(rate, 0.01 / 8);
      EXPECT_LT(rate, 0.01 * 2);
    }
  }
  std::map<std::string, size_t> expected;
  for (const Kernel& kernel : UsableKernels()) {
    for (const char* kind : {"bloom", "ribbon"}) {
      const std::string name = std::string("/rowbloom ") + kind + "/" +
                               std::string(kernel.name) + "/rate";
      expected["filters/row" + name] = 1 + 9;
      expected["filters/row+column" + name] = 1 + 12;
    }
  }
  for (const char* name : {"RocksDB Bloom/-/rate", "RocksDB Ribbon/-/rate",
                           "RocksDB Ribbon/-/bits"}) {
    expected[std::string("filters/row/") + name] = 1 + 9;
    expected[std::string("filters/row+column/") + name] = 1 + 12;
  }
  expected["filters/row/memory alone/-/rate"] = 9;
  expected["filters/row+column/memory alone/-/rate"] = 12;
  for (const char* name :
       {"classic, mitz64", "classic, mitz32", "scalable, reserved",
        "scalable, grown 100 times", "counting", "cuckoo", "RocksDB Bloom"}) {
    expected[std::string("standalone/row/") + name + "/-/rate"] = 3;
  }
  for (const char* name :
       {"ribbon, 0.97", "ribbon, 1.00", "ribbon, 1.02", "ribbon, 1.05",
        "ribbon, 1.10", "ribbon, 1.20", "RocksDB Ribbon"}) {
    expected[std::string("ribbon_slots/row/") + name + "/-/rate"] = 3;
  }
  EXPECT_EQ(operations, expected);
  EXPECT_EQ(frontier, 4u * 17u);
}

TEST(Program, MeasuresWhatTheFilterOfGoogleBenchmarkChooses) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const test::TempDir dir;
  ASSERT_EQ(RunProgram(dir,
                       "--keys 1000 --rates 0.01 --benchmark_list_tests "
                       "--benchmark_filter=cuckoo/.*build"),
            0);
  EXPECT_EQ(test::ReadFile(dir.File("out")),
            "standalone/row/1000/0.01/cuckoo/-/rate/build\n");
}

TEST(RibbonSlots, GrowWithTheirSlots) {
  const KeyArray keys = KeySpace(KeyShape::kRow, 2000, 1).Present();
  const std::vector<Kind> kinds = RibbonSlotKinds(0.01);
  ASSERT_EQ(kinds.size(), 7u);
  EXPECT_LT(1.05 * static_cast<double>(kinds[0].build(keys)),
            static_cast<double>(kinds[5].build(keys)));
}

TEST(BuiltFilter, IsPlacedBehindACacheLine) {
  BuiltFilter filter;
  const std::string bytes(1000, 'x');
  filter.bytes = bytes;
  for (const size_t offset : {0u, 16u, 63u}) {
    const BuiltFilter placed = PlacedAt(offset, filter);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(placed.bytes.data()) % 64, offset);
    EXPECT_EQ(placed.bytes, filter.bytes);
  }
}

}  // namespace
}  // namespace rowbloom::bench
