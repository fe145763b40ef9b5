#include "rowbloom/scalable_bloom_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "lib/bytes/number_text.h"
#include "lib/standalone/frame.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace {

constexpr uint32_t kMinGrowth = 2;
constexpr uint32_t kMaxGrowth = 64;
constexpr double kMinTightening = 0.01;
constexpr double kMaxTightening = 0.99;
// The number of keys that wait for memory together.
constexpr size_t kBatch = 16;
// Bytes of a stage without its words, and before the stages.
constexpr uint64_t kStageBytes = 25;
constexpr uint64_t kParameterBytes = 24;

double StageRate(double target, double tightening, size_t stage) {
  const double rate = target * (1 - tightening) *
                      std::pow(tightening, static_cast<double>(stage));
  return std::max(rate, kMinFilterRate);
}

std::optional<Error> Problem(double rate, const ScalableOptions& options) {
  // NaN is refused, too.
  if (!(rate >= ScalableBloomFilter::kMinRate && rate < 1)) {
    return Error{"false positive rate " + NumberText(rate) +
                 ", expected one from " +
                 NumberText(ScalableBloomFilter::kMinRate) + " to below 1"};
  }
  if (options.growth < kMinGrowth || options.growth > kMaxGrowth) {
    return Error{"growth " + std::to_string(options.growth) + ", expected " +
                 std::to_string(kMinGrowth) + " to " +
                 std::to_string(kMaxGrowth)};
  }
  if (!(options.tightening >= kMinTightening &&
        options.tightening <= kMaxTightening)) {
    return Error{"tightening " + NumberText(options.tightening) +
                 ", expected " + NumberText(kMinTightening) + " to " +
                 NumberText(kMaxTightening)};
  }
  return std::nullopt;
}

// Calls `visit(i, hash)` for each key in turn, after `prefetch(hash)` for it
// and some keys that follow.
template <typename Prefetch, typename Visit>
void VisitBatches(const std::optional<FilterSecret>& secret,
                  std::span<const std::string_view> keys,
                  const Prefetch& prefetch, const Visit& visit) {
  std::array<Hash128, kBatch> hashes;
  for (size_t start = 0; start < keys.size(); start += kBatch) {
    const size_t count = std::min(kBatch, keys.size() - start);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashKey(secret, keys[start + i]);
      prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i) visit(start + i, hashes[i]);
  }
}

}  // namespace

bool ScalableBloomFilter::Stage::Contains(const Hash128& hash) const {
  return VisitPlaces(hash, shape, [this](uint64_t place) {
    return (words[place / 64] >> place % 64 & 1) != 0;
  });
}

void ScalableBloomFilter::Stage::Add(const Hash128& hash) {
  VisitPlaces(hash, shape, [this](uint64_t place) {
    words[place / 64] |= uint64_t{1} << place % 64;
    return true;
  });
  ++keys;
}

void ScalableBloomFilter::Stage::Prefetch(const Hash128& hash) const {
  __builtin_prefetch(&words[Reduce(hash.low, shape.bits) / 64]);
}

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
  // The growth stops where no filter can hold the next stage.
  while (!shape && capacity > 1) shape = BloomShapeFor(capacity /= 2, rate);
  stages_.emplace_back(*shape, capacity);
}

bool ScalableBloomFilter::ContainsHash(const Hash128& hash) const {
  // The last stages have most of the keys.
  return std::any_of(
      stages_.rbegin(), stages_.rend(),
      [&hash](const Stage& stage) { return stage.Contains(hash); });
}

bool ScalableBloomFilter::AddHash(const Hash128& hash) {
  if (ContainsHash(hash)) return false;
  if (stages_.back().keys >= stages_.back().capacity) AddStage();
  stages_.back().Add(hash);
  return true;
}

bool ScalableBloomFilter::Add(std::string_view key) {
  return AddHash(HashKey(options_.secret, key));
}

bool ScalableBloomFilter::Contains(std::string_view key) const {
  return ContainsHash(HashKey(options_.secret, key));
}

void ScalableBloomFilter::Add(std::span<const std::string_view> keys,
                              std::span<bool> is_new) {
  VisitBatches(
      options_.secret, keys,
      [this](const Hash128& hash) {
        for (const Stage& stage : stages_) stage.Prefetch(hash);
      },
      [&](size_t i, const Hash128& hash) { is_new[i] = AddHash(hash); });
}

void ScalableBloomFilter::Contains(std::span<const std::string_view> keys,
                                   std::span<bool> may_contain) const {
  VisitBatches(
      options_.secret, keys,
      [this](const Hash128& hash) {
        for (const Stage& stage : stages_) stage.Prefetch(hash);
      },
      [&](size_t i, const Hash128& hash) {
        may_contain[i] = ContainsHash(hash);
      });
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
  uint64_t body_bytes = kParameterBytes;
  for (const Stage& stage : stages_) {
    body_bytes += kStageBytes + stage.shape.bits / 8;
  }
  frame::Writer out(FilterForm::kScalable, options_.secret, body_bytes);
  out.AddDouble(target_rate_);
  out.AddDouble(options_.tightening);
  out.AddNumber(options_.growth, 4);
  out.AddNumber(stages_.size(), 4);
  for (const Stage& stage : stages_) {
    out.AddNumber(stage.capacity, 8);
    out.AddNumber(stage.keys, 8);
    out.AddNumber(stage.shape.bits, 8);
    out.AddNumber(static_cast<uint64_t>(stage.shape.hashes), 1);
    out.AddWords(stage.words);
  }
  return std::move(out).Finish();
}

Result<ScalableBloomFilter> ScalableBloomFilter::Parse(
    std::string_view bytes, const std::optional<FilterSecret>& secret) {
  Result<frame::Reader> in =
      frame::Reader::Open(bytes, FilterForm::kScalable, secret);
  if (!in) return Error{in.error()};
  ScalableOptions options;
  options.secret = secret;
  const double target_rate = in->Double("rate");
  options.tightening = in->Double("tightening");
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
      in->Refuse(name + ": " + std::to_string(shape.bits) + " bits and " +
                 std::to_string(shape.hashes) +
                 " hashes, expected a multiple of 64 and some");
      break;
    }
    // The bytes bound the bits, and the bits bound the capacity and with it the
    // size of the next stage.
    const double allowed =
        StageRate(target_rate, options.tightening, i) * (1 + 1e-6);
    if (shape.bits / 8 > in->bytes_left() || capacity == 0 || keys > capacity ||
        (i + 1 < stages && keys < capacity) ||
        FalsePositiveRate(shape, capacity) > allowed) {
      in->Refuse(name + ": " + std::to_string(keys) + " of " +
                 std::to_string(capacity) + " keys in " +
                 std::to_string(shape.bits) + " bits with " +
                 std::to_string(in->bytes_left()) +
                 " bytes to come, which does not go together");
      break;
    }
    Stage& stage = filter.stages_.emplace_back(shape, capacity);
    stage.keys = keys;
    in->Words(stage.words, name);
  }
  if (const auto error = in->Finish()) return *error;
  return filter;
}

}  // namespace rowbloom
