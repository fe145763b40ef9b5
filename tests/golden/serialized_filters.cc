#include "tests/golden/serialized_filters.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tests/support/random.h"

namespace rowbloom::golden {
namespace {

constexpr size_t kKeys = 300;
constexpr size_t kAbsentKeys = 1000;

Lines PresentKeys() {
  Lines keys = {"", std::string(1, '\0'), std::string(100, '\xff')};
  while (keys.size() < kKeys) keys.push_back(test::DistinctKey(keys.size()));
  return keys;
}

template <typename Value>
Value Made(Result<Value> made) {
  if (!made) throw std::runtime_error(made.error());
  return *std::move(made);
}

// The filter as both forms of the classic one and the others have it.
template <typename Filter>
ReadFilter Reading(Filter filter, std::string written) {
  const auto shared = std::make_shared<Filter>(std::move(filter));
  return {[shared](std::string_view key) {
            if constexpr (requires { shared->MightContain(key); }) {
              return shared->MightContain(key);
            } else {
              return shared->Contains(key);
            }
          },
          std::move(written)};
}

template <typename Filter>
ReadFilter Read(const std::string& bytes,
                const std::optional<FilterSecret>& secret) {
  Filter filter = Made(Filter::Parse(bytes, secret));
  std::string written = filter.Serialize();
  return Reading(std::move(filter), std::move(written));
}

// Filters of each form, with all options that change their bytes.
class Writer {
 public:
  explicit Writer(SerializedFilters* out) : out_(*out), keys_(PresentKeys()) {
    for (const std::string& key : keys_) {
      out_.lines.push_back("key " + Hex(key));
    }
  }

  void WriteAll(const std::string& prefix, const std::string& secret) {
    const std::optional<FilterSecret> hidden = SecretOf(secret);
    for (const auto strategy : {ClassicStrategy::kMurmur128Mitz32,
                                ClassicStrategy::kMurmur128Mitz64}) {
      for (const double rate : {0.1, 0.001}) {
        auto filter = Made(
            ClassicBloomFilter::Create(keys_.size(), rate, strategy, hidden));
        for (const std::string& key : keys_) filter.Put(key);
        const std::string name = std::string(ToString(strategy)) + "-" +
                                 std::to_string(filter.hashes());
        Keep(prefix + name, "classic", secret, filter.SerializeChecked());
        if (hidden) continue;
        Keep("guava-" + name, "classic_guava", secret,
             Made(filter.Serialize()));
      }
    }
    for (const double rate : {0.1, 0.001}) {
      auto counting =
          Made(CountingBloomFilter::Create(2 * keys_.size(), rate, hidden));
      // Some stay after a removal, some of which take more than a counter has.
      for (const std::string& key : keys_) counting.Add(key);
      for (const std::string& key : Others()) counting.Add(key);
      for (int i = 0; i < 20; ++i) counting.Add(keys_[0]);
      for (const std::string& key : Others()) counting.Remove(key);
      Keep(prefix + "counting-" + std::to_string(counting.hashes()), "counting",
           secret, counting.Serialize());

      auto cuckoo = Made(CuckooFilter::Create(2 * keys_.size(), rate, hidden));
      for (const std::string& key : keys_) Take(&cuckoo, key);
      for (const std::string& key : Others()) Take(&cuckoo, key);
      for (const std::string& key : Others()) cuckoo.Remove(key);
      Keep(prefix + "cuckoo-" + std::to_string(cuckoo.shape().fingerprint_bits),
           "cuckoo", secret, cuckoo.Serialize());
    }
    for (const auto& [growth, tightening] :
         {std::pair{2U, 0.5}, std::pair{4U, 0.9}}) {
      auto scalable = Made(ScalableBloomFilter::Reserve(
          20, 0.01,
          {.growth = growth, .tightening = tightening, .secret = hidden}));
      for (const std::string& key : keys_) scalable.Add(key);
      Keep(prefix + "scalable-" + std::to_string(growth), "scalable", secret,
           scalable.Serialize());
    }
  }

 private:
  // Keys that are added and removed again.
  static Lines Others() {
    Lines others;
    for (size_t i = 0; i < kKeys / 2; ++i) {
      others.push_back("other " + test::DistinctKey(i));
    }
    return others;
  }

  static void Take(CuckooFilter* filter, const std::string& key) {
    if (filter->Add(key) != CuckooFilter::AddOutcome::kAdded) {
      throw std::runtime_error("the cuckoo filter is full");
    }
  }

  void Keep(const std::string& name, const std::string& form,
            const std::string& secret, const std::string& bytes) {
    const ReadFilter filter = ReadSerialized(form, bytes, SecretOf(secret));
    out_.lines.push_back("filter " + name + " " + form + " " + secret + " " +
                         std::to_string(FalsePositives(filter)));
    out_.bytes[name] = bytes;
  }

  SerializedFilters& out_;
  const Lines keys_;
};

}  // namespace

std::optional<FilterSecret> SecretOf(const std::string& text) {
  if (text == "-") return std::nullopt;
  const std::string bytes = Unhex(text);
  FilterSecret secret{};
  if (bytes.size() != secret.size()) throw std::runtime_error("bad secret");
  std::ranges::transform(bytes, secret.begin(), [](char byte) {
    return static_cast<std::byte>(byte);
  });
  return secret;
}

ReadFilter ReadSerialized(const std::string& form, const std::string& bytes,
                          const std::optional<FilterSecret>& secret) {
  if (form == "counting") return Read<CountingBloomFilter>(bytes, secret);
  if (form == "scalable") return Read<ScalableBloomFilter>(bytes, secret);
  if (form == "cuckoo") return Read<CuckooFilter>(bytes, secret);
  if (form == "classic_guava") {
    auto filter = Made(ClassicBloomFilter::Parse(bytes));
    std::string written = Made(filter.Serialize());
    return Reading(std::move(filter), std::move(written));
  }
  if (form != "classic") throw std::runtime_error("unknown form " + form);
  auto filter = Made(ClassicBloomFilter::ParseChecked(bytes, secret));
  std::string written = filter.SerializeChecked();
  return Reading(std::move(filter), std::move(written));
}

Lines AbsentKeys() {
  Lines keys;
  for (size_t i = 0; i < kAbsentKeys; ++i) {
    keys.push_back("absent " + test::DistinctKey(i));
  }
  return keys;
}

size_t FalsePositives(const ReadFilter& filter) {
  return static_cast<size_t>(
      std::ranges::count_if(AbsentKeys(), filter.contains));
}

SerializedFilters BuildSerializedFilters() {
  SerializedFilters filters;
  Writer writer(&filters);
  writer.WriteAll("", "-");
  writer.WriteAll("secret-", Hex("a secret of 16 b"));
  return filters;
}

}  // namespace rowbloom::golden
