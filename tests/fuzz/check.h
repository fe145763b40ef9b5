// All fuzz targets share Check, for claims that hold for every input, and a
// cursor that takes numbers and strings off an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace rowbloom::fuzz {

// Ends the process when the claim is broken: libFuzzer then keeps the input,
// and a replay fails.
inline void Check(bool holds, std::string_view claim) {
  if (holds) return;
  std::fprintf(stderr, "broken claim: %.*s\n", static_cast<int>(claim.size()),
               claim.data());
  std::abort();
}

// Takes from the front. Past the end there are zeros and empty strings, so that
// every input means something. Does not own the bytes.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }

  uint8_t Byte() {
    const std::string_view byte = Bytes(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }

  // Little-endian.
  uint64_t Number(size_t byte_count) {
    uint64_t value = 0;
    for (size_t i = 0; i < byte_count; ++i) value |= uint64_t{Byte()} << 8 * i;
    return value;
  }

  // Takes at most `byte_count` bytes.
  std::string_view Bytes(size_t byte_count) {
    const std::string_view bytes = rest_.substr(0, byte_count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  // Takes as many bytes as the next byte says.
  std::string_view SizedBytes() { return Bytes(Byte()); }

  std::string_view Rest() { return Bytes(rest_.size()); }

 private:
  std::string_view rest_;
};

}  // namespace rowbloom::fuzz
