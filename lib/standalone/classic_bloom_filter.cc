#include "rowbloom/classic_bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "lib/bytes/little_endian.h"
#include "lib/bytes/number_text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/guava_form.h"
#include "lib/standalone/key_hash.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

}  // namespace

std::string_view ToString(ClassicStrategy strategy) {
  return strategy == ClassicStrategy::kMurmur128Mitz32 ? "MURMUR128_MITZ_32"
                                                       : "MURMUR128_MITZ_64";
}

uint64_t ClassicBloomFilter::OptimalBits(uint64_t expected_insertions,
                                         double rate) {
  const auto keys =
      static_cast<double>(std::max<uint64_t>(expected_insertions, 1));
  // In Guava's order of operations: each rounds.
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
    return Error{"false positive rate " + NumberText(false_positive_rate) +
                 ", expected one inside (0, 1)"};
  }
  const uint64_t bits = OptimalBits(expected_insertions, false_positive_rate);
  if (bits == 0 || bits > kMaxBits) {
    return Error{"a filter of " +
                 (bits == kNone ? "2^63 or more" : std::to_string(bits)) +
                 " bits, expected 1 to " + std::to_string(kMaxBits)};
  }
  const int hashes = OptimalHashes(expected_insertions, bits);
  if (hashes > kMaxHashes) {
    return Error{"a filter of " + std::to_string(hashes) +
                 " hashes, expected at most " + std::to_string(kMaxHashes)};
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
        // Reading first leaves lines that need no change to all caches.
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

bool ClassicBloomFilter::IsCompatible(const ClassicBloomFilter& other) const {
  return this != &other && word_count_ == other.word_count_ &&
         hashes_ == other.hashes_ && strategy_ == other.strategy_ &&
         secret_ == other.secret_;
}

bool ClassicBloomFilter::PutAll(const ClassicBloomFilter& other) {
  if (!IsCompatible(other)) return false;
  for (uint64_t i = 0; i < word_count_; ++i) {
    words_[i].fetch_or(other.LoadWordAt(i), std::memory_order_relaxed);
  }
  return true;
}

uint64_t ClassicBloomFilter::CountSetBits() const {
  uint64_t count = 0;
  for (uint64_t i = 0; i < word_count_; ++i) {
    count += static_cast<uint64_t>(std::popcount(LoadWordAt(i)));
  }
  return count;
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
  std::string bytes(guava::kHeadBytes + size_bytes(), '\0');
  bytes[0] = static_cast<char>(strategy_);
  bytes[1] = static_cast<char>(hashes_);
  for (int i = 0; i < 4; ++i) {
    bytes[2 + i] = static_cast<char>(word_count_ >> (24 - 8 * i) & 0xff);
  }
  char* to = bytes.data() + guava::kHeadBytes;
  for (uint64_t i = 0; i < word_count_; ++i, to += 8) {
    StoreWord(__builtin_bswap64(LoadWordAt(i)), to);
  }
  return bytes;
}

Result<ClassicBloomFilter> ClassicBloomFilter::Parse(std::string_view bytes) {
  const auto problem = [](const std::string& what) {
    return Error{"Guava filter: " + what};
  };
  if (bytes.size() < guava::kHeadBytes) {
    return problem(std::to_string(bytes.size()) + " bytes, expected at least " +
                   std::to_string(guava::kHeadBytes));
  }
  const guava::Head head = guava::ReadHead(bytes);
  if (head.strategy >= guava::kStrategies) {
    return problem("offset 0: unknown strategy " +
                   std::to_string(head.strategy));
  }
  if (head.hashes == 0) return problem("offset 1: no hashes");
  if (head.words == 0 || head.words > guava::kMaxWords) {
    return problem("offset 2: " + std::to_string(head.words) +
                   " words, expected 1 to " + std::to_string(guava::kMaxWords));
  }
  const uint64_t expected = guava::kHeadBytes + uint64_t{head.words} * 8;
  if (bytes.size() != expected) {
    return problem(std::to_string(bytes.size()) + " bytes, expected " +
                   std::to_string(expected) + " for " +
                   std::to_string(head.words) + " words");
  }
  ClassicBloomFilter filter(head.words, head.hashes,
                            static_cast<ClassicStrategy>(head.strategy),
                            std::nullopt);
  const char* from = bytes.data() + guava::kHeadBytes;
  for (uint64_t i = 0; i < head.words; ++i, from += 8) {
    filter.words_[i].store(__builtin_bswap64(LoadWord(from)),
                           std::memory_order_relaxed);
  }
  return filter;
}

std::string ClassicBloomFilter::SerializeChecked() const {
  frame::Writer out(FilterForm::kClassic, secret_, 2 + size_bytes());
  out.AddNumber(static_cast<uint64_t>(strategy_), 1);
  out.AddNumber(static_cast<uint64_t>(hashes_), 1);
  for (uint64_t i = 0; i < word_count_; ++i) out.AddNumber(LoadWordAt(i), 8);
  return std::move(out).Finish();
}

Result<ClassicBloomFilter> ClassicBloomFilter::ParseChecked(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  Result<frame::Reader> in =
      frame::Reader::Open(bytes, FilterForm::kClassic, secret);
  if (!in) return Error{in.error()};
  const uint64_t strategy = in->Number(1, "strategy");
  const uint64_t hashes = in->Number(1, "hashes");
  const uint64_t words = in->bytes_left() / 8;
  if (strategy >= guava::kStrategies) {
    in->Refuse("unknown strategy " + std::to_string(strategy));
  }
  if (hashes == 0) in->Refuse("no hashes");
  if (words == 0 || words > guava::kMaxWords) {
    in->Refuse(std::to_string(words) + " words, expected 1 to " +
               std::to_string(guava::kMaxWords));
  }
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
