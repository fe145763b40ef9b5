#include "storage/filter_policy/rocksdb_filter_interface.h"

#include <cstdio>

namespace rowbloom {

std::optional<int> VersionNumber(const std::string& rocksdb_version) {
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(rocksdb_version.c_str(), "%u.%u", &major, &minor) != 2) {
    return std::nullopt;
  }
  return static_cast<int>(major * 100 + minor);
}

std::optional<int> FilterInterfaceOf(const std::string& rocksdb_version) {
  const auto version = VersionNumber(rocksdb_version);
  const int layout = version ? ROWBLOOM_FILTER_INTERFACE_OF(*version) : 0;
  return layout == 0 ? std::nullopt : std::optional(layout);
}

}  // namespace rowbloom
