#include "storage/format/crc.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace rowbloom {
namespace {

TEST(Crc, Crc32IsZlibs) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Crc32(bytes),
              crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
                    static_cast<uInt>(bytes.size())))
        << i;
    bytes += static_cast<char>(i * 7);
  }
}

// RFC 3720, appendix B.4.
TEST(Crc, Crc32cHasTheValuesOfTheStandard) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

}  // namespace
}  // namespace rowbloom
