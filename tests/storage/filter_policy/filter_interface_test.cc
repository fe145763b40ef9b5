// RocksDB's private filter interface, as rowbloom declares it again, against a
// stand-in for what RocksDB publishes: the same virtual functions in the same
// places, and our builder and reader behind calls that know the stand-in alone.
// Compiled for each layout, whichever the installed RocksDB has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/filter_bits.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
// This header reads the declaration above, so it comes after it.
#include "tests/storage/filter_policy/interface_slots.h"
#include "tests/storage/filter_policy/published_side.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"

namespace rowbloom {

template <>
std::vector<Slot> PublishedSlots<700>();
template <>
std::vector<Slot> PublishedSlots<906>();
template <>
std::vector<Slot> PublishedSlots<1009>();

void PrintTo(const Slot& slot, std::ostream* out) {
  *out << slot.position << " " << slot.function << " " << slot.type;
}

namespace {

using rocksdb::Slice;
using rocksdb::Status;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Not;

constexpr bool kHasAlt = ROWBLOOM_FILTER_INTERFACE >= 906;
constexpr bool kHasSpace = ROWBLOOM_FILTER_INTERFACE >= 1009;

TEST(FilterInterface, IsThePublishedOneOfItsLayout) {
  EXPECT_THAT(DeclaredSlots(),
              ElementsAreArray(PublishedSlots<ROWBLOOM_FILTER_INTERFACE>()));
}

// The test above tells layouts apart.
TEST(FilterInterface, IsNotThatOfAnotherLayout) {
  if (ROWBLOOM_FILTER_INTERFACE != 700) {
    EXPECT_THAT(DeclaredSlots(), Not(ElementsAreArray(PublishedSlots<700>())));
  }
  if (ROWBLOOM_FILTER_INTERFACE != 906) {
    EXPECT_THAT(DeclaredSlots(), Not(ElementsAreArray(PublishedSlots<906>())));
  }
  if (ROWBLOOM_FILTER_INTERFACE != 1009) {
    EXPECT_THAT(DeclaredSlots(), Not(ElementsAreArray(PublishedSlots<1009>())));
  }
}

// Two for the destructor, and the rest in the order of the header.
TEST(FilterInterface, PositionsAreThoseOfTheVirtualTable) {
  std::map<std::string, size_t> positions;
  for (const Slot& slot : DeclaredSlots()) {
    positions[slot.function] = slot.position;
  }
  EXPECT_EQ(positions.at("AddKey"), 2u);
  EXPECT_EQ(positions.at("ApproximateNumEntries"), kHasAlt ? 8u : 7u);
  EXPECT_EQ(positions.at("functions of the builder"), kHasSpace ? 11u
                                                      : kHasAlt ? 9u
                                                                : 8u);
  EXPECT_EQ(positions.at("functions of the reader"), 4u);
  if (kHasAlt) {
    EXPECT_EQ(positions.at("AddKeyAndAlt"), 3u);
  }
  if (kHasSpace) {
    EXPECT_EQ(positions.at("EstimatedFpRate"), 10u);
  }
}

// Notes what it was called for.
class Probe final : public rocksdb::FilterBitsBuilder {
 public:
  explicit Probe(std::vector<std::string>* calls) : calls_(calls) {}
  ~Probe() override { calls_->push_back("delete"); }
  void AddKey(const Slice& key) override {
    calls_->push_back("AddKey " + key.ToString());
  }
#if ROWBLOOM_FILTER_INTERFACE >= 906
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    calls_->push_back("AddKeyAndAlt " + key.ToString() + " " + alt.ToString());
  }
#endif
  size_t EstimateEntriesAdded() override {
    calls_->push_back("EstimateEntriesAdded");
    return 11;
  }
  Slice Finish(std::unique_ptr<const char[]>*) override {
    calls_->push_back("Finish");
    return "short";
  }
  Slice Finish(std::unique_ptr<const char[]>*, Status* status) override {
    calls_->push_back("Finish with status");
    *status = Status::Busy();
    return "long";
  }
  Status MaybePostVerify(const Slice& filter) override {
    calls_->push_back("MaybePostVerify " + filter.ToString());
    return Status::Aborted();
  }
  size_t ApproximateNumEntries(size_t bytes) override {
    calls_->push_back("ApproximateNumEntries " + std::to_string(bytes));
    return 12;
  }
#if ROWBLOOM_FILTER_INTERFACE >= 1009
  size_t CalculateSpace(size_t entries) override {
    calls_->push_back("CalculateSpace " + std::to_string(entries));
    return 13;
  }
  double EstimatedFpRate(size_t entries, size_t bytes) override {
    calls_->push_back("EstimatedFpRate " + std::to_string(entries) + " " +
                      std::to_string(bytes));
    return 0.5;
  }
#endif

 private:
  std::vector<std::string>* calls_;
};

TEST(FilterInterface, CallsArriveWithArgumentsAndAnswers) {
  std::vector<std::string> calls;
  rocksdb::FilterBitsBuilder* probe = new Probe(&calls);
  std::vector<std::string> expected;
  published::Buffer buffer;
  Status status;
  published::AddKey(probe, "k");
  expected.push_back("AddKey k");
  published::AddKeyAndAlt(probe, "k", "a");
  if (kHasAlt) expected.push_back("AddKeyAndAlt k a");
  EXPECT_EQ(published::EstimateEntriesAdded(probe), 11u);
  expected.push_back("EstimateEntriesAdded");
  EXPECT_EQ(published::Finish(probe, &buffer), "short");
  expected.push_back("Finish");
  EXPECT_EQ(published::Finish(probe, &buffer, &status), "long");
  EXPECT_TRUE(status.IsBusy());
  expected.push_back("Finish with status");
  EXPECT_TRUE(published::MaybePostVerify(probe, "f").IsAborted());
  expected.push_back("MaybePostVerify f");
  EXPECT_EQ(published::ApproximateNumEntries(probe, 5), 12u);
  expected.push_back("ApproximateNumEntries 5");
  EXPECT_EQ(published::CalculateSpace(probe, 6), kHasSpace ? 13u : 0u);
  if (kHasSpace) expected.push_back("CalculateSpace 6");
  EXPECT_EQ(published::EstimatedFpRate(probe, 7, 8), kHasSpace ? 0.5 : 0.0);
  if (kHasSpace) expected.push_back("EstimatedFpRate 7 8");
  published::Delete(probe);
  expected.push_back("delete");
  EXPECT_THAT(calls, ElementsAreArray(expected));
}

// The tests below call our own builder and reader as RocksDB does.

constexpr int kRows = 2000;
constexpr int kColumns = 10;

std::string RowOf(int row) {
  return test::DistinctKey(static_cast<uint64_t>(row));
}
std::string KeyOf(int row, int column) {
  return RowOf(row) + "c" + std::to_string(column);
}

FilterBlockOptions Options(BloomType type, double bits_per_key = 10) {
  return {.bloom_type = type,
          .key_layout = KeyLayout::FixedRow(8),
          .bits_per_key = bits_per_key,
          .verify = true};
}

rocksdb::FilterBitsBuilder* NewBuilder(const FilterBlockOptions& options) {
  return NewFilterBitsBuilder(options, std::make_shared<FilterCounters>())
      .release();
}

// Adds a key and its prefix as RocksDB does: at once, or before 9.6 one by one.
void AddKeyAndPrefix(rocksdb::FilterBitsBuilder* builder,
                     const std::string& key, const std::string& prefix) {
  if (kHasAlt) {
    published::AddKeyAndAlt(builder, key, prefix);
  } else {
    published::AddKey(builder, prefix);
    published::AddKey(builder, key);
  }
}

TEST(FilterInterface, BuilderAndReaderWorkBehindIt) {
  rocksdb::FilterBitsBuilder* builder = NewBuilder(Options(BloomType::kRowCol));
  EXPECT_EQ(published::EstimateEntriesAdded(builder), 0u);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      AddKeyAndPrefix(builder, KeyOf(row, column), RowOf(row));
    }
  }
  EXPECT_EQ(published::EstimateEntriesAdded(builder),
            static_cast<size_t>(kRows * (kColumns + 1)));
  published::Buffer buffer;
  Status status = Status::Busy();
  const Slice filter = published::Finish(builder, &buffer, &status);
  EXPECT_THAT(status, test::IsOk());
  EXPECT_THAT(published::MaybePostVerify(builder, filter), test::IsOk());
  EXPECT_EQ(published::EstimateEntriesAdded(builder), 0u);
  EXPECT_FALSE(
      published::MaybePostVerify(builder, Slice(filter.data(), 20)).ok());

  const auto counters = std::make_shared<FilterCounters>();
  rocksdb::FilterBitsReader* reader =
      NewFilterBitsReader(filter, counters).release();
  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    ASSERT_TRUE(published::MayMatch(reader, KeyOf(row, row % kColumns)));
    ASSERT_TRUE(published::MayMatch(reader, RowOf(row)));
    wrong += published::MayMatch(reader, KeyOf(row, kColumns));
    wrong += published::MayMatch(reader, RowOf(kRows + row));
  }
  EXPECT_LT(wrong, 2 * kRows / 50);
  std::vector<std::string> asked = {KeyOf(1, 2), KeyOf(kRows + 1, 0),
                                    KeyOf(2, kColumns), RowOf(3)};
  std::vector<Slice> slices(asked.begin(), asked.end());
  Slice* keys[] = {&slices[0], &slices[1], &slices[2], &slices[3]};
  bool may_match[4] = {};
  published::MayMatch(reader, 4, keys, may_match);
  EXPECT_THAT(may_match, ElementsAre(true, false, false, true));
  uint64_t questions = 0;
  for (const auto& level : counters->Read()) questions += level.stats.asked;
  EXPECT_EQ(questions, 4u * kRows + 4);
  published::Delete(reader);
  published::Delete(builder);
}

#if ROWBLOOM_FILTER_INTERFACE >= 906
TEST(FilterInterface, PrefixesOfAdjacentKeysCountOnce) {
  rocksdb::FilterBitsBuilder* builder = NewBuilder(Options(BloomType::kRow));
  published::AddKeyAndAlt(builder, KeyOf(1, 1), RowOf(1));
  published::AddKeyAndAlt(builder, KeyOf(1, 2), RowOf(1));
  EXPECT_EQ(published::EstimateEntriesAdded(builder), 1u);
  published::AddKeyAndAlt(builder, KeyOf(2, 1), RowOf(2));
  EXPECT_EQ(published::EstimateEntriesAdded(builder), 2u);
  // A key may be its own prefix.
  published::AddKeyAndAlt(builder, RowOf(3), RowOf(3));
  EXPECT_EQ(published::EstimateEntriesAdded(builder), 3u);
  published::Delete(builder);
}
#endif

#if ROWBLOOM_FILTER_INTERFACE >= 1009
// Bytes of a block with `entries` of the section's type, and the builder that
// made it.
size_t BuiltBytes(rocksdb::FilterBitsBuilder* builder, size_t entries) {
  for (size_t row = 0; row < entries; ++row) {
    published::AddKey(builder, RowOf(static_cast<int>(row)));
  }
  EXPECT_EQ(published::EstimateEntriesAdded(builder), entries);
  published::Buffer buffer;
  return published::Finish(builder, &buffer).size();
}

// RocksDB takes it for the size of the filter that a file will get.
TEST(FilterInterface, CalculatedSpaceIsWhatFinishGives) {
  rocksdb::FilterBitsBuilder* builder = NewBuilder(Options(BloomType::kRow));
  for (const size_t entries : {1, 10, 51, 52, 100, 1000, 10'000, 50'000}) {
    EXPECT_EQ(published::CalculateSpace(builder, entries),
              BuiltBytes(builder, entries))
        << entries;
  }
  published::Delete(builder);

  // Two sections share the bytes, each rounded up to 64.
  builder = NewBuilder(Options(BloomType::kRowCol));
  for (const int rows : {10, 100, 2000}) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        published::AddKey(builder, KeyOf(row, column));
      }
    }
    const size_t entries = published::EstimateEntriesAdded(builder);
    published::Buffer buffer;
    EXPECT_NEAR(
        static_cast<double>(published::CalculateSpace(builder, entries)),
        static_cast<double>(published::Finish(builder, &buffer).size()), 64)
        << entries;
  }
  published::Delete(builder);
}

TEST(FilterInterface, SpaceGrowsWithEntriesAndHoldsThem) {
  rocksdb::FilterBitsBuilder* builder = NewBuilder(Options(BloomType::kRowCol));
  size_t last = 0;
  for (size_t entries = 0; entries < 100'000; entries += 777) {
    const size_t space = published::CalculateSpace(builder, entries);
    EXPECT_GE(space, last);
    EXPECT_GE(published::ApproximateNumEntries(builder, space), entries);
    last = space;
  }
  published::Delete(builder);
}

TEST(FilterInterface, EstimatedRateIsNearTheConfiguredOne) {
  for (const double bits_per_key : {6.0, 10.0, 16.0}) {
    const double configured = FalsePositiveRate(bits_per_key);
    std::vector<FilterBlockOptions> all(3,
                                        Options(BloomType::kRow, bits_per_key));
    all[1].kind = FilterKind::kRibbon;
    all[2].kind = FilterKind::kRibbon;
    all[2].ribbon_slots_per_key = 1.2;
    for (const FilterBlockOptions& options : all) {
      // Blocks are whole: a bit for each key halves the rate of a ribbon.
      const double least = options.kind == FilterKind::kRibbon ? 0.7 : 0.8;
      rocksdb::FilterBitsBuilder* builder = NewBuilder(options);
      for (const size_t entries : {1000, 10'000, 100'000}) {
        const size_t bytes = published::CalculateSpace(builder, entries);
        const double rate = published::EstimatedFpRate(builder, entries, bytes);
        EXPECT_GT(rate, configured * least) << entries;
        EXPECT_LE(rate, configured * 1.001) << entries;
      }
      published::Delete(builder);
    }
  }
}

TEST(FilterInterface, EstimatedRateFallsWithBytesAndRisesWithEntries) {
  rocksdb::FilterBitsBuilder* builder = NewBuilder(Options(BloomType::kRow));
  EXPECT_EQ(published::EstimatedFpRate(builder, 0, 1000), 0.0);
  EXPECT_EQ(published::EstimatedFpRate(builder, 100, 0), 1.0);
  double last = 1.0;
  for (size_t bytes = 500; bytes < 5000; bytes += 100) {
    const double rate = published::EstimatedFpRate(builder, 1000, bytes);
    EXPECT_LT(rate, last) << bytes;
    EXPECT_GT(rate, 0.0) << bytes;
    last = rate;
  }
  last = 0;
  for (size_t entries = 500; entries < 5000; entries += 100) {
    const double rate = published::EstimatedFpRate(builder, entries, 3000);
    EXPECT_GT(rate, last) << entries;
    EXPECT_LT(rate, 1.0) << entries;
    last = rate;
  }
  published::Delete(builder);
}
#endif

}  // namespace
}  // namespace rowbloom
