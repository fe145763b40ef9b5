#include "tools/sst/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom::sst {
namespace {

using testing::HasSubstr;

std::string Fixed32(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// An entry with lengths below 128.
std::string Entry(int shared, const std::string& key_rest,
                  const std::string& value) {
  std::string out;
  out += static_cast<char>(shared);
  out += static_cast<char>(key_rest.size());
  out += static_cast<char>(value.size());
  return out + key_rest + value;
}

std::string Block(const std::string& entries,
                  const std::vector<uint32_t>& restarts) {
  std::string out = entries;
  for (const uint32_t restart : restarts) out += Fixed32(restart);
  return out + Fixed32(static_cast<uint32_t>(restarts.size()));
}

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries ReadAll(const std::string& block, rocksdb::Status* status) {
  Entries entries;
  EntryCursor cursor(block, ValueForm::kSized);
  while (cursor.Next()) {
    EXPECT_EQ(block.substr(cursor.value_offset_bytes(), cursor.value().size()),
              cursor.value());
    entries.emplace_back(cursor.key(), cursor.value());
  }
  EXPECT_FALSE(cursor.Next()) << "after the end";
  *status = cursor.status();
  return entries;
}

// The same by NextSome.
Entries ReadAllInBatches(const std::string& block, ValueForm form,
                         rocksdb::Status* status) {
  Entries entries;
  EntryCursor cursor(block, form);
  EntryBatch batch;
  std::string last;
  while (cursor.NextSome(&batch)) {
    EXPECT_FALSE(batch.entries().empty());
    for (const BlockEntry& entry : batch.entries()) {
      EXPECT_EQ(last.substr(0, entry.shared_key_bytes),
                entry.key.substr(0, entry.shared_key_bytes));
      last = entry.key;
      entries.emplace_back(entry.key, entry.value);
    }
  }
  EXPECT_TRUE(batch.entries().empty());
  EXPECT_FALSE(cursor.NextSome(&batch)) << "after the end";
  *status = cursor.status();
  return entries;
}

std::string Damage(const std::string& block) {
  rocksdb::Status status;
  ReadAll(block, &status);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  return status.ok() ? "" : status.getState();
}

TEST(EntryCursor, RebuildsSharedKeys) {
  const std::string first = Entry(0, "apple", "1") + Entry(3, "ly", "");
  const std::string block = Block(first + Entry(0, "b", "22"),
                                  {0, static_cast<uint32_t>(first.size())});
  rocksdb::Status status;
  EXPECT_EQ(ReadAll(block, &status),
            (Entries{{"apple", "1"}, {"apply", ""}, {"b", "22"}}));
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// More of them than a batch has, and keys that do not fit into one together.
TEST(EntryCursor, BatchesHaveAllEntriesInOrder) {
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  test::Random random(seed);
  std::string entries;
  std::vector<uint32_t> restarts;
  for (int i = 0; i < 1000; ++i) {
    const bool restart = random.OneIn(16) || i == 0;
    if (restart) restarts.push_back(static_cast<uint32_t>(entries.size()));
    entries += restart ? Entry(0, random.Bytes(100), "a")
                       : Entry(static_cast<int>(random.Below(90)),
                               random.Bytes(90 + random.Below(10)), "b");
    if (!random.OneIn(50)) continue;
    // Its length as a varint of three bytes.
    restarts.push_back(static_cast<uint32_t>(entries.size()));
    entries +=
        std::string("\0\xa0\x9c\x01\x01", 5) + random.Bytes(20'000) + "c";
  }
  const std::string block = Block(entries, restarts);
  rocksdb::Status status;
  const Entries one_by_one = ReadAll(block, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_GT(one_by_one.size(), 1000U);
  for (const ValueForm form : {ValueForm::kSized, ValueForm::kData}) {
    EXPECT_EQ(ReadAllInBatches(block, form, &status), one_by_one);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST(EntryCursor, EmptyBlockHasNoEntries) {
  rocksdb::Status status;
  EXPECT_TRUE(ReadAll(Block("", {0}), &status).empty());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(EntryCursor, DamageIsNamedWithItsOffset) {
  const std::string entry = Entry(0, "key", "value");
  EXPECT_THAT(Damage(""), HasSubstr("0 bytes, expected at least 4"));
  EXPECT_THAT(Damage(Fixed32(0)), HasSubstr("0 restarts at offset 0"));
  EXPECT_THAT(Damage(entry + Fixed32(0) + Fixed32(0x80000001)),
              HasSubstr("restarts at offset 15, expected 1 to 3"));
  EXPECT_THAT(Damage(Block(entry + Entry(4, "", ""), {0})),
              HasSubstr("entry at offset 11: shares 4 bytes with a key of 3"));
  EXPECT_THAT(Damage(Block(entry.substr(0, 10), {0})),
              HasSubstr("entry at offset 0: key of 3 and value of 5 bytes, "
                        "expected at most 7"));
  EXPECT_THAT(Damage(Block(entry + "\xff", {0})),
              HasSubstr("entry at offset 11: malformed lengths"));
  EXPECT_THAT(Damage(Block(entry + Entry(1, "x", ""), {0, 11})),
              HasSubstr("entry at offset 11: shares 1 bytes at a restart"));
  EXPECT_THAT(Damage(Block(entry + entry, {0, 12})),
              HasSubstr("restart 1 at offset 12"));
}

TEST(EntryCursor, HugeLengthsAreRefused) {
  // Both lengths are 2^32 - 1: their sum must not wrap around.
  const std::string huge("\xff\xff\xff\xff\x0f", 5);
  EXPECT_THAT(Damage(Block(std::string(1, '\0') + huge + huge + "abc", {0})),
              HasSubstr("key of 4294967295 and value of 4294967295 bytes"));
}

TEST(EntryCursor, HandlesFollowOneAnother) {
  // 1000 + 200, then 200 + 5 further with sizes 210 and 146.
  std::string entries("\x00\x02", 2);
  entries += "aa" + std::string("\xe8\x07\xc8\x01");
  entries += std::string("\x01\x01", 2) + "b" + "\x14";
  entries += std::string("\x01\x01", 2) + "c" + "\x7f";
  const std::string block = Block(entries, {0});
  EntryCursor cursor(block, ValueForm::kHandle);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.key(), "aa");
  EXPECT_EQ(cursor.handle(), (BlockHandle{1000, 200}));
  EXPECT_EQ(cursor.value(), "\xe8\x07\xc8\x01");
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.key(), "ab");
  EXPECT_EQ(cursor.handle(), (BlockHandle{1205, 210}));
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.key(), "ac");
  EXPECT_EQ(cursor.handle(), (BlockHandle{1420, 146}));
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().ToString();
}

TEST(EntryCursor, MalformedHandleIsCorruption) {
  const std::string block = Block(std::string("\x00\x01k\x80", 4), {0});
  EntryCursor cursor(block, ValueForm::kHandle);
  EXPECT_FALSE(cursor.Next());
  EXPECT_THAT(cursor.status().getState(),
              HasSubstr("entry at offset 0: malformed block handle"));
}

// The cursor ends, and stays within the bytes, whatever they are.
TEST(EntryCursor, AnyBytesAreSafe) {
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  test::Random random(seed);
  size_t entries = 0;
  for (uint64_t i = 0; i < test::Scaled(200'000); ++i) {
    std::string block = random.Bytes(random.Below(64));
    // Small numbers get further than random ones do.
    for (char& byte : block) byte = static_cast<char>(byte & 0x83);
    if (random.OneIn(2)) block += Fixed32(1 + random.Below(3));
    for (const ValueForm form : {ValueForm::kSized, ValueForm::kHandle}) {
      EntryCursor cursor(block, form);
      size_t steps = 0;
      while (cursor.Next()) {
        ASSERT_LE(cursor.value_offset_bytes() + cursor.value().size(),
                  block.size());
        ASSERT_LE(++steps, block.size());
      }
      entries += steps;
    }
    rocksdb::Status status;
    const Entries one_by_one = ReadAll(block, &status);
    rocksdb::Status batch_status;
    ASSERT_EQ(ReadAllInBatches(block, ValueForm::kSized, &batch_status),
              one_by_one);
    ASSERT_EQ(batch_status.ToString(), status.ToString());
  }
  EXPECT_GT(entries, 0U) << "no input got as far as an entry";
}

// Small blocks must not decode to keys without end.
TEST(Block, KeysRepeatedTooOftenAreRefused) {
  using namespace std::string_literals;
  const std::string sixty_four_kib = "\x80\x80\x04"s;  // as a varint
  std::string entries =
      "\x00"s + sixty_four_kib + "\x00"s + std::string(64 << 10, 'k');
  for (int i = 0; i < 5000; ++i) entries += sixty_four_kib + "\x00\x00"s;
  const std::string block = Block(entries, {0});
  EntryCursor cursor(block, ValueForm::kSized);
  size_t count = 0;
  while (cursor.Next()) ++count;
  EXPECT_EQ(count, 4096u);
  EXPECT_TRUE(cursor.status().IsCorruption());
  EXPECT_THAT(cursor.status().ToString(),
              HasSubstr("expected at most 268435456"));
  EntryCursor in_batches(block, ValueForm::kSized);
  EntryBatch batch;
  for (count = 0; in_batches.NextSome(&batch);) {
    count += batch.entries().size();
  }
  EXPECT_EQ(count, 4096u);
  EXPECT_EQ(in_batches.status().ToString(), cursor.status().ToString());
}

}  // namespace
}  // namespace rowbloom::sst
