#include "storage/filter_policy/rocksdb_filter_interface.h"

#include <charconv>

namespace rowbloom {

namespace {

// "9.10.0" as 910.
std::optional<int> ParseVersion(std::string_view text) {
  int major = 0;
  int minor = 0;
  const char* end = text.data() + text.size();
  const auto dot = std::from_chars(text.data(), end, major);
  if (dot.ec != std::errc() || dot.ptr == end || *dot.ptr != '.' ||
      std::from_chars(dot.ptr + 1, end, minor).ec != std::errc()) {
    return std::nullopt;
  }
  return major * 100 + minor;
}

}  // namespace

std::optional<int> FilterInterfaceOf(std::string_view rocksdb_version) {
  const auto version = ParseVersion(rocksdb_version);
  if (!version || *version < 701 || *version > ROWBLOOM_ACCEPT_ROCKSDB) {
    return std::nullopt;
  }
  if (*version < 906) return 700;
  if (*version < 1009) return 906;
  return 1009;
}

bool IsRocksdbAtLeast(std::string_view rocksdb_version, int major, int minor) {
  const auto version = ParseVersion(rocksdb_version);
  return version && *version >= major * 100 + minor;
}

}  // namespace rowbloom
