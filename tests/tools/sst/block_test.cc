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
  std::string last;
  while (cursor.Next()) {
    EXPECT_EQ(block.substr(cursor.value_offset_bytes(), cursor.value().size()),
              cursor.value());
    const size_t shared = cursor.shared_key_bytes();
    EXPECT_EQ(last.substr(0, shared), cursor.key().substr(0, shared));
    last = cursor.key();
    entries.emplace_back(cursor.key(), cursor.value());
  }
  EXPECT_FALSE(cursor.Next()) << "after the end";
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

// A block whose values are apart: entries, values, the rest.
std::string ApartBlock(const std::string& entries, const std::string& values,
                       const std::vector<uint32_t>& restarts,
                       const std::string& hash_index = "", uint32_t flags = 0) {
  std::string out = entries + values;
  for (const uint32_t restart : restarts) out += Fixed32(restart);
  return out + hash_index + Fixed32(static_cast<uint32_t>(entries.size())) +
         Fixed32(static_cast<uint32_t>(restarts.size()) + flags + (1u << 28));
}

constexpr uint32_t kHashIndexFlag = 1u << 31;
constexpr uint32_t kEvenKeysFlag = 1u << 29;

// Four entries, two of them at restarts, where the start of the value follows
// the lengths.
const std::string kApartEntries(
    "\0\4\1\0key1\3\1\2"
    "2\0\4\0\3key3\3\1\3"
    "4",
    24);
const std::string kApartValues = "abbddd";
const Entries kApartModel = {
    {"key1", "a"}, {"key2", "bb"}, {"key3", ""}, {"key4", "ddd"}};

std::string DamageApart(const std::string& block) {
  EntryCursor cursor(block, ValueForm::kData);
  while (cursor.Next()) {
  }
  EXPECT_TRUE(cursor.status().IsCorruption()) << cursor.status().ToString();
  return cursor.status().ToString();
}

TEST(EntryCursor, ReadsValuesThatAreApartFromTheirKeys) {
  for (const bool has_hash_index : {false, true}) {
    const std::string block =
        ApartBlock(kApartEntries, kApartValues, {0, 12},
                   has_hash_index ? std::string("\0\1\2\0", 4) : "",
                   has_hash_index ? kHashIndexFlag : 0);
    EntryCursor cursor(block, ValueForm::kData);
    EXPECT_EQ(cursor.has_hash_index(), has_hash_index);
    Entries entries;
    while (cursor.Next()) {
      EXPECT_EQ(
          block.substr(cursor.value_offset_bytes(), cursor.value().size()),
          cursor.value());
      entries.emplace_back(cursor.key(), cursor.value());
    }
    EXPECT_EQ(entries, kApartModel);
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().ToString();
  }
}

TEST(EntryCursor, DamageToValuesThatAreApartIsNamed) {
  EXPECT_THAT(DamageApart(Fixed32((1u << 28) + 1)),
              HasSubstr("values apart from keys in 4 bytes, expected at least "
                        "8"));
  EXPECT_THAT(DamageApart(Fixed32(0) + Fixed32(5) + Fixed32((1u << 28) + 1)),
              HasSubstr("values from offset 5 on, expected at most 0"));
  std::string entries = kApartEntries;
  entries[15] = 4;  // the start of the third value
  EXPECT_THAT(DamageApart(ApartBlock(entries, kApartValues, {0, 12})),
              HasSubstr("entry at offset 12: value at 4 of the values, "
                        "expected 3"));
  EXPECT_THAT(DamageApart(ApartBlock(kApartEntries, "abbdd", {0, 12})),
              HasSubstr("entry at offset 20: value of 3 bytes, expected at "
                        "most 2"));
  EXPECT_THAT(DamageApart(ApartBlock(kApartEntries, "abbdddd", {0, 12})),
              HasSubstr("values end at offset 30, expected 31"));
  EXPECT_THAT(DamageApart(ApartBlock("", "a", {0})),
              HasSubstr("values end at offset 0, expected 1"));
  EXPECT_THAT(DamageApart(ApartBlock(std::string("\0\x7f\0\0k", 5), "", {0})),
              HasSubstr("entry at offset 0: key of 127 and value of 0 bytes, "
                        "expected at most 1 bytes"));
}

TEST(EntryCursor, FlagsOfOtherBlocksAreNoCounts) {
  const std::string entry = Entry(0, "key", "value");
  const std::string even = entry + Fixed32(0) + Fixed32(kEvenKeysFlag + 1);
  EntryCursor cursor(even, ValueForm::kSized);
  EXPECT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.key(), "key");
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().ToString();
  // A flag that RocksDB 11.8 does not know, and one of data blocks elsewhere.
  for (const uint32_t flag : {1u << 30, 1u << 28}) {
    EXPECT_THAT(Damage(entry + Fixed32(0) + Fixed32(flag + 1)),
                HasSubstr(std::to_string(flag + 1) + " restarts at offset 15"));
  }
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
  test::Random random(test::SeedFromEnv());
  size_t entries = 0;
  for (uint64_t i = 0; i < test::Scaled(200'000); ++i) {
    std::string block = random.Bytes(random.Below(64));
    // Small numbers get further than random ones do.
    for (char& byte : block) byte = static_cast<char>(byte & 0x83);
    if (random.OneIn(2)) block += Fixed32(1 + random.Below(3));
    if (random.OneIn(4)) {
      block += Fixed32(random.Below(16)) + Fixed32((1u << 28) + 1);
    }
    for (const ValueForm form :
         {ValueForm::kSized, ValueForm::kHandle, ValueForm::kData}) {
      EntryCursor cursor(block, form);
      size_t steps = 0;
      while (cursor.Next()) {
        ASSERT_LE(cursor.value_offset_bytes() + cursor.value().size(),
                  block.size());
        ASSERT_LE(++steps, block.size());
      }
      entries += steps;
    }
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
}

// A file must not take a thousand times its size.
TEST(Block, KeysThatAreKeptHaveOneLimit) {
  using namespace std::string_literals;
  const std::string half_a_mib = "\x80\x80\x20"s;  // as a varint
  std::string entries =
      "\x00"s + half_a_mib + "\x00"s + std::string(512 << 10, 'k');
  for (int i = 0; i < 1000; ++i) entries += half_a_mib + "\x00\x00"s;
  const std::string block = Block(entries, {0});
  for (const bool keeps_keys : {false, true}) {
    EntryCursor cursor(block, ValueForm::kSized, keeps_keys);
    size_t count = 0;
    while (cursor.Next()) ++count;
    EXPECT_EQ(count, keeps_keys ? 512u : 1001u);
    EXPECT_EQ(cursor.status().IsCorruption(), keeps_keys);
  }
}

}  // namespace
}  // namespace rowbloom::sst
