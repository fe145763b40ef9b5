// Files that hold one serialized filter of any kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"
#include "rowbloom/scalable_bloom_filter.h"

namespace rowbloom::cli {

struct FilterFile {
  FilterForm form;
  uint64_t file_bytes = 0;
  std::variant<ClassicBloomFilter, CountingBloomFilter, ScalableBloomFilter,
               CuckooFilter>
      filter;

  bool MayContain(std::string_view key) const;

  // The facts about the filter: names and values, for people.
  std::vector<std::pair<std::string, std::string>> Describe() const;
};

// Error: a file that cannot be read, or holds no filter, or one with a secret;
// the message names it.
Result<FilterFile> ReadFilterFile(const std::string& path);

// Puts the bytes into a new file, which then takes the place of what was there.
// On an error, which the message tells, that stays.
std::optional<Error> WriteFilterFile(const std::string& path,
                                     std::string_view bytes);

}  // namespace rowbloom::cli
