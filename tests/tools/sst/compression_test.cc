// Undoing compression: what each codec wrote comes back, whatever else was
// written is refused.
#include "tools/sst/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/tools/sst/make_sst.h"

namespace rowbloom::sst {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using test::Varint;
using testing::HasSubstr;

std::string Contents() {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i % 37) + ";";
  return text;
}

// Compresses contents as RocksDB stores them.
std::string Store(CompressionType type, const std::string& contents) {
  std::string out;
  switch (type) {
    case CompressionType::kSnappy:
      snappy::Compress(contents.data(), contents.size(), &out);
      return out;
    case CompressionType::kZlib: {
      out.resize(compressBound(contents.size()));
      z_stream stream{};
      EXPECT_EQ(
          deflateInit2(&stream, 6, Z_DEFLATED, -14, 8, Z_DEFAULT_STRATEGY),
          Z_OK);
      stream.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
      stream.avail_in = static_cast<uInt>(contents.size());
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
      out.resize(stream.total_out);
      deflateEnd(&stream);
      break;
    }
    case CompressionType::kLz4:
      out.resize(LZ4_compressBound(static_cast<int>(contents.size())));
      out.resize(LZ4_compress_default(contents.data(), out.data(),
                                      static_cast<int>(contents.size()),
                                      static_cast<int>(out.size())));
      break;
    default:
      out.resize(ZSTD_compressBound(contents.size()));
      out.resize(ZSTD_compress(out.data(), out.size(), contents.data(),
                               contents.size(), 3));
  }
  return Varint(contents.size()) + out;
}

struct Result {
  Status status;
  std::string contents;
};

Result Undo(CompressionType type, const std::string& stored) {
  Buffer buffer;
  std::string_view contents;
  const Status status = Decompress(type, stored, nullptr, &buffer, &contents);
  return {status, status.ok() ? std::string(contents) : ""};
}

class Compression : public testing::TestWithParam<CompressionType> {};
INSTANTIATE_TEST_SUITE_P(
    Codecs, Compression,
    testing::Values(CompressionType::kSnappy, CompressionType::kZlib,
                    CompressionType::kLz4, CompressionType::kZstd),
    [](const auto& codec) { return ToString(codec.param); });

TEST_P(Compression, GivesTheContentsBack) {
  for (const std::string& contents :
       {Contents(), std::string("x"), std::string(100'000, 'a')}) {
    const Result result = Undo(GetParam(), Store(GetParam(), contents));
    ASSERT_THAT(result.status, IsOk());
    EXPECT_EQ(result.contents, contents);
  }
}

TEST_P(Compression, RefusesEveryCutAndEveryWrongSize) {
  const std::string contents = Contents();
  const std::string stored = Store(GetParam(), contents);
  for (size_t bytes = 0; bytes < stored.size(); ++bytes) {
    const Status status = Undo(GetParam(), stored.substr(0, bytes)).status;
    ASSERT_THAT(status,
                StatusIs(Status::kCorruption,
                         HasSubstr("malformed " + ToString(GetParam()))))
        << bytes;
  }
  if (GetParam() == CompressionType::kSnappy) return;
  const std::string codec_bytes = stored.substr(Varint(contents.size()).size());
  for (const size_t size : {contents.size() - 1, contents.size() + 1}) {
    EXPECT_THAT(Undo(GetParam(), Varint(size) + codec_bytes).status,
                StatusIs(Status::kCorruption, HasSubstr("malformed")));
  }
}

TEST_P(Compression, TakesNoMemoryForAHugeClaim) {
  Buffer buffer;
  std::string_view found;
  const std::string stored = Varint(UINT32_MAX) + "abc";
  EXPECT_THAT(
      Decompress(GetParam(), stored, nullptr, &buffer, &found),
      StatusIs(Status::kCorruption,
               HasSubstr("claim contents of 4294967295, expected at most")));
  EXPECT_EQ(buffer.capacity(), 0U);
}

TEST_P(Compression, NeitherCrashesNorOverrunsOnFlips) {
  test::Random random(test::SeedFromEnv());
  const std::string contents = Contents();
  const std::string stored = Store(GetParam(), contents);
  for (uint64_t i = 0; i < test::Scaled(2000); ++i) {
    std::string bytes = stored;
    bytes[random.Below(bytes.size())] ^=
        static_cast<char>(1 + random.Below(255));
    const Status status = Undo(GetParam(), bytes).status;
    EXPECT_TRUE(status.ok() || status.IsCorruption()) << status.ToString();
  }
}

TEST(CompressionTypes, NamesWhatItRefuses) {
  EXPECT_THAT(Undo(CompressionType::kBZip2, "x").status,
              StatusIs(Status::kNotSupported, HasSubstr("with BZip2")));
  EXPECT_THAT(Undo(CompressionType::kXpress, "x").status,
              StatusIs(Status::kNotSupported, HasSubstr("with XPRESS")));
  EXPECT_THAT(Undo(static_cast<CompressionType>(99), "x").status,
              StatusIs(Status::kNotSupported, HasSubstr("type 99")));
  EXPECT_THAT(Undo(static_cast<CompressionType>(0x81), "x").status,
              StatusIs(Status::kNotSupported, HasSubstr("with Custom81")));
}

TEST(CompressionTypes, PropertyNamesCodecsUpToVersion6AndThenTheirManager) {
  const auto codecs = [](uint32_t version, std::string_view property) {
    return ParseCompressionProperty(version, property).codecs;
  };
  const auto manager = [](uint32_t version, std::string_view property) {
    return ParseCompressionProperty(version, property).foreign_manager;
  };
  EXPECT_EQ(codecs(6, "ZSTD"), "ZSTD");
  EXPECT_EQ(codecs(6, "BuiltinV2;07;"), "BuiltinV2;07;");
  EXPECT_EQ(codecs(7, "BuiltinV2;07;"), "ZSTD");
  EXPECT_EQ(codecs(7, "BuiltinV2;0407;"), "LZ4, ZSTD");
  EXPECT_EQ(codecs(7, "BuiltinV2;04;of a later version"), "LZ4");
  EXPECT_EQ(codecs(7, "BuiltinV2;;"), "NoCompression");
  EXPECT_EQ(codecs(7, ";;"), "NoCompression");
  EXPECT_EQ(codecs(7, "Mine;04AB;"), "LZ4, CustomAB");
  for (const std::string_view malformed :
       {"", "ZSTD", "BuiltinV2", "BuiltinV2;", "BuiltinV2;07", "BuiltinV2;7;",
        "BuiltinV2;+7;", "BuiltinV2;0x;"}) {
    EXPECT_EQ(codecs(7, malformed), malformed);
    EXPECT_EQ(manager(7, malformed), "");
  }
  EXPECT_EQ(manager(6, "Mine;04AB;"), "");
  EXPECT_EQ(manager(7, "Mine;04AB;"), "Mine");
  EXPECT_EQ(manager(7, "BuiltinV2;04;"), "");
  EXPECT_EQ(manager(7, ";;"), "");
}

}  // namespace
}  // namespace rowbloom::sst
