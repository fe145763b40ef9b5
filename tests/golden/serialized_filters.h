// The serialized filters of the golden data, as today's code writes them. Needs
// no RocksDB.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/filter_form.h"
#include "tests/golden/golden.h"

namespace rowbloom::golden {

struct SerializedFilters {
  std::map<std::string, std::string> bytes;  // by the name of the filter's file
  // The text beside the archive:
  //
  //   filter NAME FORM SECRET FALSE_POSITIVES  among AbsentKeys
  //   key BYTES                                in all of them
  Lines lines;
};

SerializedFilters BuildSerializedFilters();

// A filter that was read.
struct ReadFilter {
  std::function<bool(std::string_view)> contains;
  std::string written;  // by the filter, once more
};

// Reads a filter of that form: "classic_guava", "classic", "counting",
// "scalable" or "cuckoo". Throws if that fails.
ReadFilter ReadSerialized(const std::string& form, const std::string& bytes,
                          const std::optional<FilterSecret>& secret);

// "-" stands for none.
std::optional<FilterSecret> SecretOf(const std::string& text);

// 1000 keys that are in none.
Lines AbsentKeys();

size_t FalsePositives(const ReadFilter& filter);

}  // namespace rowbloom::golden
