#include "rowbloom/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom {
namespace {

TEST(Printable, ShowsBytesAsHbasesShellDoes) {
  EXPECT_EQ(ToPrintable(std::string("a b~\x00\n\t\x7f\xff\\", 10)),
            "a b~\\x00\\x0A\\x09\\x7F\\xFF\\x5C");
  EXPECT_EQ(ToPrintable(""), "");
}

TEST(Printable, EveryByteComesBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(FromPrintable(ToPrintable(bytes)), bytes);
}

TEST(Printable, WhatIsNoEscapeStandsForItself) {
  EXPECT_EQ(FromPrintable("\\xaB"), "\xab");
  for (const char* text : {"\\", "\\x", "\\x4", "\\x4g", "\\x-1", "C:\\dir"}) {
    EXPECT_EQ(FromPrintable(text), text);
  }
}

}  // namespace
}  // namespace rowbloom
