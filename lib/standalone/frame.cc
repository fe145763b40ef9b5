#include "lib/standalone/frame.h"

#include <utility>

#include "lib/block/hash.h"
#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "lib/standalone/guava_form.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace frame {
namespace {

// Offsets in the head.
constexpr size_t kVersionAt = 8;
constexpr size_t kFormAt = 9;
constexpr size_t kHashAt = 10;
constexpr size_t kReservedAt = 11;
constexpr size_t kSecretCheckAt = 12;
constexpr size_t kBodyBytesAt = 20;

// The hash of the keys. The values are on disk: never renumber.
enum class Hash : uint8_t { kMurmur3 = 0, kXxh3 = 1, kSipHash = 2 };

Hash HashOf(FilterForm form, bool has_secret) {
  if (has_secret) return Hash::kSipHash;
  return form == FilterForm::kClassic ? Hash::kMurmur3 : Hash::kXxh3;
}

// Returns a number that differs between secrets and does not help to find one.
uint64_t SecretCheck(const std::optional<FilterSecret>& secret) {
  return secret ? SipHash(*secret, "rowbloom filter secret").low : 0;
}

Error Problem(FilterForm form, std::string_view what) {
  return Error{Concat("serialized ", ToString(form), " filter: ", what)};
}

}  // namespace

std::string Begin(FilterForm form, const std::optional<FilterSecret>& secret,
                  uint64_t body_bytes) {
  std::string frame;
  frame.reserve(kHeadBytes + body_bytes + kChecksumBytes);
  frame = kMagic;
  PutFixed(&frame, kVersion, 1);
  PutFixed(&frame, static_cast<uint64_t>(form), 1);
  PutFixed(&frame, static_cast<uint64_t>(HashOf(form, secret.has_value())), 1);
  PutFixed(&frame, 0, 1);
  PutFixed(&frame, SecretCheck(secret), 8);
  PutFixed(&frame, 0, 8);  // the length, which Finish sets
  return frame;
}

void PutWords(std::string* frame, std::span<const uint64_t> words) {
  size_t at = frame->size();
  frame->resize(at + words.size_bytes());
  for (const uint64_t word : words) {
    StoreWord(word, frame->data() + at);
    at += sizeof(word);
  }
}

std::string Finish(std::string frame) {
  StoreWord(frame.size() - kHeadBytes, frame.data() + kBodyBytesAt);
  PutFixed(&frame, Checksum(frame), kChecksumBytes);
  return frame;
}

Result<Reader> Reader::Open(std::string_view bytes, FilterForm form,
                            const std::optional<FilterSecret>& secret) {
  if (bytes.size() < kHeadBytes + kChecksumBytes) {
    return Problem(form, Concat(bytes.size(), " bytes, expected at least ",
                                kHeadBytes + kChecksumBytes));
  }
  const Result<FilterForm> found = IdentifyFilter(bytes);
  if (!found) return Error{found.error()};
  if (*found != form) {
    return Problem(form, Concat("found a ", ToString(*found), " filter"));
  }
  const auto problem_at = [form](size_t offset, std::string_view what) {
    return Problem(form, Concat("offset ", offset, ": ", what));
  };
  const uint64_t body_bytes = GetFixed(bytes, kBodyBytesAt, 8);
  const uint64_t space = bytes.size() - kHeadBytes - kChecksumBytes;
  if (body_bytes != space) {
    return problem_at(kBodyBytesAt, Concat("a body of ", body_bytes,
                                           " bytes, found ", space));
  }
  const size_t checksum_at = bytes.size() - kChecksumBytes;
  if (GetFixed(bytes, checksum_at, kChecksumBytes) !=
      Checksum(bytes.substr(0, checksum_at))) {
    return problem_at(checksum_at, "the checksum does not match: damaged");
  }
  const auto hash = static_cast<Hash>(GetFixed(bytes, kHashAt, 1));
  const bool is_keyed = hash == Hash::kSipHash;
  if (hash != HashOf(form, is_keyed)) {
    return problem_at(kHashAt, Concat("unknown hash ", static_cast<int>(hash)));
  }
  if (GetFixed(bytes, kReservedAt, 1) != 0) {
    return problem_at(kReservedAt, "expected a zero");
  }
  if (is_keyed && !secret) {
    return Problem(form, "it has a secret, which is needed to read it");
  }
  if (!is_keyed && secret) {
    return Problem(form, "it has no secret, expected the one given");
  }
  if (GetFixed(bytes, kSecretCheckAt, 8) != SecretCheck(secret)) {
    return Problem(form, "it has another secret than the one given");
  }
  return Reader(bytes.substr(kHeadBytes, body_bytes), form);
}

uint64_t Reader::Number(size_t byte_count, std::string_view name) {
  const std::string_view bytes = Bytes(byte_count, name);
  return LoadBytes(bytes.data(), bytes.size());
}

std::string_view Reader::Bytes(uint64_t byte_count, std::string_view name) {
  if (byte_count > body_.size()) {
    Refuse(Concat(name, ": expected ", byte_count, " bytes, found ",
                  body_.size()));
    return {};
  }
  const std::string_view bytes = body_.substr(0, byte_count);
  body_.remove_prefix(byte_count);
  return bytes;
}

void Reader::Refuse(std::string problem) {
  if (ok()) problem_ = std::move(problem);
}

std::optional<Error> Reader::Finish() {
  if (!body_.empty()) Refuse(Concat(body_.size(), " bytes too many"));
  if (ok()) return std::nullopt;
  return Problem(form_, problem_);
}

}  // namespace frame

std::string_view ToString(FilterForm form) {
  return NameOf(form, {"guava", "classic", "counting", "scalable", "cuckoo"});
}

Result<FilterForm> IdentifyFilter(std::string_view bytes) {
  if (!bytes.starts_with(frame::kMagic)) {
    if (guava::Problem(bytes).empty()) return FilterForm::kGuava;
    return Error{
        "not a serialized filter: the bytes have neither the mark of "
        "rowbloom's form nor the head and length of Guava's"};
  }
  if (bytes.size() < frame::kHeadBytes + frame::kChecksumBytes) {
    return Error{
        Concat("serialized filter: ", bytes.size(), " bytes, cut short")};
  }
  const uint64_t version = GetFixed(bytes, frame::kVersionAt, 1);
  if (version != frame::kVersion) {
    return Error{Concat("serialized filter: version ", version, ", expected ",
                        frame::kVersion)};
  }
  const uint64_t form = GetFixed(bytes, frame::kFormAt, 1);
  if (form < 1 || form > static_cast<uint64_t>(FilterForm::kCuckoo)) {
    return Error{Concat("serialized filter: unknown kind ", form)};
  }
  return static_cast<FilterForm>(form);
}

}  // namespace rowbloom
