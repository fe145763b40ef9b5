// The names that families of a store may have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// The family as errors name it: family "NAME", fit for a terminal.
inline std::string QuotedFamily(std::string_view name) {
  return "family \"" + ToPrintable(name) + "\"";
}

// InvalidArgument: not a name of a family, as Store::Open lists them.
inline rocksdb::Status CheckFamilyName(std::string_view name) {
  constexpr size_t kMaxBytes = 255;
  if (name.empty() || name.size() > kMaxBytes) {
    return InvalidArgument(QuotedFamily(name), ": a name has 1 to ", kMaxBytes,
                           " bytes, this one has ", name.size());
  }
  const auto bad = std::find_if(name.begin(), name.end(), [](char c) {
    return c < '!' || c > '~' || c == ':';
  });
  if (bad != name.end()) {
    return InvalidArgument(
        QuotedFamily(name),
        ": a name is made of printable ASCII without spaces and ':'");
  }
  // The second is a column family that each database of RocksDB has.
  if (name.front() == '.' || name == "default") {
    return InvalidArgument(
        QuotedFamily(name),
        ": names that start with '.' and \"default\" are reserved");
  }
  return rocksdb::Status::OK();
}

}  // namespace rowbloom
