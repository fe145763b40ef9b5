#include "rowbloom/classic_bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/guava_form.h"
#include "lib/standalone/key_hash.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMaxWords = std::numeric_limits<int32_t>::max();
// No place of kMurmur128Mitz32 is beyond.
constexpr uint64_t kMaxMitz32Bits = uint64_t{1} << 31;

// Empty, or why a filter cannot have these parts, which start at `offset`: a
// byte each for strategy and hashes, then the number of words, or the words.
std::string PartsProblem(size_t offset, uint64_t strategy, uint64_t hashes,
                         uint64_t words) {
  if (strategy > static_cast<uint64_t>(ClassicStrategy::kMurmur128Mitz64)) {
    return Concat("offset ", offset, ": unknown strategy ", strategy);
  }
  if (hashes == 0) return Concat("offset ", offset + 1, ": no hashes");
  if (words == 0 || words > kMaxWords) {
    return Concat("offset ", offset + 2, ": ", words, " words, expected 1 to ",
                  kMaxWords);
  }
  return "";
}

uint64_t WordsOf(std::string_view guava_head) {
  return __builtin_bswap32(static_cast<uint32_t>(GetFixed(guava_head, 2, 4)));
}

}  // namespace

std::string guava::Problem(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) {
    return Concat(bytes.size(), " bytes, expected at least ", kHeadBytes);
  }
  const uint64_t words = WordsOf(bytes);
  std::string problem =
      PartsProblem(0, GetFixed(bytes, 0, 1), GetFixed(bytes, 1, 1), words);
  const uint64_t expected = kHeadBytes + words * 8;
  if (problem.empty() && bytes.size() != expected) {
    problem = Concat(bytes.size(), " bytes, expected ", expected, " for ",
                     words, " words");
  }
  return problem;
}

std::string_view ToString(ClassicStrategy strategy) {
  return strategy == ClassicStrategy::kMurmur128Mitz32 ? "MURMUR128_MITZ_32"
                                                       : "MURMUR128_MITZ_64";
}

uint64_t ClassicBloomFilter::OptimalBits(uint64_t expected_insertions,
                                         double rate) {
  const auto keys =
      static_cast<double>(std::max<uint64_t>(expected_insertions, 1));
  // The order of operations is Guava's, because each rounds.
  const double bits =
      -keys * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2);
  return bits < 0x1p63 ? static_cast<uint64_t>(bits) : kNone;
}

int ClassicBloomFilter::OptimalHashes(uint64_t expected_insertions,
                                      uint64_t bits) {
  const auto keys =
      static_cast<double>(std::max<uint64_t>(expected_insertions, 1));
  const double hashes =
      std::floor(static_cast<double>(bits) / keys * std::numbers::ln2 + 0.5);
  return static_cast<int>(std::clamp(hashes, 1.0, 0x1p30));
}

Result<ClassicBloomFilter> ClassicBloomFilter::Create(
    uint64_t expected_insertions, double false_positive_rate,
    ClassicStrategy strategy, const std::optional<FilterSecret>& secret) {
  if (!IsFalsePositiveRate(false_positive_rate)) {
    return Error{Concat("false positive rate ", false_positive_rate,
                        ", expected one inside (0, 1)")};
  }
  const uint64_t bits = OptimalBits(expected_insertions, false_positive_rate);
  const uint64_t most =
      strategy == ClassicStrategy::kMurmur128Mitz32 ? kMaxMitz32Bits : kMaxBits;
  if (bits == 0 || bits > most) {
    return Error{Concat("a filter of ",
                        bits == kNone ? "2^63 or more" : std::to_string(bits),
                        " bits, expected 1 to ", most)};
  }
  const int hashes = OptimalHashes(expected_insertions, bits);
  if (hashes > kMaxHashes) {
    return Error{Concat("a filter of ", hashes, " hashes, expected at most ",
                        kMaxHashes)};
  }
  return ClassicBloomFilter((bits + 63) / 64, hashes, strategy, secret);
}

Hash128 ClassicBloomFilter::HashOf(std::string_view key) const {
  return secret_ ? SipHash(*secret_, key) : Murmur3(key);
}

bool ClassicBloomFilter::Put(std::string_view key) {
  bool changed = false;
  guava::VisitPlaces(
      HashOf(key), strategy_, hashes_, bits(), [&](uint64_t place) {
        Word& word = words_[place / 64];
        const uint64_t bit = uint64_t{1} << place % 64;
        // Reading first keeps unchanged cache lines shared between CPUs.
        if ((word.load(std::memory_order_relaxed) & bit) == 0) {
          changed |= (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
        }
        return true;
      });
  return changed;
}

bool ClassicBloomFilter::MightContain(std::string_view key) const {
  return guava::VisitPlaces(
      HashOf(key), strategy_, hashes_, bits(), [this](uint64_t place) {
        return (LoadWordAt(place / 64) >> place % 64 & 1) != 0;
      });
}

bool ClassicBloomFilter::PutAll(const ClassicBloomFilter& other) {
  if (this == &other || word_count_ != other.word_count_ ||
      hashes_ != other.hashes_ || strategy_ != other.strategy_ ||
      secret_ != other.secret_) {
    return false;
  }
  for (uint64_t i = 0; i < word_count_; ++i) {
    words_[i].fetch_or(other.LoadWordAt(i), std::memory_order_relaxed);
  }
  return true;
}

uint64_t ClassicBloomFilter::CountSetBits() const {
  int64_t count = 0;
  for (uint64_t i = 0; i < word_count_; ++i) {
    count += std::popcount(LoadWordAt(i));
  }
  return static_cast<uint64_t>(count);
}

double ClassicBloomFilter::ExpectedFpp() const {
  return std::pow(
      static_cast<double>(CountSetBits()) / static_cast<double>(bits()),
      hashes_);
}

uint64_t ClassicBloomFilter::ApproximateElementCount() const {
  const uint64_t set = CountSetBits();
  if (set == bits()) return kNone;
  const auto all = static_cast<double>(bits());
  return static_cast<uint64_t>(std::floor(
      -std::log1p(-static_cast<double>(set) / all) * all / hashes_ + 0.5));
}

Result<std::string> ClassicBloomFilter::Serialize() const {
  if (secret_) {
    return Error{
        "a filter with a secret cannot be written in Guava's form, which has "
        "none"};
  }
  std::string bytes;
  PutFixed(&bytes, static_cast<uint64_t>(strategy_), 1);
  PutFixed(&bytes, static_cast<uint64_t>(hashes_), 1);
  PutFixed(&bytes, __builtin_bswap32(static_cast<uint32_t>(word_count_)), 4);
  bytes.resize(guava::kHeadBytes + size_bytes());
  char* to = bytes.data() + guava::kHeadBytes;
  for (uint64_t i = 0; i < word_count_; ++i, to += 8) {
    StoreWord(__builtin_bswap64(LoadWordAt(i)), to);
  }
  return bytes;
}

Result<ClassicBloomFilter> ClassicBloomFilter::Parse(std::string_view bytes) {
  if (const std::string problem = guava::Problem(bytes); !problem.empty()) {
    return Error{"Guava filter: " + problem};
  }
  ClassicBloomFilter filter(WordsOf(bytes), static_cast<uint8_t>(bytes[1]),
                            static_cast<ClassicStrategy>(bytes[0]),
                            std::nullopt);
  const char* from = bytes.data() + guava::kHeadBytes;
  for (uint64_t i = 0; i < filter.word_count_; ++i, from += 8) {
    filter.words_[i].store(__builtin_bswap64(LoadWord(from)),
                           std::memory_order_relaxed);
  }
  return filter;
}

std::string ClassicBloomFilter::SerializeChecked() const {
  std::string out =
      frame::Begin(FilterForm::kClassic, secret_, 2 + size_bytes());
  PutFixed(&out, static_cast<uint64_t>(strategy_), 1);
  PutFixed(&out, static_cast<uint64_t>(hashes_), 1);
  for (uint64_t i = 0; i < word_count_; ++i) PutFixed(&out, LoadWordAt(i), 8);
  return frame::Finish(std::move(out));
}

Result<ClassicBloomFilter> ClassicBloomFilter::ParseChecked(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  auto in = frame::Reader::Open(bytes, FilterForm::kClassic, secret);
  if (!in) return Error{in.error()};
  const uint64_t strategy = in->Number(1, "strategy");
  const uint64_t hashes = in->Number(1, "hashes");
  const uint64_t words = in->bytes_left() / 8;
  in->Refuse(PartsProblem(frame::kHeadBytes, strategy, hashes, words));
  if (!in->ok()) return *in->Finish();
  ClassicBloomFilter filter(words, static_cast<int>(hashes),
                            static_cast<ClassicStrategy>(strategy), secret);
  for (uint64_t i = 0; i < words; ++i) {
    filter.words_[i].store(in->Number(8, "bits"), std::memory_order_relaxed);
  }
  if (const auto error = in->Finish()) return *error;
  return filter;
}

}  // namespace rowbloom
