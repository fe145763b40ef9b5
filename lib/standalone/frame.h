// What the serialized filters of this folder have in common: a head that says
// what they are, and a checksum. FORMAT.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rowbloom/filter_form.h"
#include "rowbloom/filter_secret.h"
#include "rowbloom/result.h"

namespace rowbloom::frame {

inline constexpr std::string_view kMagic = "ROWBFLTR";
inline constexpr uint8_t kVersion = 1;
inline constexpr size_t kHeadBytes = 28;
inline constexpr size_t kChecksumBytes = 8;

// (Begin Add* Finish)
class Writer {
 public:
  // `body_bytes` is what will be added.
  Writer(FilterForm form, const std::optional<FilterSecret>& secret,
         uint64_t body_bytes);

  // Least significant byte first.
  void AddNumber(uint64_t value, size_t byte_count);
  void AddDouble(double value);
  void AddBytes(std::string_view bytes) { bytes_.append(bytes); }
  void AddWords(std::span<const uint64_t> words);

  std::string Finish() &&;

 private:
  std::string bytes_;
};

// Takes the parts of a body from its front. The first that is not there, or
// that does not fit, is what problem() says.
class Reader {
 public:
  // Checks the frame. Error: other bytes than a whole, undamaged frame of this
  // form and of a version that is known, or a secret other than its own.
  static Result<Reader> Open(std::string_view bytes, FilterForm form,
                             const std::optional<FilterSecret>& secret);

  // Past the end: zero, and a problem.
  uint64_t Number(size_t byte_count, std::string_view name);
  double Double(std::string_view name);
  std::string_view Bytes(uint64_t byte_count, std::string_view name);
  // Fills the words, of which there must be as many.
  void Words(std::span<uint64_t> words, std::string_view name);

  uint64_t bytes_left() const { return body_.size(); }
  // Says that something is wrong, unless something was before.
  void Refuse(std::string problem);
  // What is wrong, if anything: bytes that are left over are.
  std::optional<Error> Finish();
  bool ok() const { return problem_.empty(); }

 private:
  Reader(std::string_view body, FilterForm form) : body_(body), form_(form) {}

  std::string_view body_;
  FilterForm form_;
  std::string problem_;
};

}  // namespace rowbloom::frame
