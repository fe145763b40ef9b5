// filter_bench: its keys, its arithmetic, and the results that it writes.
#include "bench/filter_bench.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bench/allocation_counter.h"
#include "bench/built_filter.h"
#include "bench/environment.h"
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
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  constexpr uint64_t kKeys = 20'000;
  const KeySpace space(GetParam(), kKeys, seed);
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

// Wilson's interval at points computed from its formula by other means.
TEST(Interval99, IsWilsons) {
  const Interval half = Interval99({.asked = 100, .passed = 50});
  EXPECT_NEAR(half.low, 0.3753, 0.0001);
  EXPECT_NEAR(half.high, 0.6247, 0.0001);
  const Interval none = Interval99({.asked = 1000, .passed = 0});
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.006591, 0.000001);
}

TEST(FilterResult, BoundIsOneBitForEachHalving) {
  FilterResult result;
  result.entries = 800;
  result.filter_bytes = 1000;  // ten bits for each
  result.absent_row = {.asked = 256, .passed = 1};
  EXPECT_DOUBLE_EQ(result.OverBoundPercent(), 25);
  result.absent_row.passed = 0;
  EXPECT_TRUE(std::isinf(result.OverBoundPercent()));
}

// Runs the program with its output in `dir`; its exit status.
int RunProgram(const test::TempDir& dir, const std::string& arguments) {
  const std::string command = std::string("\"" ROWBLOOM_FILTER_BENCH "\" ") +
                              arguments + " >\"" + dir.File("out") + "\" 2>\"" +
                              dir.File("err") + "\"";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Program, RefusesToMeasureWithoutOptimisation) {
  if (kOptimised) GTEST_SKIP() << "this build is optimised";
  const test::TempDir dir;
  EXPECT_EQ(RunProgram(dir, "--keys 1000"), 1);
  EXPECT_NE(ReadFile(dir.File("err")).find("built without optimisation"),
            std::string::npos);
}

TEST(Program, WrongUsageIsStatusTwo) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const test::TempDir dir;
  EXPECT_EQ(RunProgram(dir, "--keys 1001"), 2);
  EXPECT_EQ(RunProgram(dir, "--rates 1"), 2);
  EXPECT_EQ(RunProgram(dir, "--nonsense"), 2);
}

TEST(Program, WritesEachFilterOfEachGroupAtItsRate) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const test::TempDir dir;
  ASSERT_EQ(RunProgram(dir,
                       "--keys 1000,2000 --rates 0.1,0.01 --repetitions 3 "
                       "--min-time 0.0001 --absent 20000 --offset 16 "
                       "--frontier-keys 1000 --json \"" +
                           dir.File("json") + "\""),
            0)
      << ReadFile(dir.File("err"));
  const json results = json::parse(ReadFile(dir.File("json")));
  const std::vector<std::string> kernels = KernelNames();
  std::set<std::tuple<std::string, uint64_t, double, std::string, std::string,
                      std::string>>
      seen;
  for (const json& filter : results["filters"]) {
    SCOPED_TRACE(filter.dump());
    const KeyShape shape =
        filter["shape"] == "row" ? KeyShape::kRow : KeyShape::kRowCol;
    const std::string name = filter["filter"];
    const std::string kernel =
        filter["kernel"].is_null() ? "" : filter["kernel"].get<std::string>();
    EXPECT_TRUE(seen.emplace(filter["shape"], filter["keys"],
                             filter["target_rate"], name, kernel,
                             filter["equal"])
                    .second);
    EXPECT_EQ(kernel.empty(), name.starts_with("RocksDB"));
    // As many bits as an entry of such a rate needs, and not many more. Small
    // filters have fixed parts.
    const uint64_t keys = filter["keys"];
    EXPECT_EQ(filter["entries"],
              shape == KeyShape::kRow ? keys : keys + keys / kColumns);
    EXPECT_GT(filter["over_bound_percent"], 0);
    EXPECT_LT(filter["over_bound_percent"], 120);
    EXPECT_GE(filter["build_peak_bytes_per_key"].get<double>() *
                  static_cast<double>(keys),
              filter["filter_bytes"].get<double>());
    const json& counts =
        filter[shape == KeyShape::kRow ? "absent_row" : "absent_column"];
    EXPECT_EQ(counts["asked"], 20000);
    EXPECT_LE(counts["low99"], counts["rate"]);
    EXPECT_GE(counts["high99"], counts["rate"]);
    if (filter["equal"] != "bits") {
      EXPECT_GT(counts["rate"], filter["target_rate"].get<double>() / 2);
      EXPECT_LT(counts["rate"], filter["target_rate"].get<double>() * 2);
    }
    const std::vector<Operation> operations = AllOperations(shape);
    ASSERT_EQ(filter["timings"].size(), operations.size());
    for (size_t i = 0; i < operations.size(); ++i) {
      const json& timing = filter["timings"][i];
      EXPECT_EQ(timing["operation"], ToString(operations[i].mode));
      EXPECT_EQ(timing.value("asked", ""), ToString(operations[i].asked));
      EXPECT_LE(timing["low_quartile"], timing["ns_per_key"]);
      EXPECT_GE(timing["high_quartile"], timing["ns_per_key"]);
    }
  }
  // Every kernel and both of RocksDB's filters, in every group.
  for (const char* shape : {"row", "row+column"}) {
    for (const uint64_t keys : {1000, 2000}) {
      for (const double rate : {0.1, 0.01}) {
        const auto has = [&](const std::string& name,
                             const std::string& kernel) {
          return std::any_of(seen.begin(), seen.end(), [&](const auto& row) {
            return std::get<0>(row) == shape && std::get<1>(row) == keys &&
                   std::get<2>(row) == rate && std::get<3>(row) == name &&
                   std::get<4>(row) == kernel && std::get<5>(row) != "bits";
          });
        };
        for (const std::string& kernel : kernels) {
          EXPECT_TRUE(has("rowbloom bloom", kernel)) << kernel;
          EXPECT_TRUE(has("rowbloom ribbon", kernel)) << kernel;
          if (rate != 0.01) break;  // the fastest alone
        }
        EXPECT_TRUE(has("RocksDB Bloom", ""));
        EXPECT_TRUE(has("RocksDB Ribbon", ""));
      }
    }
  }
  EXPECT_EQ(results["frontier"].size(), 4u * 17u);
  EXPECT_EQ(results["run"]["offset_bytes"], 16);
  // Lookups of each group: of two numbers of keys and two rates.
  const size_t lookups = AllOperations(KeyShape::kRow).size() +
                         AllOperations(KeyShape::kRowCol).size() - 2;
  EXPECT_EQ(results["memory_alone"].size(), 4 * lookups);
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

// The results of a mode that measures kinds of filters, checked.
json KindsOf(const std::string& mode, const std::string& arguments) {
  const test::TempDir dir;
  EXPECT_EQ(RunProgram(dir, arguments +
                                " --keys 1000,2000 --rates 0.1,0.01 "
                                "--repetitions 3 --min-time 0.0001 --absent "
                                "20000 --json \"" +
                                dir.File("json") + "\""),
            0)
      << ReadFile(dir.File("err"));
  const json results = json::parse(ReadFile(dir.File("json")));
  std::set<std::tuple<std::string, uint64_t, double>> found;
  for (const json& filter : results[mode]) {
    SCOPED_TRACE(filter.dump());
    const double target = filter["target_rate"];
    EXPECT_TRUE(found.emplace(filter["filter"], filter["keys"], target).second);
    EXPECT_GT(filter["bytes_per_key"].get<double>() * 8, -std::log2(target));
    EXPECT_EQ(filter["absent"]["asked"], 20000);
    EXPECT_LT(filter["absent"]["low99"], target);
    EXPECT_GT(filter["absent"]["rate"], target / 8);
  }
  return results[mode];
}

TEST(Program, WritesEveryStandaloneFilter) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  EXPECT_EQ(KindsOf("standalone", "--standalone").size(), 7u * 2u * 2u);
}

TEST(Program, WritesRibbonsThatGrowWithTheirSlots) {
  if (!kOptimised) GTEST_SKIP() << "this build refuses to measure";
  const json filters = KindsOf("ribbon_slots", "--ribbon-slots");
  ASSERT_EQ(filters.size(), 7u * 2u * 2u);
  for (size_t i = 0; i < filters.size(); i += 7) {
    EXPECT_LT(1.05 * filters[i]["filter_bytes"].get<double>(),
              filters[i + 5]["filter_bytes"].get<double>());
    EXPECT_EQ(filters[i + 6]["filter"], "RocksDB Ribbon");
  }
}

}  // namespace
}  // namespace rowbloom::bench
