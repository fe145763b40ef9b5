#include "storage/filter_policy/rocksdb_filter_interface.h"

#include <charconv>

namespace rowbloom {

std::optional<int> VersionNumber(std::string_view rocksdb_version) {
  int major = 0;
  int minor = 0;
  const char* end = rocksdb_version.data() + rocksdb_version.size();
  const auto dot = std::from_chars(rocksdb_version.data(), end, major);
  if (dot.ec != std::errc() || dot.ptr == end || *dot.ptr != '.' ||
      std::from_chars(dot.ptr + 1, end, minor).ec != std::errc()) {
    return std::nullopt;
  }
  return major * 100 + minor;
}

std::optional<int> FilterInterfaceOf(std::string_view rocksdb_version) {
  const auto version = VersionNumber(rocksdb_version);
  const int layout = version ? ROWBLOOM_FILTER_INTERFACE_OF(*version) : 0;
  return layout == 0 ? std::nullopt : std::optional(layout);
}

}  // namespace rowbloom
