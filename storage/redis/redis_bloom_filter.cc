#include "rowbloom/redis_bloom_filter.h"

#include <algorithm>
#include <utility>

#include "lib/standalone/guava_form.h"
#include "lib/standalone/key_hash.h"
#include "storage/redis/connection.h"

namespace rowbloom {
namespace {

using redis::Connection;
using redis::Reply;
using rocksdb::Status;

constexpr auto kStrategy = ClassicStrategy::kMurmur128Mitz32;
constexpr size_t kWordBytes = 8;
// The most commands of one round trip: enough that it costs little by itself.
constexpr size_t kMaxCommands = 4096;

// Redis counts the bits of a byte from the highest.
char Reversed(char byte) {
  auto bits = static_cast<uint8_t>(byte);
  bits = static_cast<uint8_t>((bits & 0xf0) >> 4 | (bits & 0x0f) << 4);
  bits = static_cast<uint8_t>((bits & 0xcc) >> 2 | (bits & 0x33) << 2);
  bits = static_cast<uint8_t>((bits & 0xaa) >> 1 | (bits & 0x55) << 1);
  return static_cast<char>(bits);
}

// Translates Guava's words, which are big-endian, to the string's bytes, or
// back.
void Translate(std::string_view from, char* to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t in_word = i % kWordBytes;
    to[i - in_word + (kWordBytes - 1 - in_word)] = Reversed(from[i]);
  }
}

Status CheckShape(const RedisFilterShape& shape) {
  if (shape.bits < 1 || shape.bits > RedisBloomFilter::kMaxBits) {
    return Status::InvalidArgument("bits " + std::to_string(shape.bits) +
                                   ", expected 1 to " +
                                   std::to_string(RedisBloomFilter::kMaxBits));
  }
  if (shape.hashes < 1 || shape.hashes > ClassicBloomFilter::kMaxHashes) {
    return Status::InvalidArgument(
        "hashes " + std::to_string(shape.hashes) + ", expected 1 to " +
        std::to_string(ClassicBloomFilter::kMaxHashes));
  }
  return Status::OK();
}

}  // namespace

class RedisBloomFilter::Impl {
 public:
  explicit Impl(const RedisFilterOptions& options)
      : options_(options),
        mark_(std::to_string(options.shape.bits)),
        connection_(options.endpoint) {}

  const RedisFilterShape& shape() const { return options_.shape; }

  Status Open() {
    std::vector<Reply> replies;
    Status s = connection_.Append({"EXISTS", options_.name});
    if (s.ok()) s = connection_.Append({"GETBIT", options_.name, mark_});
    if (s.ok()) s = connection_.Exchange(&replies);
    if (!s.ok()) return s;
    const bool exists = replies[0].integer != 0;
    const bool is_marked = replies[1].integer != 0;
    if (is_marked) return Status::OK();
    if (!exists && !options_.create_if_missing) {
      return Status::NotFound("no filter \"" + options_.name + "\"");
    }
    if (exists && !options_.adopt) {
      return Status::NotFound(
          "the string \"" + options_.name + "\" has no mark of a filter of " +
          mark_ +
          " bits: it has another size, another program made it, or it was "
          "lost and begun anew");
    }
    Reply ignored;
    return connection_.Call({"SETBIT", options_.name, mark_, "1"}, &ignored);
  }

  // SETBIT or GETBIT of all places of all keys. `visit(key, bit)` gets what a
  // bit was, for each, when all is known to be right.
  template <typename Visit>
  Status VisitBits(std::span<const std::string_view> keys, bool set,
                   const Visit& visit) {
    const size_t keys_per_trip =
        std::max<size_t>(1, kMaxCommands / static_cast<size_t>(shape().hashes));
    std::vector<Reply> replies;
    for (size_t start = 0; start < keys.size(); start += keys_per_trip) {
      const size_t count = std::min(keys_per_trip, keys.size() - start);
      if (Status s = Trip(keys.subspan(start, count), set, &replies); !s.ok()) {
        return s;
      }
      for (size_t i = 0; i + 1 < replies.size(); ++i) {
        visit(start + i / static_cast<size_t>(shape().hashes),
              replies[i].integer != 0);
      }
    }
    return Status::OK();
  }

  Status Replace(std::string_view bytes) {
    Reply ignored;
    return connection_.Call({"SET", options_.name, bytes}, &ignored);
  }

  Status Fetch(std::string* bytes) {
    Reply reply;
    if (Status s = connection_.Call({"GET", options_.name}, &reply); !s.ok()) {
      return s;
    }
    if (reply.kind != Reply::Kind::kString) return Gone();
    *bytes = std::move(reply.text);
    return Status::OK();
  }

  Status Gone() const {
    return Status::NotFound("the filter \"" + options_.name +
                            "\" is gone: evicted, deleted, or lost with its "
                            "server");
  }

 private:
  Status Trip(std::span<const std::string_view> keys, bool set,
              std::vector<Reply>* replies) {
    for (const std::string_view key : keys) {
      Status s;
      guava::VisitPlaces(
          Murmur3(key), kStrategy, shape().hashes, shape().bits,
          [&](uint64_t place) {
            const std::string offset = std::to_string(place);
            s = set ? connection_.Append({"SETBIT", options_.name, offset, "1"})
                    : connection_.Append({"GETBIT", options_.name, offset});
            return s.ok();
          });
      if (!s.ok()) return s;
    }
    // Last, so that it speaks for all before it.
    if (Status s = connection_.Append({"GETBIT", options_.name, mark_});
        !s.ok()) {
      return s;
    }
    if (Status s = connection_.Exchange(replies); !s.ok()) return s;
    for (const Reply& reply : *replies) {
      if (reply.kind != Reply::Kind::kInteger) {
        return Status::IOError("Redis: a reply to a bit that is no number");
      }
    }
    return replies->back().integer != 0 ? Status::OK() : Gone();
  }

  const RedisFilterOptions options_;
  const std::string mark_;  // the offset of the bit after the last
  Connection connection_;
};

RedisBloomFilter::RedisBloomFilter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

RedisBloomFilter::~RedisBloomFilter() = default;

const RedisFilterShape& RedisBloomFilter::shape() const {
  return impl_->shape();
}

Status RedisBloomFilter::GuavaShape(uint64_t expected_insertions,
                                    double false_positive_rate,
                                    RedisFilterShape* shape) {
  if (!(false_positive_rate > 0 && false_positive_rate < 1)) {
    return Status::InvalidArgument("false positive rate " +
                                   std::to_string(false_positive_rate) +
                                   ", expected one inside (0, 1)");
  }
  const uint64_t bits =
      ClassicBloomFilter::OptimalBits(expected_insertions, false_positive_rate);
  RedisFilterShape result;
  result.bits = bits > kMaxBits ? bits : (bits + 63) / 64 * 64;
  result.hashes = ClassicBloomFilter::OptimalHashes(expected_insertions, bits);
  if (Status s = CheckShape(result); !s.ok()) return s;
  *shape = result;
  return Status::OK();
}

Status RedisBloomFilter::Open(const RedisFilterOptions& options,
                              std::unique_ptr<RedisBloomFilter>* filter) {
  if (Status s = CheckShape(options.shape); !s.ok()) return s;
  if (options.name.empty()) return Status::InvalidArgument("an empty name");
  if (options.endpoint.timeout_ms <= 0) {
    return Status::InvalidArgument("timeout_ms " +
                                   std::to_string(options.endpoint.timeout_ms) +
                                   ", expected more than 0");
  }
  auto impl = std::make_unique<Impl>(options);
  if (Status s = impl->Open(); !s.ok()) return s;
  filter->reset(new RedisBloomFilter(std::move(impl)));
  return Status::OK();
}

Status RedisBloomFilter::Put(std::string_view key, bool* changed) {
  std::vector<bool> results;
  const Status s = Put(std::span(&key, 1), &results);
  if (s.ok() && changed != nullptr) *changed = results[0];
  return s;
}

Status RedisBloomFilter::MightContain(std::string_view key, bool* may_contain) {
  std::vector<bool> results;
  const Status s = MightContain(std::span(&key, 1), &results);
  if (s.ok()) *may_contain = results[0];
  return s;
}

Status RedisBloomFilter::Put(std::span<const std::string_view> keys,
                             std::vector<bool>* changed) {
  std::vector<bool> results(keys.size(), false);
  const Status s =
      impl_->VisitBits(keys, /*set=*/true, [&](size_t key, bool was_set) {
        if (!was_set) results[key] = true;
      });
  if (s.ok() && changed != nullptr) *changed = std::move(results);
  return s;
}

Status RedisBloomFilter::MightContain(std::span<const std::string_view> keys,
                                      std::vector<bool>* may_contain) {
  std::vector<bool> results(keys.size(), true);
  const Status s =
      impl_->VisitBits(keys, /*set=*/false, [&](size_t key, bool is_set) {
        if (!is_set) results[key] = false;
      });
  if (s.ok()) *may_contain = std::move(results);
  return s;
}

Status RedisBloomFilter::Load(const ClassicBloomFilter& filter) {
  const Result<std::string> form = filter.Serialize();
  if (!form) return Status::InvalidArgument(form.error());
  if (filter.bits() != shape().bits || filter.hashes() != shape().hashes ||
      filter.strategy() != kStrategy) {
    return Status::InvalidArgument(
        "a filter of " + std::to_string(filter.bits()) + " bits, " +
        std::to_string(filter.hashes()) + " hashes and " +
        std::string(ToString(filter.strategy())) + ", expected " +
        std::to_string(shape().bits) + ", " + std::to_string(shape().hashes) +
        " and " + std::string(ToString(kStrategy)));
  }
  // The mark is the highest bit of the byte after the filter's.
  std::string bytes(filter.size_bytes() + 1, '\x80');
  Translate(std::string_view(*form).substr(guava::kHeadBytes), bytes.data());
  return impl_->Replace(bytes);
}

Status RedisBloomFilter::Read(std::unique_ptr<ClassicBloomFilter>* filter) {
  if (shape().bits % 64 != 0) {
    return Status::InvalidArgument(std::to_string(shape().bits) +
                                   " bits, expected a multiple of 64");
  }
  std::string bytes;
  if (Status s = impl_->Fetch(&bytes); !s.ok()) return s;
  const size_t size_bytes = shape().bits / 8;
  if (bytes.size() <= size_bytes || (bytes[size_bytes] & 0x80) == 0) {
    return impl_->Gone();
  }
  if (bytes.size() != size_bytes + 1) {
    return Status::Corruption("the string has " + std::to_string(bytes.size()) +
                              " bytes, expected " +
                              std::to_string(size_bytes + 1));
  }
  const uint64_t words = size_bytes / kWordBytes;
  std::string form(guava::kHeadBytes + size_bytes, '\0');
  form[0] = static_cast<char>(kStrategy);
  form[1] = static_cast<char>(shape().hashes);
  for (int i = 0; i < 4; ++i) {
    form[2 + i] = static_cast<char>(words >> (24 - 8 * i) & 0xff);
  }
  Translate(std::string_view(bytes).substr(0, size_bytes),
            form.data() + guava::kHeadBytes);
  Result<ClassicBloomFilter> parsed = ClassicBloomFilter::Parse(form);
  if (!parsed) return Status::Corruption(parsed.error());
  *filter = std::make_unique<ClassicBloomFilter>(*std::move(parsed));
  return Status::OK();
}

}  // namespace rowbloom
