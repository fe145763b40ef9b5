// The frame of all serialized filters of this folder: a head that names the
// kind, the body, and a checksum. FORMAT.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom::frame {

inline constexpr std::string_view kMagic = "ROWBFLTR";
inline constexpr uint8_t kVersion = 1;
inline constexpr size_t kHeadBytes = 28;
inline constexpr size_t kChecksumBytes = 8;

// Returns the head of a frame, with room for a body of `body_bytes`, which the
// caller appends.
std::string Begin(FilterForm form, const std::optional<FilterSecret>& secret,
                  uint64_t body_bytes);

// Appends words, least significant byte first.
void PutWords(std::string* frame, std::span<const uint64_t> words);

// Sets the length of the body and appends the checksum.
std::string Finish(std::string frame);

// Takes the parts of a body from its front. Finish reports the first problem.
class Reader {
 public:
  // Checks the frame. Error: the bytes are not a whole, undamaged frame of this
  // form and of a known version, or the secret is not the frame's.
  static Result<Reader> Open(std::string_view bytes, FilterForm form,
                             const std::optional<FilterSecret>& secret);

  // Reads a number, which is zero past the end, with a problem noted.
  uint64_t Number(size_t byte_count, std::string_view name);
  std::string_view Bytes(uint64_t byte_count, std::string_view name);

  uint64_t bytes_left() const { return body_.size(); }
  // Notes a problem, unless it is empty or there was one before.
  void Refuse(std::string problem);
  // Returns the first problem, if any. Unread bytes are one.
  std::optional<Error> Finish();
  bool ok() const { return problem_.empty(); }

 private:
  Reader(std::string_view body, FilterForm form) : body_(body), form_(form) {}

  std::string_view body_;
  FilterForm form_;
  std::string problem_;
};

}  // namespace rowbloom::frame
