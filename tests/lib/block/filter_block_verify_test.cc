// FilterBlockBuilder::Verify notices what changed in memory between AddKey and
// the finished block.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "lib/block/filter_block_builder.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/filter_block.h"
#include "tests/support/scoped_kernel.h"

namespace rowbloom {
namespace {

// Changes a bit of a hash that the builder holds, after it went into the block:
// the block is right, what it is checked against is not.
void AddThenDamage(const BloomBlocks& blocks, std::byte* data,
                   const uint64_t* hashes, size_t count) {
  AddScalar(blocks, data, hashes, count);
  const_cast<uint64_t*>(hashes)[count / 2] ^= 1ull << 40;
}

// The same before: the block lacks a key.
void DamageThenAdd(const BloomBlocks& blocks, std::byte* data,
                   const uint64_t* hashes, size_t count) {
  const_cast<uint64_t*>(hashes)[count / 2] ^= 1ull << 40;
  AddScalar(blocks, data, hashes, count);
}

// Leaves a hash out.
void AddAllButOne(const BloomBlocks& blocks, std::byte* data,
                  const uint64_t* hashes, size_t count) {
  AddScalar(blocks, data, hashes, count - 1);
}

Kernel KernelWith(decltype(Kernel::add) add) {
  Kernel kernel = kScalarKernel;
  kernel.add = add;
  return kernel;
}

FilterBlockOptions Options() {
  return {.key_layout = KeyLayout::Delimited(':'), .verify = true};
}

void AddKeys(FilterBlockBuilder* builder, int rows = 50) {
  for (int row = 0; row < rows; ++row) {
    for (const char* column : {"x", "y", "z"}) {
      builder->AddKey(std::to_string(row) + ":" + column);
    }
  }
}

// A builder is used again: also one of a custom layout, which it has to keep.
TEST(FilterBlockVerify, GoodBlocksPassOneAfterAnother) {
  const KeyLayout custom = *KeyLayout::RegisterCustom(
      "verified", [](std::string_view key) -> std::optional<size_t> {
        const size_t at = key.find(':');
        if (at == std::string_view::npos) return std::nullopt;
        return at + 1;
      });
  for (const KeyLayout& layout : {KeyLayout::Delimited(':'), custom}) {
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      FilterBlockOptions options = Options();
      options.bloom_type = type;
      options.key_layout = layout;
      if (type == BloomType::kRowPrefixFixedLength) {
        options.row_prefix_length = 2;
      }
      FilterBlockBuilder builder(options);
      EXPECT_EQ(builder.Verify(builder.Finish()), "") << "without keys";
      for (int rows : {1, 50, 3}) {
        AddKeys(&builder, rows);
        const std::string block = builder.Finish();
        EXPECT_EQ(builder.Verify(block), "");
        EXPECT_FALSE(FilterBlock::Open(block).MayMatch("absent:").may_match());
      }
      builder.AddKey("5:");  // a bare row: no ROWCOL section
      EXPECT_EQ(builder.Verify(builder.Finish()), "");
    }
  }
}

TEST(FilterBlockVerify, ChangedHashIsFound) {
  for (const auto add : {AddThenDamage, DamageThenAdd}) {
    const Kernel kernel = KernelWith(add);
    const test::ScopedKernel used(kernel);
    FilterBlockBuilder builder(Options());
    AddKeys(&builder);
    EXPECT_EQ(builder.Verify(builder.Finish()),
              "filter block: hashes of section ROW are not those of the keys "
              "added");
  }
}

TEST(FilterBlockVerify, KeyMissingInTheBlockIsFound) {
  const Kernel kernel = KernelWith(AddAllButOne);
  const test::ScopedKernel used(kernel);
  FilterBlockBuilder builder(Options());
  AddKeys(&builder);
  EXPECT_EQ(builder.Verify(builder.Finish()),
            "filter block: a key that was added is not in section ROW");
}

TEST(FilterBlockVerify, EveryDamagedByteIsFound) {
  FilterBlockBuilder builder(Options());
  AddKeys(&builder);
  const std::string block = builder.Finish();
  for (size_t at = 0; at < block.size(); ++at) {
    AddKeys(&builder);
    std::string damaged = builder.Finish();
    ASSERT_EQ(damaged, block);
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_NE(builder.Verify(damaged), "") << at;
  }
  AddKeys(&builder);
  builder.Finish();
  EXPECT_NE(builder.Verify(block.substr(0, block.size() - 1)), "");
}

// Whole in itself, and of other keys or another layout.
TEST(FilterBlockVerify, AnotherBlockIsFound) {
  FilterBlockBuilder others(Options());
  others.AddKey("other:x");
  const std::string of_other_keys = others.Finish();
  others.AddKey("other:");
  const std::string without_row_col = others.Finish();
  FilterBlockOptions escaped = Options();
  escaped.key_layout = KeyLayout::Escaped();
  const std::string of_other_layout = FilterBlockBuilder(escaped).Finish();
  FilterBlockBuilder builder(Options());
  for (const std::string& block :
       {of_other_keys, without_row_col, of_other_layout}) {
    AddKeys(&builder);
    builder.Finish();
    EXPECT_NE(builder.Verify(block), "");
  }
}

TEST(FilterBlockVerify, HashesLiveUntilThenAndOnlyOnDemand) {
  FilterBlockBuilder verifying(Options());
  FilterBlockOptions trusting_options = Options();
  trusting_options.verify = false;
  FilterBlockBuilder trusting(trusting_options);
  for (FilterBlockBuilder* builder : {&verifying, &trusting}) {
    AddKeys(builder);
    EXPECT_GE(builder->MemoryBytes(), 200 * sizeof(uint64_t));
  }
  const std::string block = verifying.Finish();
  EXPECT_EQ(trusting.Finish(), block);
  EXPECT_GE(verifying.MemoryBytes(), 200 * sizeof(uint64_t));
  EXPECT_EQ(trusting.MemoryBytes(), 0u);
  EXPECT_EQ(verifying.Verify(block), "");
  EXPECT_EQ(verifying.MemoryBytes(), 0u);
  AddKeys(&verifying);
  verifying.Finish();
  verifying.Reset();
  EXPECT_EQ(verifying.MemoryBytes(), 0u);
}

}  // namespace
}  // namespace rowbloom
