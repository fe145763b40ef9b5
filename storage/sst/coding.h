// The numbers of RocksDB's files: little-endian fixed width, and base-128
// varints with the low groups first. Each function takes what it reads off the
// front of `*in`, or returns false and leaves `*in` as it was when the bytes
// end too early or the value does not fit. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowbloom::sst {

[[nodiscard]] bool GetFixed32(std::string_view* in, uint32_t* value);
[[nodiscard]] bool GetFixed64(std::string_view* in, uint64_t* value);
[[nodiscard]] bool GetVarint32(std::string_view* in, uint32_t* value);
[[nodiscard]] bool GetVarint64(std::string_view* in, uint64_t* value);

// A signed varint: the sign is the lowest bit ("zigzag").
[[nodiscard]] bool GetSignedVarint64(std::string_view* in, int64_t* value);

// Bytes after their length, a varint32. They view into `*in`.
[[nodiscard]] bool GetSizedBytes(std::string_view* in, std::string_view* bytes);

}  // namespace rowbloom::sst
