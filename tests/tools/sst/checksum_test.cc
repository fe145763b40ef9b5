#include "tools/sst/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom::sst {
namespace {

struct Vector {
  ChecksumType type;
  uint32_t empty;
  uint32_t one_byte;     // a zero byte
  uint32_t short_block;  // with compression type 0
  uint32_t long_block;   // with compression type 1
};

// The values that RocksDB 9.10.0 pins for its own functions
// (table/table_test.cc, ChecksumSchemas), read as little-endian numbers.
constexpr Vector kVectors[] = {
    {ChecksumType::kNone, 0, 0, 0, 0},
    {ChecksumType::kCrc32c, 0xa282ead8, 0x49258fd2, 0x55033f58, 0xb1eda243},
    {ChecksumType::kXxHash, 0x02cc5d05, 0xcf65b03e, 0xb05f2e4a, 0x991f1a8f},
    {ChecksumType::kXxHash64, 0x51d8e999, 0xdb052768, 0xef5546b7, 0x232493f5},
    {ChecksumType::kXxh3, 0, 0x38d394c2, 0xe6b57fb3, 0x45d8ae23},
};

TEST(Checksum, MatchesTheValuesThatRocksDbPins) {
  const std::string short_block("This is a short block!\0", 23);
  std::string long_block;
  for (int i = 0; i < 100; ++i) long_block += "This is a long block!";
  long_block += '\x01';
  for (const Vector& vector : kVectors) {
    SCOPED_TRACE(ToString(vector.type));
    EXPECT_EQ(Checksum(vector.type, ""), vector.empty);
    EXPECT_EQ(Checksum(vector.type, std::string(1, '\0')), vector.one_byte);
    EXPECT_EQ(Checksum(vector.type, short_block), vector.short_block);
    EXPECT_EQ(Checksum(vector.type, long_block), vector.long_block);
  }
}

TEST(Checksum, TypesAreTheFootersNumbers) {
  for (int value = 0; value < 256; ++value) {
    const auto type = ChecksumTypeFromByte(static_cast<uint8_t>(value));
    EXPECT_EQ(type.has_value(), value <= 4) << value;
    if (type) {
      EXPECT_EQ(static_cast<int>(*type), value);
    }
  }
}

TEST(Checksum, ContextDependsOnBaseAndBothHalvesOfTheOffset) {
  EXPECT_EQ(ContextModifier(0, 0x123456789), 0U);
  EXPECT_EQ(ContextModifier(5, 0), 5U);
  EXPECT_EQ(ContextModifier(0xf0, 0x0f), 0xffU);
  EXPECT_EQ(ContextModifier(1, 0x0000000200000004), 7U);
  EXPECT_EQ(ContextModifier(1, 0xffffffffffffffff), 0xffffffffU);
}

}  // namespace
}  // namespace rowbloom::sst
