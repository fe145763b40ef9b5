// Hadoop's variable length integers ("vlong": WritableUtils of Hadoop). Pure
// and thread-safe; Get... and Put... are as in storage/format/coding.h.
//
// A vlong in -112..127 is one byte, its value. Otherwise n bytes follow the
// first byte f, big-endian: with f = -112 - n, the value; with f = -120 - n,
// the complement of a negative value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

void PutVlong(std::string* out, int64_t value);
// Appends the number of bytes as a vlong, then the bytes.
void PutByteArray(std::string* out, std::string_view bytes);

// Returns the number of bytes that PutVlong(value) appends: 1 to 9.
size_t VlongBytes(int64_t value);

[[nodiscard]] bool GetVlong(std::string_view* in, int64_t* value);
// Returns false also when the length is negative.
[[nodiscard]] bool GetByteArray(std::string_view* in, std::string_view* bytes);

}  // namespace rowbloom::hfile
