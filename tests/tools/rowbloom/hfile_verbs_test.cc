// export-hfile and import-hfile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/hfile.h"
#include "rowbloom/store.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/rowbloom/cli.h"

namespace rowbloom::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class HFileVerbs : public ::testing::Test {
 protected:
  // A store with rows r00, r01, ... of one cell in each family.
  std::string NewStore(const std::string& name, int rows) {
    const std::string db = dir_.File(name);
    std::unique_ptr<Store> store;
    EXPECT_THAT(
        Store::Open(
            {}, db,
            {{"latest", {}},
             {"v", {.timestamps = Timestamps::kClient, .max_versions = 3}}},
            &store),
        IsOk());
    for (int i = 0; i < rows; ++i) {
      const std::string row =
          std::string("r") + (i < 10 ? "0" : "") + std::to_string(i);
      EXPECT_THAT(store->Put(row, "latest", "q", "of " + row), IsOk());
      EXPECT_THAT(store->Put(row, "v", "q", "of " + row, {.timestamp_ms = 7}),
                  IsOk());
    }
    return db;
  }
  // The number of files of a family in an export.
  size_t Files(const std::string& directory) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(directory)) {
      ++count;
    }
    return count;
  }

  TempDir dir_;
  const std::string out_ = dir_.File("out");
};

TEST_F(HFileVerbs, GoOutAndComeIn) {
  const std::string from = NewStore("from", 20);
  WriteFile(dir_.File("regions"), "r05\r\n\nr\\x31\x30\n");
  CliResult result =
      Cli({"export-hfile", "--db", from, "--regions", dir_.File("regions"),
           "--compression", "zstd", "--codec-classes", "Native", out_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(
      result.out,
      MatchesRegex("6 files, 40 cells, [0-9]+ bytes, [0-9.]+ seconds\n"));
  EXPECT_EQ(Files(out_ + "/v"), 3u);
  const std::string to = NewStore("to", 0);
  result = Cli({"import-hfile", "--db", to, "--latest-as-new", out_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              MatchesRegex("6 files, 40 cells, 40 puts, 0 deletes, 0 skipped, "
                           "0 without tags, 0 left out, [0-9.]+ seconds\n"));
  EXPECT_EQ(Cli({"get", "--db", to, "r13", "latest:q"}).out, "of r13\n");
  EXPECT_EQ(Cli({"get", "--db", to, "r13", "v:q"}).out, "of r13\n");
}

TEST_F(HFileVerbs, FilesHaveTheEncodingAskedFor) {
  const std::string from = NewStore("from", 20);
  const std::string to = NewStore("to", 0);
  for (const std::string encoding :
       {"NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"}) {
    const std::string out = dir_.File(encoding);
    CliResult result = Cli({"export-hfile", "--db", from, "--family", "v",
                            "--encoding", encoding, out});
    EXPECT_EQ(result.code, 0) << result.err;
    std::unique_ptr<HFileReader> file;
    ASSERT_THAT(
        HFileReader::Open(
            {},
            std::filesystem::directory_iterator(out + "/v")->path().string(),
            &file),
        IsOk());
    const auto info = file->file_info().find("DATA_BLOCK_ENCODING");
    EXPECT_EQ(info == file->file_info().end() ? "NONE" : info->second,
              encoding);
    result = Cli({"import-hfile", "--db", to, out});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(", 20 puts, "));
  }
  EXPECT_EQ(
      Cli({"export-hfile", "--db", from, "--encoding", "fast", out_}).code, 2);
}

// The bulk load rewrites a file that crosses a region's end, and asks for the
// length of prefixes then.
TEST_F(HFileVerbs, WarnOfFiltersOfRowPrefixes) {
  const std::string from = dir_.File("from");
  ASSERT_EQ(Cli({"create", "--db", from, "--family",
                 "p,bloom=ROWPREFIX_FIXED_LENGTH,prefix=4", "--family", "q"})
                .code,
            0);
  const std::string warning =
      "warning: family \"p\" has a filter of row prefixes; where one of its "
      "files crosses a region's end, the bulk load needs "
      "-DRowPrefixBloomFilter.prefix_length=4; with --regions none does";
  ASSERT_EQ(Cli({"put", "--db", from, "row1", "p:q", "v"}).code, 0);
  ASSERT_EQ(Cli({"put", "--db", from, "row1", "q:q", "v"}).code, 0);
  EXPECT_EQ(Cli({"export-hfile", "--db", from, out_}).err, "");
  ASSERT_EQ(Cli({"put", "--db", from, "row2", "p:q", "v"}).code, 0);
  const CliResult result = Cli({"export-hfile", "--db", from, out_ + "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr(warning));
  WriteFile(dir_.File("regions"), "row2\n");
  EXPECT_EQ(Cli({"export-hfile", "--db", from, "--regions",
                 dir_.File("regions"), out_ + "3"})
                .err,
            "");
}

TEST_F(HFileVerbs, SummariesAreObjectsOnRequest) {
  CliResult result =
      Cli({"export-hfile", "--db", NewStore("from", 2), "--json", out_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, MatchesRegex(R"(\{"files":2,"cells":4,"bytes":.*\})"
                                       "\n"));
  result = Cli({"import-hfile", "--db", NewStore("to", 0), "--latest-as-new",
                "--json", out_});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      MatchesRegex(
          R"(\{"files":2,"cells":4,"puts":4,"deletes":0,"skipped":0,.*\})"
          "\n"));
}

TEST_F(HFileVerbs, DeletesGoAlongWhenAskedFor) {
  const std::string from = NewStore("from", 2);
  {
    std::unique_ptr<Store> store;
    ASSERT_THAT(Store::Open({}, from, {}, &store), IsOk());
    ASSERT_THAT(store->Delete("r00", "v", "q", {.timestamp_ms = 8}), IsOk());
  }
  CliResult result = Cli({"export-hfile", "--db", from, "--family", "v", out_});
  EXPECT_THAT(result.out, HasSubstr("1 files, 1 cells"));
  result = Cli({"export-hfile", "--db", from, "--family", "v", "--keep-deletes",
                out_ + "2"});
  EXPECT_THAT(result.out, HasSubstr("1 files, 2 cells"));
  // They delete what another store has.
  const std::string to = NewStore("to", 2);
  result = Cli({"import-hfile", "--db", to, out_ + "2"});
  EXPECT_THAT(result.out, HasSubstr("1 puts, 1 deletes"));
  EXPECT_EQ(Cli({"get", "--db", to, "r00", "v:q"}).code, 1);
  EXPECT_EQ(Cli({"get", "--db", to, "r01", "v:q"}).code, 0);
  // All into one family.
  result = Cli({"import-hfile", "--db", to, "--family", "latest",
                "--latest-as-new", out_ + "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 puts, 0 deletes"));
}

// HBase wrote the snapshot, and these cells are in it.
TEST_F(HFileVerbs, ASnapshotBecomesAStore) {
  const std::string exported = DataPath("hbase/snapshot/export");
  const std::string db = dir_.File("orders");
  const std::string families =
      "new family f,bloom=ROW,rate=0.01,kind=bloom,prefix=0,compression=none,"
      "bottom_compression=same,dictionary=0,min_blob=0,"
      "block=4096,timestamps=client,versions=3,min_versions=0,ttl=forever\n"
      "new family g,bloom=ROWCOL,rate=0.01,kind=bloom,prefix=0,compression=lz4,"
      "bottom_compression=same,dictionary=0,min_blob=0,"
      "block=8192,timestamps=client,versions=1,min_versions=0,ttl=forever\n";
  CliResult result = Cli({"import-hfile", "--db", db, "--dry-run", "--snapshot",
                          exported, "orders-20261122"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(MatchesRegex("16 files, [0-9]+ cells, .*\na dry run, nothing "
                         "was imported\n(.*\n)*"),
            HasSubstr(families)));
  EXPECT_FALSE(std::filesystem::exists(db));
  result = Cli(
      {"import-hfile", "--db", db, "--snapshot", exported, "orders-20261122"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr(families));
  EXPECT_THAT(
      result.out,
      MatchesRegex("16 files, [0-9]+ cells, [0-9]+ puts, [0-9]+ deletes, "
                   "[0-9]+ skipped, .*, [0-9.]+ seconds\n"
                   "new family f.*\nnew family g.*\n"
                   "passed over: 6 files of regions that were split or "
                   "merged\n"));
  EXPECT_EQ(Cli({"get", "--db", db, "user00000/detail", "f:"}).out,
            "value-32412\n");
  // The import takes some rows of a family into a store that exists.
  const std::string some = NewStore("some", 0);
  result = Cli({"import-hfile", "--db", some, "--snapshot", exported,
                "orders-20261122", "--only", "f", "--start",
                "user00000/det\\x61il", "--stop", "user00001", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("\"left_out\":0"),
                    HasSubstr("\"passed_over\":{\"files of regions that were "
                              "split or merged\":3}")));
  EXPECT_EQ(Cli({"get", "--db", some, "user00000/detail", "f:"}).out,
            "value-32412\n");
  EXPECT_EQ(Cli({"get", "--db", some, "user00001", "f:"}).code, 1);
  EXPECT_EQ(Cli({"get", "--db", some, "user00000/detail", "g:"}).code, 2);
  // A directory without the snapshot makes no store.
  result = Cli({"import-hfile", "--db", dir_.File("none"), "--snapshot",
                exported, "nothing"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("/.hbase-snapshot/nothing/.snapshotinfo"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("none")));
  EXPECT_EQ(Cli({"import-hfile", "--db", db, "--snapshot", exported}).code, 2);
  EXPECT_THAT(Cli({"import-hfile", "--db", db, "path", "--snapshot", exported,
                   "orders-20261122"})
                  .err,
              HasSubstr("excludes"));
}

TEST_F(HFileVerbs, LeaveOutDamagedFilesWhenAsked) {
  const std::string from = NewStore("from", 3);
  ASSERT_EQ(Cli({"export-hfile", "--db", from, "--family", "v", out_}).code, 0);
  WriteFile(out_ + "/v/0123456789abcdef", "no HFile");
  WriteFile(out_ + "/.DS_Store", "");
  const std::string to = NewStore("to", 0);
  CliResult result = Cli({"import-hfile", "--db", to, out_});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr(out_ + "/v/0123456789abcdef"),
                                HasSubstr("nothing was imported")));
  EXPECT_EQ(Cli({"scan", "--db", to}).out, "");
  result = Cli({"import-hfile", "--db", to, "--keep-going", out_});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr(out_ + "/v/0123456789abcdef"),
                                HasSubstr("; the file was left out\n")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 files, 3 cells, 3 puts"),
                                HasSubstr("passed over: 1 .DS_Store\n")));
  EXPECT_EQ(Cli({"get", "--db", to, "r02", "v:q"}).out, "of r02\n");
}

TEST_F(HFileVerbs, SayHowFarTheyAreOnATerminal) {
  // Only the end of a long path is shown.
  const std::string title = "/out: ";
  ASSERT_TRUE(out_.ends_with("/out"));
  const std::string from = NewStore("from", 2);
  std::istringstream nothing;
  CliResult result = Cli({"export-hfile", "--db", from, out_}, nothing,
                         /*err_is_terminal=*/true);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr(title), HasSubstr("cells/s")));
  const std::string to = NewStore("to", 0);
  result = Cli({"import-hfile", "--db", to, "--latest-as-new", out_}, nothing,
               /*err_is_terminal=*/true);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr(title), HasSubstr("cells/s")));
}

// A terminal at which somebody presses Ctrl-C when something is shown.
class ImpatientTerminal : public std::ostream {
 public:
  explicit ImpatientTerminal(int signal)
      : std::ostream(nullptr), buffer_(signal) {
    rdbuf(&buffer_);
  }
  std::string text() const { return buffer_.str(); }

 private:
  class Buffer : public std::stringbuf {
   public:
    explicit Buffer(int signal) : signal_(signal) {}

   protected:
    // A second one would end the process.
    std::streamsize xsputn(const char* bytes, std::streamsize count) override {
      if (const int signal = std::exchange(signal_, 0); signal != 0) {
        std::raise(signal);
      }
      return std::stringbuf::xsputn(bytes, count);
    }

   private:
    int signal_;
  };

  Buffer buffer_;
};

TEST_F(HFileVerbs, LeaveNothingWhenTheyAreInterrupted) {
  // The parent of this process may have the signal ignored.
  std::signal(SIGINT, SIG_DFL);
  const std::string from = NewStore("from", 2);
  const std::string to = NewStore("to", 0);
  std::istringstream in;
  std::ostringstream out;
  const auto interrupted = [&](const std::vector<std::string>& args) {
    ImpatientTerminal err(SIGINT);
    const int code = cli::Run(args, {.in = in, .out = out, .err = {err, true}});
    EXPECT_EQ(code, 130);
    EXPECT_EQ(out.str(), "");
    return err.text();
  };
  EXPECT_THAT(interrupted({"export-hfile", "--db", from, out_}),
              HasSubstr("interrupted; nothing was exported\n"));
  EXPECT_FALSE(std::filesystem::exists(out_));
  ASSERT_EQ(Cli({"export-hfile", "--db", from, out_}).code, 0);
  EXPECT_THAT(
      interrupted({"import-hfile", "--db", to, "--latest-as-new", out_}),
      HasSubstr("interrupted; nothing was imported\n"));
  EXPECT_EQ(Cli({"scan", "--db", to}).out, "");
  for (const auto& entry : std::filesystem::directory_iterator(to)) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
  // The next one is not interrupted.
  EXPECT_EQ(Cli({"import-hfile", "--db", to, "--latest-as-new", out_}).code, 0);
}

TEST_F(HFileVerbs, WarnOfMoreFilesThanABulkLoadTakes) {
  const std::string from = NewStore("from", 33);
  const CliResult result = Cli({"export-hfile", "--db", from, "--family", "v",
                                "--max-file-bytes", "1", out_});
  // A file is as large as that when a block of it was written.
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  {
    std::unique_ptr<Store> store;
    ASSERT_THAT(Store::Open({}, from, {}, &store), IsOk());
    for (int row = 100; row < 140; ++row) {
      for (const char* qualifier : {"a", "b"}) {
        ASSERT_THAT(store->Put(std::to_string(row), "v", qualifier,
                               std::string(70'000, 'v'), {.timestamp_ms = 7}),
                    IsOk());
      }
    }
  }
  const CliResult many = Cli({"export-hfile", "--db", from, "--family", "v",
                              "--max-file-bytes", "1", out_ + "2"});
  EXPECT_EQ(many.code, 0);
  EXPECT_THAT(many.err, AllOf(HasSubstr("warning: 41 files for one region"),
                              HasSubstr("perRegion.perFamily=41\n")));
  EXPECT_EQ(Files(out_ + "2/v"), 41u);
}

TEST_F(HFileVerbs, FailuresSayWhatWasDone) {
  const std::string from = NewStore("from", 2);
  const auto fails = [](const std::vector<std::string>& args,
                        const std::vector<std::string>& parts) {
    const CliResult result = Cli(args);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    for (const std::string& part : parts) {
      EXPECT_THAT(result.err, HasSubstr(part));
    }
  };
  fails({"export-hfile", "--db", from}, {"OUT is required"});
  fails({"export-hfile", "--db", dir_.File("none"), out_}, {"no store"});
  fails({"export-hfile", "--db", from, "--family", "x", out_},
        {"family \"x\"", "nothing was exported"});
  fails({"export-hfile", "--db", from, "--compression", "lzo", out_}, {"lzo"});
  for (const char* bytes : {"0", "-1", "0x10", "18446744073709551616"}) {
    fails({"export-hfile", "--db", from, "--max-file-bytes", bytes, out_},
          {bytes});
  }
  fails({"export-hfile", "--db", from, "--regions", dir_.File("none"), out_},
        {"/none: No such file"});
  WriteFile(dir_.File("long"), "a\n" + std::string(200'000, 'r'));
  fails({"export-hfile", "--db", from, "--regions", dir_.File("long"), out_},
        {"/long:2: expected a line of at most", "found a longer one"});
  fails({"export-hfile", "--db", from, from},
        {from, "expected a new or empty directory", "nothing was exported"});
  EXPECT_FALSE(std::filesystem::exists(out_));
  fails({"import-hfile", "--db", from}, {"PATH or --snapshot is required"});
  fails({"import-hfile", "--db", dir_.File("none"), out_}, {"no store"});
  EXPECT_FALSE(std::filesystem::exists(dir_.File("none")));
  fails({"import-hfile", "--db", from, out_}, {out_, "nothing was imported"});
  ASSERT_EQ(Cli({"export-hfile", "--db", from, out_}).code, 0);
  fails({"import-hfile", "--db", from, out_},
        {"family \"latest\"", "latest_as_new", "nothing was imported"});
}

}  // namespace
}  // namespace rowbloom::test
