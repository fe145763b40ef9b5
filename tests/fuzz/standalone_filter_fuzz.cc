// The fuzz target of the serialized filters that an application uses by itself.
// An input is the bytes of one filter. Every Parse gets them as they are, and
// again with the sizes and checksum of their frame made right, since nothing
// else gets past a checksum. A filter that parses is probed, changed and
// written again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/format.h"
#include "lib/standalone/frame.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_form.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {
namespace {

using Secret = std::optional<FilterSecret>;

constexpr FilterSecret kSecret{std::byte{7}};

template <typename T>
bool IsGood(const Result<T>& result) {
  if (result) return true;
  Check(!result.error().empty(), "an error says what is wrong");
  return false;
}

void TryGuava(std::string_view bytes) {
  auto filter = ClassicBloomFilter::Parse(bytes);
  const auto form = IdentifyFilter(bytes);
  Check(filter.has_value() == (form && *form == FilterForm::kGuava) ||
            bytes.starts_with(frame::kMagic),
        "what Guava's form is taken for can be parsed");
  if (!IsGood(filter)) return;
  Check(*filter->Serialize() == bytes, "Serialize is the inverse of Parse");
  const bool was_in = filter->MightContain(bytes);
  const bool changed = filter->Put(bytes);
  Check(changed != was_in, "a bit changes if and only if the key was absent");
  Check(filter->MightContain(bytes), "what was put is there");
  const auto again =
      ClassicBloomFilter::ParseChecked(filter->SerializeChecked());
  Check(again.has_value() && *again->Serialize() == *filter->Serialize(),
        "both forms keep everything");
}

void TryClassic(std::string_view bytes, const Secret& secret) {
  auto filter = ClassicBloomFilter::ParseChecked(bytes, secret);
  if (!IsGood(filter)) return;
  Check(filter->SerializeChecked() == bytes,
        "SerializeChecked is the inverse of ParseChecked");
  filter->Put(bytes);
  Check(filter->MightContain(bytes), "what was put is there");
  Check(filter->ExpectedFpp() > 0 && filter->ExpectedFpp() <= 1,
        "a rate is one");
}

void TryCounting(std::string_view bytes, const Secret& secret) {
  auto filter = CountingBloomFilter::Parse(bytes, secret);
  if (!IsGood(filter)) return;
  Check(filter->Serialize() == bytes, "Serialize is the inverse of Parse");
  const uint64_t stuck = filter->stuck_counters();
  Check(stuck <= filter->counters(), "a counter sticks once");
  for (int i = 0; i < 20; ++i) filter->Add("key");
  Check(filter->Contains("key"), "what was added is there");
  Check(filter->Remove("key"), "what is there can be removed");
  Check(filter->stuck_counters() > stuck || stuck > 0,
        "a counter that is added to 20 times sticks");
  const bool there = filter->Contains(bytes);
  Check(filter->Remove(bytes) == there, "only what may be there is removed");
}

void TryScalable(std::string_view bytes, const Secret& secret) {
  auto filter = ScalableBloomFilter::Parse(bytes, secret);
  if (!IsGood(filter)) return;
  Check(filter->Serialize() == bytes, "Serialize is the inverse of Parse");
  const size_t stages = filter->Info().stages;
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(i);
    const bool was_in = filter->Contains(key);
    Check(filter->Add(key) != was_in, "a key is new if it was absent");
    Check(filter->Contains(key), "what was added is there");
  }
  const ScalableInfo info = filter->Info();
  Check(info.stages >= stages && info.keys <= info.capacity,
        "stages hold no more keys than they were made for");
  // A stage has up to 64 times the keys, and some 60 times the bits for each.
  Check(info.size_bytes < 10'000 * bytes.size() + 1'000'000,
        "memory is in proportion to the bytes");
}

void TryCuckoo(std::string_view bytes, const Secret& secret) {
  auto filter = CuckooFilter::Parse(bytes, secret);
  if (!IsGood(filter)) return;
  Check(filter->Serialize() == bytes, "Serialize is the inverse of Parse");
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(i);
    const std::string before = filter->Serialize();
    if (filter->Add(key) == CuckooFilter::AddOutcome::kFull) {
      Check(filter->Serialize() == before, "a full filter is as it was");
      continue;
    }
    Check(filter->Contains(key), "what was added is there");
    Check(filter->Remove(key), "what is there can be removed");
    Check(filter->Add(key) == CuckooFilter::AddOutcome::kAdded,
          "where one was removed there is room");
  }
  Check(filter->keys() <= filter->slots(), "a slot has one key");
  Check(CuckooFilter::Parse(filter->Serialize(), secret).has_value(),
        "what was changed can be written and read");
}

void TryAll(std::string_view bytes, const Secret& secret) {
  static_cast<void>(IdentifyFilter(bytes));
  TryGuava(bytes);
  TryClassic(bytes, secret);
  TryCounting(bytes, secret);
  TryScalable(bytes, secret);
  TryCuckoo(bytes, secret);
}

// Magic, version, a known kind and hash, secret check, length and checksum.
std::string MadeRight(std::string_view bytes, Secret* secret) {
  using frame::kChecksumBytes;
  using frame::kHeadBytes;
  std::string fixed(bytes);
  fixed.resize(std::max(bytes.size(), kHeadBytes + kChecksumBytes));
  const uint64_t kind = 1 + GetFixed(fixed, 9, 1) % 4;
  const bool keyed = GetFixed(fixed, 10, 1) % 4 == 2;
  if (keyed) *secret = kSecret;
  std::string head = frame::Begin(static_cast<FilterForm>(kind), *secret,
                                  fixed.size() - kHeadBytes - kChecksumBytes);
  head.append(std::string_view(fixed).substr(
      kHeadBytes, fixed.size() - kHeadBytes - kChecksumBytes));
  return frame::Finish(head);
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rowbloom::fuzz::TryAll;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  TryAll(bytes, std::nullopt);
  rowbloom::fuzz::Secret secret;
  const std::string fixed = rowbloom::fuzz::MadeRight(bytes, &secret);
  // An allocation of just this size, for sanitizers to see its end.
  const std::vector<char> exact(fixed.begin(), fixed.end());
  TryAll({exact.data(), exact.size()}, secret);
  return 0;
}
