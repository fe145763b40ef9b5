#include "tools/sst/internal_key.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom::sst {
namespace {

TEST(InternalKey, HasSequenceAndTypeBehindTheUserKey) {
  const std::string bytes("key\x07\x03\x02\x01\0\0\0\0", 11);
  InternalKey key;
  ASSERT_TRUE(ParseInternalKey(bytes, &key));
  EXPECT_EQ(key.user_key, "key");
  EXPECT_EQ(key.sequence, 0x010203U);
  EXPECT_EQ(key.type, EntryType::kSingleDeletion);
  EXPECT_TRUE(ParseInternalKey(bytes.substr(3), &key));
  EXPECT_EQ(key.user_key, "");
  EXPECT_FALSE(ParseInternalKey(bytes.substr(4), &key));
  EXPECT_FALSE(ParseInternalKey("", &key));
}

TEST(InternalKey, TypesHaveNames) {
  EXPECT_EQ(ToString(EntryType::kPut), "put");
  EXPECT_EQ(ToString(static_cast<EntryType>(0x99)), "type 0x99");
  EXPECT_TRUE(IsPointEntry(EntryType::kMerge));
  EXPECT_FALSE(IsPointEntry(EntryType::kRangeDeletion));
  EXPECT_FALSE(IsPointEntry(static_cast<EntryType>(0x99)));
  EXPECT_TRUE(IsDeletion(EntryType::kDeletionWithTimestamp));
  EXPECT_FALSE(IsDeletion(EntryType::kPut));
}

TEST(InternalKey, OrderIsTheComparators) {
  EXPECT_EQ(KeyOrderOf("leveldb.BytewiseComparator"), KeyOrder::kBytewise);
  EXPECT_EQ(KeyOrderOf("rocksdb.ReverseBytewiseComparator.u64ts"),
            KeyOrder::kReverseBytewise);
  EXPECT_EQ(KeyOrderOf("mine.u64ts"), KeyOrder::kUnknown);
  EXPECT_EQ(TimestampBytesOf("leveldb.BytewiseComparator.u64ts"), 8U);
  EXPECT_EQ(TimestampBytesOf("leveldb.BytewiseComparator"), 0U);
  EXPECT_EQ(TimestampBytesOf("mine.u64ts"), 0U);

  EXPECT_LT(CompareUserKeys(KeyOrder::kBytewise, 0, "a", "b"), 0);
  EXPECT_GT(CompareUserKeys(KeyOrder::kReverseBytewise, 0, "a", "b"), 0);
  const std::string older = "k" + std::string("\x01\0\0\0\0\0\0\0", 8);
  const std::string newer = "k" + std::string("\0\x01\0\0\0\0\0\0", 8);
  EXPECT_LT(CompareUserKeys(KeyOrder::kBytewise, 8, newer, older), 0);
  EXPECT_GT(CompareUserKeys(KeyOrder::kReverseBytewise, 8, older, newer), 0);
  EXPECT_EQ(CompareUserKeys(KeyOrder::kBytewise, 8, older, older), 0);
}

}  // namespace
}  // namespace rowbloom::sst
