#include "storage/filter_policy/front_filter/reader_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace rowbloom::front_filter {
namespace {

void Retire(ReaderSlots* slots, std::shared_ptr<const void> object) {
  std::list<ReaderSlots::Retired> retired;
  retired.emplace_back().object = std::move(object);
  slots->Retire(std::move(retired));
}

class ReaderSlotsTest : public testing::TestWithParam<ReaderSlots::Barrier> {};

INSTANTIATE_TEST_SUITE_P(Each, ReaderSlotsTest,
                         testing::Values(ReaderSlots::Barrier::kMembarrier,
                                         ReaderSlots::Barrier::kOwn),
                         [](const auto& one) {
                           return one.param == ReaderSlots::Barrier::kOwn
                                      ? "Own"
                                      : "Membarrier";
                         });

TEST_P(ReaderSlotsTest, FreesAtOnceWithoutReaders) {
  ReaderSlots slots(GetParam());
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  Retire(&slots, std::move(object));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(slots.retired(), 0);
}

TEST_P(ReaderSlotsTest, KeepsWhatAReaderMaySee) {
  ReaderSlots slots(GetParam());
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  std::optional<ReaderSlots::Reading> reading(std::in_place, &slots);
  Retire(&slots, std::move(object));
  for (int i = 0; i < 10; ++i) slots.Retire({});
  EXPECT_FALSE(watch.expired());
  // Later readers do not keep it.
  const ReaderSlots::Reading later(&slots);
  reading.reset();
  slots.Retire({});
  slots.Retire({});
  EXPECT_TRUE(watch.expired());
}

TEST_P(ReaderSlotsTest, FreesWhileOthersRead) {
  ReaderSlots slots(GetParam());
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  // There is a reader at any time, but none stays.
  auto reading = std::make_unique<ReaderSlots::Reading>(&slots);
  Retire(&slots, std::move(object));
  for (int i = 0; i < 4; ++i) {
    auto next = std::make_unique<ReaderSlots::Reading>(&slots);
    reading = std::move(next);
    slots.Retire({});
  }
  EXPECT_TRUE(watch.expired());
}

// Readers and a publisher: no reader finds an object that was freed. An object
// is a flag of its own, whose memory stays.
TEST_P(ReaderSlotsTest, ReadersFindLiveObjects) {
  using Flag = std::atomic<bool>;
  std::deque<Flag> flags;
  const auto make = [&flags] {
    return std::shared_ptr<Flag>(&flags.emplace_back(true),
                                 [](Flag* alive) { alive->store(false); });
  };
  ReaderSlots slots(GetParam());
  auto owner = make();
  std::atomic<const Flag*> current{owner.get()};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> readings{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (; !stop.load(); ++readings) {
        const ReaderSlots::Reading reading(&slots);
        const Flag* const alive = current.load();
        for (int look = 0; look < 20; ++look) {
          if (!alive->load()) ADD_FAILURE() << "freed";
        }
      }
    });
  }
  for (int i = 0; i < 5'000 || readings.load() < 5'000; ++i) {
    auto next = make();
    current.store(next.get());
    Retire(&slots, std::exchange(owner, std::move(next)));
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  slots.Retire({});
  slots.Retire({});
  EXPECT_EQ(slots.retired(), 0);
}

}  // namespace
}  // namespace rowbloom::front_filter
