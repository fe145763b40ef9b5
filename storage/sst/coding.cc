#include "storage/sst/coding.h"

#include <limits>

namespace rowbloom::sst {

bool GetVarint64(std::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < in->size() && i < 10; ++i) {
    const uint64_t byte = static_cast<unsigned char>((*in)[i]);
    // The tenth byte has room for the value's top bit alone.
    if (i == 9 && byte > 1) return false;
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

bool GetLongVarint32(std::string_view* in, uint32_t* value) {
  std::string_view rest = *in;
  uint64_t wide = 0;
  if (!GetVarint64(&rest, &wide) ||
      wide > std::numeric_limits<uint32_t>::max()) {
    return false;
  }
  *in = rest;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool GetSignedVarint64(std::string_view* in, int64_t* value) {
  uint64_t zigzag = 0;
  if (!GetVarint64(in, &zigzag)) return false;
  *value = static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  return true;
}

bool GetSizedBytes(std::string_view* in, std::string_view* bytes) {
  std::string_view rest = *in;
  uint32_t length = 0;
  if (!GetVarint32(&rest, &length) || length > rest.size()) return false;
  *bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  *in = rest;
  return true;
}

}  // namespace rowbloom::sst
