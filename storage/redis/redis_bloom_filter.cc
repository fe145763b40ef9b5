#include "rowbloom/redis_bloom_filter.h"

#include <sys/un.h>

#include <algorithm>
#include <random>
#include <utility>

#include "lib/standalone/guava_form.h"
#include "lib/standalone/key_hash.h"
#include "rowbloom/printable.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/redis/connection.h"

namespace rowbloom {
namespace {

using redis::Connection;
using redis::Reply;
using rocksdb::Status;

constexpr auto kStrategy = ClassicStrategy::kMurmur128Mitz32;
constexpr size_t kWordBytes = 8;
// The most commands of one round trip: so many that the trip costs little.
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
    return InvalidArgument("bits ", shape.bits, ", expected 1 to ",
                           RedisBloomFilter::kMaxBits);
  }
  if (shape.hashes < 1 || shape.hashes > ClassicBloomFilter::kMaxHashes) {
    return InvalidArgument("hashes ", shape.hashes, ", expected 1 to ",
                           ClassicBloomFilter::kMaxHashes);
  }
  return Status::OK();
}

// Makes a filter from the bytes of its bits.
Status Parse(const RedisFilterShape& shape, std::string_view bytes,
             std::unique_ptr<ClassicBloomFilter>* filter) {
  const uint64_t words = bytes.size() / kWordBytes;
  std::string form(guava::kHeadBytes + bytes.size(), '\0');
  form[0] = static_cast<char>(kStrategy);
  form[1] = static_cast<char>(shape.hashes);
  for (int i = 0; i < 4; ++i) {
    form[2 + i] = static_cast<char>(words >> (24 - 8 * i) & 0xff);
  }
  Translate(bytes, form.data() + guava::kHeadBytes);
  Result<ClassicBloomFilter> parsed = ClassicBloomFilter::Parse(form);
  if (!parsed) return Status::Corruption(parsed.error());
  *filter = std::make_unique<ClassicBloomFilter>(*std::move(parsed));
  return Status::OK();
}

}  // namespace

// The string ends with a tail, which begins in the byte of the first bit that
// no key uses. This bit is the mark, the highest bit of the tail. An id follows
// the byte: random bytes and a 0, while a filter without an id never ends with
// a 0. Filters of earlier versions have no id. The id distinguishes a filter
// from its successor and from a string of another size.
class RedisBloomFilter::Impl {
 public:
  explicit Impl(const RedisFilterOptions& options)
      : options_(options),
        tail_at_(options.shape.bits / 8),
        tail_mask_(static_cast<char>(0xff >> options.shape.bits % 8)),
        mark_(static_cast<char>(0x80 >> options.shape.bits % 8)),
        connection_(options.endpoint) {}

  const RedisFilterShape& shape() const { return options_.shape; }

  // Calls body(), and ends the connection after an exception.
  template <typename Body>
  Status Run(const Body& body) {
    Status s = CatchExceptions(body);
    if (s.IsMemoryLimit() || s.IsAborted()) connection_.Drop();
    return s;
  }

  Status Open() {
    constexpr int kTries = 20;
    bool is_open = false;
    Status s;
    for (int i = 0; s.ok() && !is_open && i < kTries; ++i) {
      s = TryOpen(&is_open);
    }
    if (!s.ok() || is_open) return s;
    return Status::IOError(Named() + "others keep changing the string");
  }

  // Sends SETBIT or GETBIT for all places of all keys. Sets (*had_all)[i] to
  // whether all bits of key i were set before.
  Status SendBits(std::span<const std::string_view> keys, bool set,
                  std::vector<bool>* had_all) {
    const auto hashes = static_cast<size_t>(shape().hashes);
    const size_t keys_per_trip = std::max<size_t>(1, kMaxCommands / hashes);
    std::vector<bool> results(keys.size(), true);
    std::vector<Reply> bits;
    for (size_t start = 0; start < keys.size(); start += keys_per_trip) {
      const size_t count = std::min(keys_per_trip, keys.size() - start);
      if (Status s = Trip(keys.subspan(start, count), set, &bits); !s.ok()) {
        return s;
      }
      for (size_t i = 0; i < count * hashes; ++i) {
        if (bits[i].integer == 0) results[start + i / hashes] = false;
      }
    }
    *had_all = std::move(results);
    return Status::OK();
  }

  // Replaces the string by the filter's bytes and the tail.
  Status Replace(std::string bytes) {
    bytes += tail_;
    Reply ignored;
    return connection_.Call({"SET", options_.name, bytes}, &ignored);
  }

  // Reads the filter's bytes. REQUIRES that the bits fill whole bytes.
  Status Fetch(std::string* bytes) {
    // One more than expected, to detect a longer string.
    const size_t most = tail_at_ + tail_.size() + 1;
    Reply reply;
    Status s = connection_.Call(
        {"GETRANGE", options_.name, "0", std::to_string(most - 1)}, &reply,
        most + kReplyHeadBytes);
    if (!s.ok()) return s;
    if (reply.kind != Reply::Kind::kString) return Unexpected();
    if (reply.text.size() == most) {
      return Corruption(Named(), "expected ", most - 1, " bytes, found more");
    }
    if (reply.text.size() != most - 1 || !reply.text.ends_with(tail_)) {
      return Gone();
    }
    reply.text.resize(tail_at_);
    *bytes = std::move(reply.text);
    return s;
  }

 private:
  static constexpr size_t kIdBytes = 8;
  static constexpr size_t kReplyHeadBytes = 64;

  std::string Named() const {
    return connection_.Where() + ": filter \"" + ToPrintable(options_.name) +
           "\": ";
  }
  Status Gone() const {
    return NotFound(connection_.Where(), ": the filter \"",
                    ToPrintable(options_.name),
                    "\" is gone: evicted, deleted, or lost with its "
                    "server, and perhaps made anew");
  }
  Status Unexpected() const {
    return Status::IOError(Named() + "a reply of another type");
  }

  Status AppendTail() {
    return connection_.Append({"GETRANGE", options_.name,
                               std::to_string(tail_at_),
                               std::to_string(tail_at_ + kIdBytes)});
  }
  // Returns the tail in the reply to AppendTail, without the bits of keys.
  std::string TailOf(const Reply& reply) const {
    std::string tail = reply.text;
    if (!tail.empty()) tail[0] = static_cast<char>(tail[0] & tail_mask_);
    return tail;
  }

  // Opens an existing filter. Otherwise gives the string a tail, unless another
  // client changes the string meanwhile, and leaves *is_open false.
  Status TryOpen(bool* is_open) {
    std::vector<Reply> replies;
    const std::string& name = options_.name;
    Status s = connection_.Append({"WATCH", name});
    if (s.ok()) s = connection_.Append({"EXISTS", name});
    if (s.ok()) s = connection_.Append({"STRLEN", name});
    if (s.ok()) s = AppendTail();
    if (s.ok()) s = connection_.Exchange(&replies);
    if (!s.ok()) return s;
    if (replies[1].kind != Reply::Kind::kInteger ||
        replies[2].kind != Reply::Kind::kInteger ||
        replies[3].kind != Reply::Kind::kString) {
      return Unexpected();
    }
    const bool exists = replies[1].integer != 0;
    const auto bytes = static_cast<uint64_t>(replies[2].integer);
    std::string tail = TailOf(replies[3]);
    const bool has_id = tail.size() == 1 + kIdBytes && tail.back() == '\0';
    if (bytes == tail_at_ + tail.size() && tail.starts_with(mark_) &&
        (tail.size() == 1 || has_id)) {
      tail_ = std::move(tail);
      *is_open = true;
      return connection_.Call({"UNWATCH"}, &replies[0]);
    }
    if (!exists && !options_.create_if_missing) {
      return NotFound(connection_.Where(), ": no filter \"", ToPrintable(name),
                      "\"");
    }
    const uint64_t most = (shape().bits + 7) / 8;
    // Keys of a filter of this shape set no bit behind the last one.
    const bool has_other_bits = !tail.empty() && (tail[0] & ~mark_) != 0;
    bool is_other = !options_.adopt || bytes > most || has_other_bits;
    if (exists && !is_other && bytes < most) {
      // A filter of a smaller size ends with its id, and so with a 0. What keys
      // have set ends with a bit.
      s = connection_.Call({"GETRANGE", name, "-1", "-1"}, &replies[0]);
      if (!s.ok()) return s;
      is_other = replies[0].text.ends_with('\0');
    }
    if (exists && is_other) {
      return NotFound(
          connection_.Where(), ": the string \"", ToPrintable(name), "\" of ",
          bytes, " bytes has no mark of a filter of ", shape().bits,
          " bits: it has another size, another program made it, or it was "
          "lost and begun anew");
    }
    return GiveTail();
  }

  // Gives the string a tail, if it is as it was when TryOpen began.
  Status GiveTail() {
    std::random_device random;
    std::string id(kIdBytes, '\0');
    for (size_t i = 0; i + 1 < id.size(); ++i) {
      id[i] = static_cast<char>(random());
    }
    const std::string& name = options_.name;
    Status s = connection_.Append({"MULTI"});
    if (s.ok()) {
      s = connection_.Append(
          {"SETBIT", name, std::to_string(shape().bits), "1"});
    }
    if (s.ok()) {
      s = connection_.Append(
          {"SETRANGE", name, std::to_string(tail_at_ + 1), id});
    }
    if (s.ok()) s = connection_.Append({"EXEC"});
    std::vector<Reply> replies;
    return s.ok() ? connection_.Exchange(&replies) : s;
  }

  // Sets `*bits` to the previous values of all bits, and one reply more.
  Status Trip(std::span<const std::string_view> keys, bool set,
              std::vector<Reply>* bits) {
    // A transaction: between commands of a pipeline the server executes others,
    // which may lose the filter, and load it again before the tail is read.
    Status s = connection_.Append({"MULTI"});
    if (!s.ok()) return s;
    size_t count = 0;
    for (const std::string_view key : keys) {
      guava::VisitPlaces(
          Murmur3(key), kStrategy, shape().hashes, shape().bits,
          [&](uint64_t place) {
            const std::string offset = std::to_string(place);
            s = set ? connection_.Append({"SETBIT", options_.name, offset, "1"})
                    : connection_.Append({"GETBIT", options_.name, offset});
            ++count;
            return s.ok();
          });
      if (!s.ok()) return s;
    }
    s = AppendTail();
    std::vector<Reply> replies;
    if (s.ok()) s = connection_.Append({"EXEC"});
    constexpr size_t kErrorBytes = 256;  // each command may have one
    if (s.ok()) s = connection_.Exchange(&replies, kMaxCommands * kErrorBytes);
    if (!s.ok()) return s;
    *bits = std::move(replies.back().elements);
    const auto is_bit = [](const Reply& reply) {
      return reply.kind == Reply::Kind::kInteger;
    };
    if (bits->size() != count + 1 ||
        !std::all_of(bits->begin(), bits->end() - 1, is_bit) ||
        bits->back().kind != Reply::Kind::kString) {
      return Unexpected();
    }
    return TailOf(bits->back()) == tail_ ? s : Gone();
  }

  const RedisFilterOptions options_;
  const uint64_t tail_at_;  // the offset of the tail, in bytes
  const char tail_mask_;    // the bits of its first byte that no key uses
  const char mark_;         // only the highest of these bits
  std::string tail_;        // as Open found it
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
    return InvalidArgument("timeout_ms ", options.endpoint.timeout_ms,
                           ", expected more than 0");
  }
  // hiredis would truncate a longer path.
  constexpr size_t kMostPath = sizeof(sockaddr_un::sun_path) - 1;
  if (const size_t bytes = options.endpoint.unix_socket.size();
      bytes > kMostPath) {
    return InvalidArgument("unix_socket of ", bytes,
                           " bytes, expected at most ", kMostPath);
  }
  return CatchExceptions([&] {
    auto impl = std::make_unique<Impl>(options);
    const Status s = impl->Open();
    if (s.ok()) filter->reset(new RedisBloomFilter(std::move(impl)));
    return s;
  });
}

Status RedisBloomFilter::Put(std::string_view key, bool* changed) {
  std::vector<bool> results;
  const Status s = Put({&key, 1}, &results);
  if (s.ok() && changed != nullptr) *changed = results[0];
  return s;
}

Status RedisBloomFilter::MightContain(std::string_view key, bool* may_contain) {
  std::vector<bool> results;
  const Status s = MightContain({&key, 1}, &results);
  if (s.ok()) *may_contain = results[0];
  return s;
}

Status RedisBloomFilter::Put(std::span<const std::string_view> keys,
                             std::vector<bool>* changed) {
  std::vector<bool> had_all;
  const Status s =
      impl_->Run([&] { return impl_->SendBits(keys, /*set=*/true, &had_all); });
  if (s.ok() && changed != nullptr) {
    had_all.flip();
    *changed = std::move(had_all);
  }
  return s;
}

Status RedisBloomFilter::MightContain(std::span<const std::string_view> keys,
                                      std::vector<bool>* may_contain) {
  return impl_->Run(
      [&] { return impl_->SendBits(keys, /*set=*/false, may_contain); });
}

Status RedisBloomFilter::Load(const ClassicBloomFilter& filter) {
  return impl_->Run([&]() -> Status {
    const Result<std::string> form = filter.Serialize();
    if (!form) return Status::InvalidArgument(form.error());
    if (filter.bits() != shape().bits || filter.hashes() != shape().hashes ||
        filter.strategy() != kStrategy) {
      return InvalidArgument(
          "a filter of ", filter.bits(), " bits, ", filter.hashes(),
          " hashes and ", ToString(filter.strategy()), ", expected ",
          shape().bits, ", ", shape().hashes, " and ", ToString(kStrategy));
    }
    std::string bytes(filter.size_bytes(), '\0');
    Translate(std::string_view(*form).substr(guava::kHeadBytes), bytes.data());
    return impl_->Replace(std::move(bytes));
  });
}

Status RedisBloomFilter::Read(std::unique_ptr<ClassicBloomFilter>* filter) {
  if (shape().bits % 64 != 0) {
    return InvalidArgument(shape().bits, " bits, expected a multiple of 64");
  }
  return impl_->Run([&] {
    std::string bytes;
    const Status s = impl_->Fetch(&bytes);
    return s.ok() ? Parse(shape(), bytes, filter) : s;
  });
}

}  // namespace rowbloom
