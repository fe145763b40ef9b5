#include "rowbloom/scalable_bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace {

constexpr uint32_t kMinGrowth = 2;
constexpr uint32_t kMaxGrowth = 64;
constexpr double kMinTightening = 0.01;
constexpr double kMaxTightening = 0.99;

double StageRate(double target, double tightening, size_t stage) {
  const double rate = target * (1 - tightening) *
                      std::pow(tightening, static_cast<double>(stage));
  return std::max(rate, kMinFilterRate);
}

std::optional<Error> Problem(double rate, const ScalableOptions& options) {
  // NaN is refused, too.
  if (!(rate >= ScalableBloomFilter::kMinRate && rate < 1)) {
    return Error{Concat("false positive rate ", rate, ", expected one from ",
                        ScalableBloomFilter::kMinRate, " to below 1")};
  }
  if (options.growth < kMinGrowth || options.growth > kMaxGrowth) {
    return Error{Concat("growth ", options.growth, ", expected ", kMinGrowth,
                        " to ", kMaxGrowth)};
  }
  if (!(options.tightening >= kMinTightening &&
        options.tightening <= kMaxTightening)) {
    return Error{Concat("tightening ", options.tightening, ", expected ",
                        kMinTightening, " to ", kMaxTightening)};
  }
  return std::nullopt;
}

}  // namespace

Result<ScalableBloomFilter> ScalableBloomFilter::Reserve(
    uint64_t capacity, double false_positive_rate,
    const ScalableOptions& options) {
  if (const auto error = Problem(false_positive_rate, options)) return *error;
  capacity = std::max<uint64_t>(capacity, 1);
  const Result<BloomShape> shape = BloomShapeFor(
      capacity, StageRate(false_positive_rate, options.tightening, 0));
  if (!shape) return Error{shape.error()};
  ScalableBloomFilter filter(false_positive_rate, options);
  filter.stages_.emplace_back(*shape, capacity);
  return filter;
}

void ScalableBloomFilter::AddStage() {
  const double rate =
      StageRate(target_rate_, options_.tightening, stages_.size());
  // This stays within 64 bits: even at the highest rate that a stage can have,
  // a key takes more than an eighth of a bit.
  uint64_t capacity = stages_.back().capacity * options_.growth;
  Result<BloomShape> shape = BloomShapeFor(capacity, rate);
  // If no filter can hold the stage, its capacity is halved until one can.
  while (!shape && capacity > 1) shape = BloomShapeFor(capacity /= 2, rate);
  stages_.emplace_back(*shape, capacity);
}

bool ScalableBloomFilter::Contains(const Hash128& hash) const {
  // The last stages have most of the keys.
  return std::any_of(
      stages_.rbegin(), stages_.rend(), [&hash](const Stage& stage) {
        return VisitPlaces(hash, stage.shape, [&stage](uint64_t place) {
          return (stage.words[place / 64] >> place % 64 & 1) != 0;
        });
      });
}

bool ScalableBloomFilter::Contains(std::string_view key) const {
  return Contains(HashKey(options_.secret, key));
}

bool ScalableBloomFilter::Add(std::string_view key) {
  const Hash128 hash = HashKey(options_.secret, key);
  if (Contains(hash)) return false;
  if (stages_.back().keys >= stages_.back().capacity) AddStage();
  Stage& stage = stages_.back();
  VisitPlaces(hash, stage.shape, [&stage](uint64_t place) {
    stage.words[place / 64] |= uint64_t{1} << place % 64;
    return true;
  });
  ++stage.keys;
  return true;
}

ScalableInfo ScalableBloomFilter::Info() const {
  ScalableInfo info;
  info.stages = stages_.size();
  info.growth = options_.growth;
  info.tightening = options_.tightening;
  info.target_rate = target_rate_;
  double log_absent = 0;
  for (const Stage& stage : stages_) {
    info.keys += stage.keys;
    info.capacity += stage.capacity;
    info.size_bytes += stage.shape.bits / 8;
    log_absent += std::log1p(-FalsePositiveRate(stage.shape, stage.keys));
  }
  info.expected_rate = -std::expm1(log_absent);
  return info;
}

std::string ScalableBloomFilter::Serialize() const {
  const ScalableInfo info = Info();
  std::string out = frame::Begin(FilterForm::kScalable, options_.secret,
                                 24 + 25 * info.stages + info.size_bytes);
  PutFixed(&out, std::bit_cast<uint64_t>(target_rate_), 8);
  PutFixed(&out, std::bit_cast<uint64_t>(options_.tightening), 8);
  PutFixed(&out, options_.growth, 4);
  PutFixed(&out, stages_.size(), 4);
  for (const Stage& stage : stages_) {
    PutFixed(&out, stage.capacity, 8);
    PutFixed(&out, stage.keys, 8);
    PutFixed(&out, stage.shape.bits, 8);
    PutFixed(&out, static_cast<uint64_t>(stage.shape.hashes), 1);
    frame::PutWords(&out, stage.words);
  }
  return frame::Finish(std::move(out));
}

Result<ScalableBloomFilter> ScalableBloomFilter::Parse(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  auto in = frame::Reader::Open(bytes, FilterForm::kScalable, secret);
  if (!in) return Error{in.error()};
  ScalableOptions options;
  options.secret = secret;
  const auto target_rate = std::bit_cast<double>(in->Number(8, "rate"));
  options.tightening = std::bit_cast<double>(in->Number(8, "tightening"));
  options.growth = static_cast<uint32_t>(in->Number(4, "growth"));
  const uint64_t stages = in->Number(4, "number of stages");
  if (const auto error = Problem(target_rate, options)) {
    in->Refuse(error->message);
  }
  if (stages == 0) in->Refuse("no stages");
  ScalableBloomFilter filter(target_rate, options);
  for (uint64_t i = 0; i < stages && in->ok(); ++i) {
    const std::string name = "stage " + std::to_string(i);
    const uint64_t capacity = in->Number(8, name + ", capacity");
    const uint64_t keys = in->Number(8, name + ", keys");
    BloomShape shape;
    shape.bits = in->Number(8, name + ", bits");
    shape.hashes = static_cast<int>(in->Number(1, name + ", hashes"));
    if (!in->ok()) break;
    if (shape.bits == 0 || shape.bits % 64 != 0 || shape.hashes == 0) {
      in->Refuse(Concat(name, ": ", shape.bits, " bits and ", shape.hashes,
                        " hashes, expected a multiple of 64 and some"));
      break;
    }
    // The bytes bound the bits, and the bits bound the capacity and with it the
    // size of the next stage.
    const double allowed =
        StageRate(target_rate, options.tightening, i) * (1 + 1e-6);
    if (shape.bits / 8 > in->bytes_left() || capacity == 0 || keys > capacity ||
        (i + 1 < stages && keys < capacity) ||
        FalsePositiveRate(shape, capacity) > allowed) {
      in->Refuse(Concat(name, ": ", keys, " of ", capacity, " keys in ",
                        shape.bits, " bits with ", in->bytes_left(),
                        " bytes to come, which does not go together"));
      break;
    }
    Stage& stage = filter.stages_.emplace_back(shape, capacity);
    stage.keys = keys;
    for (uint64_t& word : stage.words) word = in->Number(8, name);
  }
  if (const auto error = in->Finish()) return *error;
  return filter;
}

}  // namespace rowbloom
