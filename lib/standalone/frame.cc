#include "lib/standalone/frame.h"

#include <array>
#include <bit>
#include <utility>

#include "lib/block/hash.h"
#include "lib/bytes/little_endian.h"
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

// A number that differs between secrets and is of no use to find one.
uint64_t SecretCheck(const std::optional<FilterSecret>& secret) {
  return secret ? SipHash(*secret, "rowbloom filter secret").low : 0;
}

Error Problem(FilterForm form, const std::string& what) {
  return Error{"serialized " + std::string(ToString(form)) +
               " filter: " + what};
}

}  // namespace

Writer::Writer(FilterForm form, const std::optional<FilterSecret>& secret,
               uint64_t body_bytes) {
  bytes_.reserve(kHeadBytes + body_bytes + kChecksumBytes);
  bytes_ = kMagic;
  AddNumber(kVersion, 1);
  AddNumber(static_cast<uint64_t>(form), 1);
  AddNumber(static_cast<uint64_t>(HashOf(form, secret.has_value())), 1);
  AddNumber(0, 1);
  AddNumber(SecretCheck(secret), 8);
  AddNumber(body_bytes, 8);
}

void Writer::AddNumber(uint64_t value, size_t byte_count) {
  PutFixed(&bytes_, value, byte_count);
}

void Writer::AddDouble(double value) {
  AddNumber(std::bit_cast<uint64_t>(value), 8);
}

void Writer::AddWords(std::span<const uint64_t> words) {
  size_t at = bytes_.size();
  bytes_.resize(at + words.size_bytes());
  for (const uint64_t word : words) {
    StoreWord(word, bytes_.data() + at);
    at += sizeof(word);
  }
}

std::string Writer::Finish() && {
  AddNumber(Checksum(bytes_), kChecksumBytes);
  return std::move(bytes_);
}

Result<Reader> Reader::Open(std::string_view bytes, FilterForm form,
                            const std::optional<FilterSecret>& secret) {
  if (bytes.size() < kHeadBytes + kChecksumBytes) {
    return Problem(form, std::to_string(bytes.size()) +
                             " bytes, expected at least " +
                             std::to_string(kHeadBytes + kChecksumBytes));
  }
  const Result<FilterForm> found = IdentifyFilter(bytes);
  if (!found) return Error{found.error()};
  if (*found != form) {
    return Problem(form,
                   "found a " + std::string(ToString(*found)) + " filter");
  }
  const uint64_t body_bytes = GetFixed(bytes, kBodyBytesAt, 8);
  const uint64_t space = bytes.size() - kHeadBytes - kChecksumBytes;
  if (body_bytes != space) {
    return Problem(form, "offset " + std::to_string(kBodyBytesAt) +
                             ": a body of " + std::to_string(body_bytes) +
                             " bytes, found " + std::to_string(space));
  }
  const size_t checksum_at = bytes.size() - kChecksumBytes;
  if (GetFixed(bytes, checksum_at, kChecksumBytes) !=
      Checksum(bytes.substr(0, checksum_at))) {
    return Problem(form, "offset " + std::to_string(checksum_at) +
                             ": the checksum does not match: damaged");
  }
  const uint64_t hash = GetFixed(bytes, kHashAt, 1);
  const auto keyed = static_cast<uint64_t>(HashOf(form, true));
  const auto open = static_cast<uint64_t>(HashOf(form, false));
  if (hash != keyed && hash != open) {
    return Problem(form, "offset " + std::to_string(kHashAt) +
                             ": unknown hash " + std::to_string(hash));
  }
  if (GetFixed(bytes, kReservedAt, 1) != 0) {
    return Problem(
        form, "offset " + std::to_string(kReservedAt) + ": expected a zero");
  }
  if (hash == keyed && !secret) {
    return Problem(form, "it has a secret, which is needed to read it");
  }
  if (hash == open && secret) {
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

double Reader::Double(std::string_view name) {
  return std::bit_cast<double>(Number(8, name));
}

std::string_view Reader::Bytes(uint64_t byte_count, std::string_view name) {
  if (byte_count > body_.size()) {
    Refuse(std::string(name) + ": expected " + std::to_string(byte_count) +
           " bytes, found " + std::to_string(body_.size()));
    return {};
  }
  const std::string_view bytes = body_.substr(0, byte_count);
  body_.remove_prefix(byte_count);
  return bytes;
}

void Reader::Words(std::span<uint64_t> words, std::string_view name) {
  const std::string_view bytes = Bytes(words.size_bytes(), name);
  if (bytes.empty()) return;
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = LoadWord(bytes.data() + i * sizeof(uint64_t));
  }
}

void Reader::Refuse(std::string problem) {
  if (ok()) problem_ = std::move(problem);
}

std::optional<Error> Reader::Finish() {
  if (!body_.empty()) {
    Refuse(std::to_string(body_.size()) + " bytes too many");
  }
  if (ok()) return std::nullopt;
  return Problem(form_, problem_);
}

}  // namespace frame

std::string_view ToString(FilterForm form) {
  constexpr std::array<std::string_view, 5> kNames = {
      "guava", "classic", "counting", "scalable", "cuckoo"};
  const auto index = static_cast<size_t>(form);
  return index < kNames.size() ? kNames[index] : "unknown";
}

Result<FilterForm> IdentifyFilter(std::string_view bytes) {
  if (!bytes.starts_with(frame::kMagic)) {
    if (guava::LooksLikeIt(bytes)) return FilterForm::kGuava;
    return Error{
        "not a serialized filter: the bytes have neither the mark of "
        "rowbloom's form nor the head and length of Guava's"};
  }
  if (bytes.size() < frame::kHeadBytes + frame::kChecksumBytes) {
    return Error{"serialized filter: " + std::to_string(bytes.size()) +
                 " bytes, cut short"};
  }
  const uint64_t version = GetFixed(bytes, frame::kVersionAt, 1);
  if (version != frame::kVersion) {
    return Error{"serialized filter: version " + std::to_string(version) +
                 ", expected " + std::to_string(frame::kVersion)};
  }
  const uint64_t form = GetFixed(bytes, frame::kFormAt, 1);
  if (form < 1 || form > static_cast<uint64_t>(FilterForm::kCuckoo)) {
    return Error{"serialized filter: unknown kind " + std::to_string(form)};
  }
  return static_cast<FilterForm>(form);
}

bool NeedsSecret(std::string_view bytes) {
  return bytes.starts_with(frame::kMagic) &&
         GetFixed(bytes, frame::kHashAt, 1) ==
             static_cast<uint64_t>(frame::Hash::kSipHash);
}

}  // namespace rowbloom
