// The example in FORMAT.md is what the builder writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/filter_block.h"
#include "tests/support/hex_examples.h"

namespace rowbloom {
namespace {

TEST(FormatExample, IsWhatTheBuilderWrites) {
  FilterBlockBuilder builder({.key_layout = KeyLayout::Delimited(':'),
                              .bits_per_key = 10,
                              .origin = {"users", 3}});
  for (const char* key : {"a:x", "a:y", "b:x"}) builder.AddKey(key);
  const std::string written = builder.Finish();
  EXPECT_THAT(test::ReadHexExamples(ROWBLOOM_FORMAT_MD),
              testing::ElementsAre(written))
      << test::HexLines(written);
}

}  // namespace
}  // namespace rowbloom
