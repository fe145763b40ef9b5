#include "rowbloom/counting_bloom_filter.h"

#include <utility>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace {

constexpr uint64_t kCountersPerWord = 16;

// A count of 1 in the word of the place.
uint64_t OneAt(uint64_t place) {
  return uint64_t{1} << 4 * (place % kCountersPerWord);
}

}  // namespace

Result<CountingBloomFilter> CountingBloomFilter::Create(
    uint64_t expected_keys, double false_positive_rate,
    const std::optional<FilterSecret>& secret) {
  const Result<BloomShape> shape =
      BloomShapeFor(expected_keys, false_positive_rate);
  if (!shape) return Error{shape.error()};
  return CountingBloomFilter(*shape, secret);
}

void CountingBloomFilter::Add(std::string_view key) {
  VisitPlaces(HashKey(secret_, key), shape_, [this](uint64_t place) {
    const uint64_t count = CountAt(place);
    if (count == kMaxCount) return true;
    words_[place / kCountersPerWord] += OneAt(place);
    if (count + 1 == kMaxCount) ++stuck_;
    return true;
  });
  ++keys_;
}

bool CountingBloomFilter::Remove(std::string_view key) {
  if (!Contains(key)) return false;
  VisitPlaces(HashKey(secret_, key), shape_, [this](uint64_t place) {
    const uint64_t count = CountAt(place);
    // A key that was never added may have two places in one counter, which is 0
    // at the second.
    if (count != kMaxCount && count != 0) {
      words_[place / kCountersPerWord] -= OneAt(place);
    }
    return true;
  });
  if (keys_ > 0) --keys_;
  return true;
}

bool CountingBloomFilter::Contains(std::string_view key) const {
  return VisitPlaces(HashKey(secret_, key), shape_,
                     [this](uint64_t place) { return CountAt(place) != 0; });
}

std::string CountingBloomFilter::Serialize() const {
  std::string out =
      frame::Begin(FilterForm::kCounting, secret_, 9 + size_bytes());
  PutFixed(&out, static_cast<uint64_t>(shape_.hashes), 1);
  PutFixed(&out, keys_, 8);
  frame::PutWords(&out, words_);
  return frame::Finish(std::move(out));
}

Result<CountingBloomFilter> CountingBloomFilter::Parse(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  auto in = frame::Reader::Open(bytes, FilterForm::kCounting, secret);
  if (!in) return Error{in.error()};
  const auto hashes = static_cast<int>(in->Number(1, "hashes"));
  const uint64_t keys = in->Number(8, "keys");
  // Counters fill blocks of 64, four words.
  const uint64_t words = in->bytes_left() / 8;
  if (hashes == 0) in->Refuse("no hashes");
  if (words == 0 || words % 4 != 0 ||
      words > kMaxFilterPlaces / kCountersPerWord) {
    in->Refuse(Concat(words * kCountersPerWord,
                      " counters, expected a multiple of 64, 64 to ",
                      kMaxFilterPlaces));
  }
  if (!in->ok()) return *in->Finish();
  CountingBloomFilter filter({words * kCountersPerWord, hashes}, secret);
  filter.keys_ = keys;
  for (uint64_t& word : filter.words_) word = in->Number(8, "counters");
  if (const auto error = in->Finish()) return *error;
  for (uint64_t place = 0; place < filter.counters(); ++place) {
    if (filter.CountAt(place) == kMaxCount) ++filter.stuck_;
  }
  return filter;
}

}  // namespace rowbloom
