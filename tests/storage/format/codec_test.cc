// The codecs, beside the libraries' own functions, and the limits of what
// blocks may claim.
#include "storage/format/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using testing::Each;
using testing::HasSubstr;

constexpr size_t kLong = size_t{16} << 20;

std::string Compressed(Codec codec, const std::string& contents, int level) {
  Compressor compressor(codec, level);
  std::string out = "before";
  EXPECT_THAT(compressor.Append(contents, &out), IsOk());
  EXPECT_TRUE(out.starts_with("before"));
  return out.substr(6);
}

// The library itself undoes it.
std::string Undone(Codec codec, const std::string& stored, size_t size_bytes) {
  std::string out(size_bytes, '?');
  const auto size = static_cast<int>(size_bytes);
  switch (codec) {
    case Codec::kLz4:
      EXPECT_EQ(LZ4_decompress_safe(stored.data(), out.data(),
                                    static_cast<int>(stored.size()), size),
                size);
      break;
    case Codec::kSnappy:
      EXPECT_TRUE(snappy::Uncompress(stored.data(), stored.size(), &out));
      break;
    case Codec::kZstd:
      EXPECT_EQ(
          ZSTD_decompress(out.data(), size_bytes, stored.data(), stored.size()),
          size_bytes);
      break;
    default: {
      // zlib's header, which raw streams lack.
      std::string framed = "\x78\x9c" + stored;
      z_stream stream{};
      EXPECT_EQ(inflateInit(&stream), Z_OK);
      stream.next_in = reinterpret_cast<Bytef*>(framed.data());
      stream.avail_in = static_cast<uInt>(framed.size());
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      inflate(&stream, Z_SYNC_FLUSH);
      EXPECT_EQ(stream.total_out, size_bytes);
      inflateEnd(&stream);
    }
  }
  return out;
}

class CodecTest : public testing::TestWithParam<Codec> {};
INSTANTIATE_TEST_SUITE_P(Codecs, CodecTest,
                         testing::Values(Codec::kDeflate, Codec::kLz4,
                                         Codec::kSnappy, Codec::kZstd));

TEST_P(CodecTest, TheLibraryReadsWhatIsWritten) {
  std::string contents;
  for (int i = 0; i < 5000; ++i) contents += std::to_string(i % 91) + ";";
  EXPECT_EQ(
      Undone(GetParam(), Compressed(GetParam(), contents, -1), contents.size()),
      contents);
}

TEST_P(CodecTest, WhatIsWrittenComesBack) {
  for (const std::string& contents :
       {std::string("x"), std::string(100'000, 'a')}) {
    const std::string stored = Compressed(GetParam(), contents, 1);
    std::string out(contents.size(), '?');
    size_t found = 0;
    ASSERT_THAT(Decompress(GetParam(), stored, out.data(), out.size(), &found),
                IsOk());
    EXPECT_EQ(found, contents.size());
    EXPECT_EQ(out, contents);
    EXPECT_TRUE(
        Decompress(GetParam(), stored, out.data(), out.size() - 1, &found)
            .IsCorruption());
  }
}

// Calls a function when its thread ends.
struct AtThreadEnd {
  ~AtThreadEnd() { call(); }

  std::function<void()> call;
};

// Memory that the end of the thread has freed belongs to others by then.
TEST(Codec, ObjectsOfAThreadThatEndsMayDecompress) {
  const std::string contents(1000, 'a');
  const std::string stored = Compressed(Codec::kZstd, contents, 1);
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  const std::string other(ZSTD_sizeof_DCtx(context), 'x');
  ZSTD_freeDCtx(context);
  const auto expect_contents = [&] {
    std::string out(contents.size(), '?');
    size_t found = 0;
    EXPECT_THAT(
        Decompress(Codec::kZstd, stored, out.data(), out.size(), &found),
        IsOk());
    EXPECT_EQ(out, contents);
  };
  std::thread([&] {
    thread_local AtThreadEnd end;  // made before the first use, so gone last
    end.call = [&] {
      const std::vector<std::string> others(4, other);
      expect_contents();
      EXPECT_THAT(others, Each(other));
    };
    expect_contents();
  }).join();
}

// A level that zlib does not have stands for memory that it does not get.
TEST(Codec, NoStateOfACompressorIsNoMemory) {
  Compressor compressor(Codec::kDeflate, 10);
  std::string out = "before";
  EXPECT_TRUE(compressor.Append("contents", &out).IsMemoryLimit());
  EXPECT_EQ(out, "before");
}

// No honest block is refused: one byte again and again is what compresses best.
TEST_P(CodecTest, TheLimitOfExpansionIsReachedByNone) {
  const std::string contents(kLong, '\0');
  const size_t stored = Compressed(GetParam(), contents, 9).size();
  EXPECT_LE(kLong, MaxDecompressedBytes(GetParam(), stored));
  EXPECT_THAT(CheckClaim(GetParam(), stored, kLong, kLong), IsOk());
  // The limit is near, but for ZSTD, whose writer does not repeat as well as
  // the format allows.
  if (GetParam() != Codec::kZstd) {
    EXPECT_GE(kLong * 11 / 10, MaxDecompressedBytes(GetParam(), stored));
  }
}

// The best that ZSTD's format allows: blocks that repeat one byte.
TEST(CodecClaims, ZstdMayRepeatAByteInFourBytes) {
  constexpr size_t kBlock = 128 * 1024;
  constexpr size_t kBlocks = kLong / kBlock;
  std::string stored("\x28\xb5\x2f\xfd\x00\x38", 6);  // window of 128 KiB
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t head = (i + 1 == kBlocks ? 1 : 0) | 1 << 1 | kBlock << 3;
    for (int shift = 0; shift < 24; shift += 8) {
      stored += static_cast<char>(head >> shift);
    }
    stored += 'a';
  }
  EXPECT_THAT(CheckClaim(Codec::kZstd, stored.size(), kLong, kLong), IsOk());
  std::string out(kLong, '?');
  size_t found = 0;
  ASSERT_THAT(Decompress(Codec::kZstd, stored, out.data(), out.size(), &found),
              IsOk());
  EXPECT_EQ(found, kLong);
  EXPECT_EQ(out, std::string(kLong, 'a'));
}

TEST(CodecClaims, SayWhatIsWrong) {
  EXPECT_THAT(CheckClaim(Codec::kLz4, 10, 10'000, 1 << 20),
              StatusIs(Status::kCorruption,
                       HasSubstr("10 bytes claim contents of 10000, expected "
                                 "at most 2614")));
  EXPECT_THAT(CheckClaim(Codec::kNone, 10, 9, 1 << 20),
              StatusIs(Status::kCorruption, HasSubstr("expected 10")));
  const Status too_large = CheckClaim(Codec::kNone, 1000, 1000, 999);
  EXPECT_TRUE(too_large.IsMemoryLimit());
  EXPECT_THAT(too_large.ToString(),
              HasSubstr("contents of 1000 bytes, expected at most 999"));
}

TEST(CodecClaims, NoBlockIsLongerThanTheLimit) {
  size_t found = 0;
  char out = 0;
  EXPECT_THAT(Decompress(Codec::kZstd, "", &out, kMaxBlockBytes + 1, &found),
              StatusIs(Status::kCorruption, HasSubstr("longer than a block")));
}

// Damage in a dictionary is no lack of memory.
TEST(CodecDictionaryTest, ADamagedOneIsRefused) {
  const CodecDictionary damaged(
      "\x37\xa4\x30\xec"
      "damaged");
  const std::string stored = Compressed(Codec::kZstd, "contents", 3);
  std::string out(8, '?');
  size_t found = 0;
  EXPECT_THAT(Decompress(Codec::kZstd, stored, out.data(), out.size(), &found,
                         &damaged),
              StatusIs(Status::kCorruption, HasSubstr("dictionary")));
}

}  // namespace
}  // namespace rowbloom
