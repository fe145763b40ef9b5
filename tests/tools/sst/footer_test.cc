#include "tools/sst/footer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/sst/make_sst.h"

namespace rowbloom::sst::footer_test {
namespace {

using test::Fixed;
using test::Varint;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t kBlockBasedMagic = 0x88e241b785f4cff7U;
constexpr uint64_t kFileBytes = 10'000;
constexpr uint64_t kFooterAt = kFileBytes - kFooterBytes;

// The checksum type, 40 bytes as given, version and magic.
std::string MakeFooter(int checksum_type, std::string middle, uint32_t version,
                       uint64_t magic = kBlockBasedMagic) {
  middle.resize(40);
  return static_cast<char>(checksum_type) + middle + Fixed(version, 4) +
         Fixed(magic, 8);
}

std::string Handles(uint64_t metaindex_at, uint64_t metaindex_bytes,
                    uint64_t index_at, uint64_t index_bytes) {
  return Varint(metaindex_at) + Varint(metaindex_bytes) + Varint(index_at) +
         Varint(index_bytes);
}

// A footer of format_version 6 for a file of kFileBytes.
std::string MakeFooter6(ChecksumType type, uint32_t base,
                        uint32_t metaindex_bytes, uint64_t reserved = 0) {
  const auto make = [&](uint32_t checksum) {
    return MakeFooter(static_cast<int>(type),
                      std::string("\x3e\x00\x7a\x00", 4) + Fixed(checksum, 4) +
                          Fixed(base, 4) + Fixed(metaindex_bytes, 4) +
                          std::string(16, '\0') + Fixed(reserved, 8),
                      6);
  };
  return make(Checksum(type, make(0)) + ContextModifier(base, kFooterAt));
}

rocksdb::Status Decode(const std::string& tail, Footer* footer,
                       uint64_t file_bytes = kFileBytes) {
  return DecodeFooter("some_file", tail, file_bytes, footer);
}

// The message for `tail`, which must be refused with `code`.
std::string Refusal(const std::string& tail, rocksdb::Status::Code code,
                    uint64_t file_bytes = kFileBytes) {
  Footer footer;
  footer.format_version = 99;
  const rocksdb::Status status = Decode(tail, &footer, file_bytes);
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_EQ(footer.format_version, 99U) << "changed on error";
  const std::string message = status.ok() ? "" : status.getState();
  EXPECT_THAT(message, StartsWith("some_file: "));
  return message;
}

TEST(Footer, FilesNamedAsTablesAreDamagedWithoutOne) {
  const std::string footer = MakeFooter(1, Handles(9000, 300, 8000, 200), 5);
  for (const std::string& tail : {std::string(), std::string("short"),
                                  footer.substr(0, footer.size() - 1)}) {
    Footer ignored;
    EXPECT_TRUE(Decode(tail, &ignored).IsNotSupported()) << tail;
    EXPECT_TRUE(
        DecodeFooter("000007.sst", tail, kFileBytes, &ignored).IsCorruption())
        << tail;
  }
}

TEST(Footer, DecodesHandlesOfVersions2To5) {
  for (const uint32_t version : {2U, 3U, 4U, 5U}) {
    Footer footer;
    const rocksdb::Status status =
        Decode(MakeFooter(1, Handles(9000, 300, 8000, 200), version), &footer);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(footer.format_version, version);
    EXPECT_EQ(footer.checksum_type, ChecksumType::kCrc32c);
    EXPECT_EQ(footer.base_context_checksum, 0U);
    EXPECT_EQ(footer.offset_bytes, kFooterAt);
    EXPECT_EQ(footer.metaindex, (BlockHandle{9000, 300}));
    ASSERT_TRUE(footer.index.has_value());
    EXPECT_EQ(*footer.index, (BlockHandle{8000, 200}));
  }
}

TEST(Footer, DecodesVersion6WithEveryChecksum) {
  for (int type = 0; type <= 4; ++type) {
    Footer footer;
    const rocksdb::Status status = Decode(
        MakeFooter6(static_cast<ChecksumType>(type), 123456789, 300), &footer);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(footer.format_version, 6U);
    EXPECT_EQ(footer.base_context_checksum, 123456789U);
    EXPECT_EQ(footer.metaindex, (BlockHandle{kFooterAt - 305, 300}));
    EXPECT_FALSE(footer.index.has_value());
  }
}

TEST(Footer, Version6AtAnotherOffsetIsCorruption) {
  const std::string footer = MakeFooter6(ChecksumType::kXxh3, 123456789, 300);
  EXPECT_THAT(Refusal(footer, rocksdb::Status::kCorruption, kFileBytes - 1),
              HasSubstr("footer at offset 9946: xxh3 checksum "));
}

TEST(Footer, Version6BitFlipsAreRefused) {
  const std::string good = MakeFooter6(ChecksumType::kXxHash64, 7, 300);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Footer footer;
    const rocksdb::Status status = Decode(bad, &footer);
    EXPECT_TRUE(status.IsCorruption() || status.IsNotSupported())
        << "bit " << bit << ": " << status.ToString();
  }
}

TEST(Footer, Version6OfALaterFeatureIsNotSupported) {
  EXPECT_THAT(Refusal(MakeFooter6(ChecksumType::kXxh3, 1, 300, 1),
                      rocksdb::Status::kNotSupported),
              HasSubstr("written with a later feature of RocksDB"));
}

TEST(Footer, Version6WithoutContextIsCorruption) {
  EXPECT_THAT(Refusal(MakeFooter6(ChecksumType::kXxh3, 0, 300),
                      rocksdb::Status::kCorruption),
              HasSubstr("the base context checksum is 0"));
}

TEST(Footer, HandlesPastTheFooterAreCorruption) {
  EXPECT_THAT(Refusal(MakeFooter(1, Handles(9000, 943, 0, 0), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("metaindex block of 943 bytes at offset 9000"));
  EXPECT_THAT(Refusal(MakeFooter(1, Handles(0, 8, 9947, 0), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("index block of 0 bytes at offset 9947"));
  const uint64_t huge = ~uint64_t{0};
  EXPECT_THAT(Refusal(MakeFooter(1, Handles(huge, huge, 0, 0), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("metaindex block of 18446744073709551615 bytes"));
  EXPECT_THAT(Refusal(MakeFooter(1, Handles(1, huge, 0, 0), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("at offset 1, expected it to end before the footer"));
  EXPECT_THAT(Refusal(MakeFooter6(ChecksumType::kXxh3, 1, 9943),
                      rocksdb::Status::kCorruption),
              HasSubstr("metaindex block of 9943 bytes"));
  EXPECT_THAT(Refusal(MakeFooter(1, std::string(40, '\xff'), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("handles are malformed"));
}

TEST(Footer, MetaindexTooShortForABlockIsCorruption) {
  EXPECT_THAT(Refusal(MakeFooter(1, Handles(9000, 7, 0, 0), 5),
                      rocksdb::Status::kCorruption),
              HasSubstr("metaindex block of 7 bytes at offset 9000, expected "
                        "at least 8"));
  EXPECT_THAT(Refusal(MakeFooter6(ChecksumType::kXxh3, 1, 7),
                      rocksdb::Status::kCorruption),
              HasSubstr("metaindex block of 7 bytes"));
}

TEST(Footer, LargestHandlesThatFitAreTaken) {
  Footer footer;
  EXPECT_TRUE(
      Decode(MakeFooter(1, Handles(9000, 942, 9942, 0), 5), &footer).ok());
  EXPECT_TRUE(Decode(MakeFooter6(ChecksumType::kXxh3, 1, 9942), &footer).ok());
  EXPECT_EQ(footer.metaindex, (BlockHandle{0, 9942}));
}

TEST(Footer, OtherVersionsAreNotSupported) {
  for (const uint32_t version : {0U, 1U, 8U, 9U, 0xffffffffU}) {
    EXPECT_THAT(Refusal(MakeFooter(1, Handles(0, 1, 0, 1), version),
                        rocksdb::Status::kNotSupported),
                HasSubstr("format_version " + std::to_string(version) +
                          ", expected 2 to 7"));
  }
}

TEST(Footer, UnknownChecksumTypesAreCorruption) {
  for (const int type : {5, 100, 255}) {
    EXPECT_THAT(Refusal(MakeFooter(type, Handles(0, 1, 0, 1), 5),
                        rocksdb::Status::kCorruption),
                HasSubstr("checksum type " + std::to_string(type) +
                          ", expected 0 to 4"));
  }
}

TEST(Footer, OtherTablesAreRefusedByName) {
  const auto refusal = [](uint64_t magic) {
    return Refusal(MakeFooter(1, Handles(0, 1, 0, 1), 5, magic),
                   rocksdb::Status::kNotSupported);
  };
  EXPECT_THAT(refusal(0x8242229663bf9564U), HasSubstr("RocksDB plain table"));
  EXPECT_THAT(refusal(0x4f3418eb7a8f13b8U), HasSubstr("RocksDB plain table"));
  EXPECT_THAT(refusal(0x926789d0c5f17873U), HasSubstr("RocksDB cuckoo table"));
  EXPECT_THAT(refusal(0xdb4775248b80fb57U),
              HasSubstr("block-based table of format_version 0"));
  EXPECT_THAT(refusal(0x0123456789abcdefU),
              HasSubstr("not a RocksDB table, or cut short: magic "
                        "0123456789abcdef at offset 9992, expected "
                        "88e241b785f4cff7"));
}

TEST(Footer, TooShortFilesAreRefused) {
  EXPECT_THAT(Refusal("", rocksdb::Status::kNotSupported, 0),
              HasSubstr("not a RocksDB table: 0 bytes"));
  EXPECT_THAT(Refusal("1234567", rocksdb::Status::kNotSupported, 7),
              HasSubstr("not a RocksDB table: 7 bytes"));
  EXPECT_THAT(
      Refusal(Fixed(kBlockBasedMagic, 8), rocksdb::Status::kCorruption, 8),
      HasSubstr("8 bytes, expected a footer of 53"));
}

}  // namespace
}  // namespace rowbloom::sst::footer_test
