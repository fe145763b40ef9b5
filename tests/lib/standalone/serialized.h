// Every serialized filter with a checksum comes back as it was. Bytes that were
// changed, cut or lengthened are refused with a message.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/filter_form.h"
#include "rowbloom/result.h"

namespace rowbloom::test {

inline FilterSecret Secret(int which) {
  FilterSecret secret{};
  for (size_t i = 0; i < secret.size(); ++i) {
    secret[i] = std::byte(16 * which + static_cast<int>(i));
  }
  return secret;
}

// Unwraps a result, and fails the test when it is an error.
template <typename Filter>
Filter Made(Result<Filter> made) {
  EXPECT_TRUE(made) << made.error();
  return *std::move(made);
}

// The filter, written and read.
template <typename Filter>
Filter Reread(const Filter& filter,
              const std::optional<FilterSecret>& secret = std::nullopt) {
  const std::string bytes = filter.Serialize();
  Filter parsed = Made(Filter::Parse(bytes, secret));
  EXPECT_EQ(parsed.Serialize(), bytes);
  return parsed;
}

// The Parse of a class, for what follows.
template <typename Filter>
auto ParseOf() {
  return [](std::string_view bytes, const std::optional<FilterSecret>& secret) {
    return Filter::Parse(bytes, secret);
  };
}

// `parse(bytes, secret)` is the Parse of a class; `bytes` was written without a
// secret, and should be short.
template <typename Parse>
void ExpectDamageIsRefused(const std::string& bytes, const Parse& parse) {
  using testing::HasSubstr;
  ASSERT_TRUE(parse(bytes, std::nullopt)) << parse(bytes, std::nullopt).error();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      const auto result = parse(changed, std::nullopt);
      ASSERT_FALSE(result) << "byte " << at << ", bit " << bit;
      EXPECT_THAT(result.error(), HasSubstr("filter"));
    }
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A vector of exactly this size lets sanitizers see a read past its end.
    const std::vector<char> cut(bytes.begin(),
                                bytes.begin() + static_cast<ptrdiff_t>(length));
    ASSERT_FALSE(parse(std::string_view(cut.data(), length), std::nullopt));
  }
  EXPECT_FALSE(parse(bytes + '\0', std::nullopt));
  EXPECT_FALSE(parse(bytes + bytes, std::nullopt));
  EXPECT_THAT(parse(bytes, Secret(1)).error(), HasSubstr("no secret"));
}

// `bytes` was written with Secret(1).
template <typename Parse>
void ExpectTheSecretIsAsked(const std::string& bytes, const Parse& parse) {
  using testing::HasSubstr;
  EXPECT_TRUE(parse(bytes, Secret(1)));
  EXPECT_THAT(parse(bytes, Secret(2)).error(), HasSubstr("another secret"));
  EXPECT_THAT(parse(bytes, std::nullopt).error(), HasSubstr("needed"));
  const FilterSecret secret = Secret(1);
  const std::string_view half(reinterpret_cast<const char*>(secret.data()), 8);
  EXPECT_EQ(bytes.find(half), std::string::npos);
}

}  // namespace rowbloom::test
