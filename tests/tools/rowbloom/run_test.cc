// Standard output that fails.
#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>

#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/cli.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::test {
namespace {

// Takes so many bytes, and then none: a disk that is full, a pipe that nobody
// reads.
class FullBuffer : public std::streambuf {
 public:
  explicit FullBuffer(size_t bytes) : left_(bytes) {}
  size_t refused() const { return refused_; }

 protected:
  int_type overflow(int_type c) override {
    if (left_ > 0) {
      --left_;
      return traits_type::not_eof(c);
    }
    ++refused_;
    return traits_type::eof();
  }

 private:
  size_t left_;
  size_t refused_ = 0;
};

TEST(CommandLine, ScanEndsWhenNobodyReadsOn) {
  const TempDir dir;
  const std::string db = dir.File("db");
  std::string cells;
  for (const char* row : {"a", "b", "c"}) {
    cells += std::string(row) + "\tf:q\tvalue\n";
  }
  ASSERT_EQ(Cli({"load", "--db", db, "-"}, cells).code, 0);
  FullBuffer full(20);
  std::ostream out(&full);
  std::istringstream in;
  std::ostringstream err;
  EXPECT_EQ(
      cli::Run({"scan", "--db", db}, {.in = in, .out = out, .err = {err}}), 2);
  EXPECT_EQ(err.str(), "rowbloom: cannot write to standard output\n");
  EXPECT_EQ(full.refused(), 1u);
}

}  // namespace
}  // namespace rowbloom::test
