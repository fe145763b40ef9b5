// The command line: usage, exit codes, which stream says what.
#include "tools/sst_inspect/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/storage/sst/make_sst.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom {
namespace {

using test::Output;
using test::RunTool;
using test::TempDir;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

TEST(SstInspect, HelpAndVersionAreData) {
  for (const auto& args : std::vector<std::vector<std::string>>{
           {"--help"}, {"filter", "--help"}, {"probe", "--help"}}) {
    const Output output = RunTool(args);
    EXPECT_EQ(output.code, 0);
    EXPECT_THAT(output.out, HasSubstr("Exit codes: 0 fine; 1"));
    EXPECT_EQ(output.err, "");
  }
  EXPECT_THAT(RunTool({"--help"}).out, HasSubstr("filter"));
  EXPECT_THAT(RunTool({"probe", "--help"}).out, HasSubstr("--qualifier"));

  const Output version = RunTool({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out,
              MatchesRegex("sst_inspect [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(version.err, "");
}

TEST(SstInspect, WrongUsageIsExitCode2) {
  for (const auto& args : std::vector<std::vector<std::string>>{
           {},
           {"frobnicate"},
           {"filter"},
           {"filter", "--frobnicate", "a.sst"},
           {"probe", "a.sst"},
           {"probe", "--row", "r"},
           {"probe", "a.sst", "--row"},
           {"probe", "a.sst", "--row", "0", "--hex"},
           {"probe", "a.sst", "--row", "00", "--qualifier", "zz", "--hex"}}) {
    SCOPED_TRACE(testing::PrintToString(args));
    const Output output = RunTool(args);
    EXPECT_EQ(output.code, 2);
    EXPECT_EQ(output.out, "");
    EXPECT_THAT(output.err, StartsWith("sst_inspect: "));
    EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
  }
  EXPECT_THAT(RunTool({"probe", "a.sst", "--hex", "--row", "0g"}).err,
              HasSubstr("--row: \"0g\": expected two hex digits"));
  EXPECT_THAT(
      RunTool({"probe", "a", "--hex", "--row", "00", "--qualifier", "z"}).err,
      HasSubstr("--qualifier: "));
}

TEST(SstInspect, WhatIsNoSstIsExitCode2) {
  const TempDir dir;
  test::WriteFile(dir.File("text"), "just some text, no table at all");
  test::WriteFile(dir.File("empty"), "");
  std::filesystem::create_directory(dir.File("directory"));
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"filter"},
                                             {"probe", "--row", "r"}}) {
    const auto run = [&](const std::string& name) {
      std::vector<std::string> args = verb;
      args.push_back(dir.File(name));
      const Output output = RunTool(args);
      EXPECT_EQ(output.code, 2);
      EXPECT_EQ(output.out, "");
      EXPECT_THAT(output.err, StartsWith("sst_inspect: " + dir.File(name)));
      EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
      return output.err;
    };
    EXPECT_THAT(run("text"), HasSubstr("not a RocksDB table"));
    EXPECT_THAT(run("empty"), HasSubstr("not a RocksDB table: 0 bytes"));
    EXPECT_THAT(run("absent"), HasSubstr("cannot open"));
    EXPECT_THAT(run("directory"),
                HasSubstr("a directory without SSTs and HFiles"));
  }
}

TEST(SstInspect, WorstFileDecidesAndTheOthersAreProcessed) {
  const TempDir dir;
  const auto policy =
      test::RowbloomPolicy({.key_layout = KeyLayout::FixedRow(6)});
  for (const char* name : {"b.sst", "a.sst", "damaged.sst"}) {
    ASSERT_NO_FATAL_FAILURE(test::WriteSst({.policy = policy}, dir.File(name),
                                           test::NumberedKeys(100)));
  }
  const sst::BlockHandle filter =
      test::FilterHandle(dir.File("damaged.sst"), 0);
  const std::string bytes = test::ReadFile(dir.File("damaged.sst"));
  test::WriteByte(dir.File("damaged.sst"), filter.offset_bytes + 20,
                  static_cast<char>(bytes[filter.offset_bytes + 20] ^ 1));
  test::WriteFile(dir.File("not_listed"), "no SST, and not *.sst either");

  const Output findings = RunTool({"filter", dir.path().string()});
  EXPECT_EQ(findings.code, 1);
  EXPECT_EQ(findings.err, "");
  const size_t a = findings.out.find(dir.File("a.sst"));
  const size_t b = findings.out.find(dir.File("b.sst"));
  const size_t damaged = findings.out.find(dir.File("damaged.sst"));
  ASSERT_NE(damaged, std::string::npos) << findings.out;
  EXPECT_LT(a, b);
  EXPECT_LT(b, damaged);
  EXPECT_THAT(findings.out.substr(damaged), HasSubstr("  problem: "));
  EXPECT_THAT(findings.out.substr(0, damaged), Not(HasSubstr("problem")));

  const Output unreadable =
      RunTool({"filter", dir.File("not_listed"), dir.File("damaged.sst"),
               dir.File("a.sst")});
  EXPECT_EQ(unreadable.code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("not_listed: not a RocksDB table"));
  EXPECT_THAT(unreadable.out, HasSubstr(dir.File("a.sst")));

  EXPECT_EQ(RunTool({"filter", dir.File("a.sst")}).code, 0);
}

TEST(SstInspect, DamagedFooterIsAFinding) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst({}, path, test::NumberedKeys(10)));
  // The checksum type.
  test::WriteByte(path, test::ReadFile(path).size() - sst::kFooterBytes, 9);
  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("checksum type 9, expected 0 to 4"));
}

}  // namespace
}  // namespace rowbloom
