// --html: the page shows what layout and filter say, stays small, takes nothing
// from a file for markup, and works in a browser.
#include "tools/sst_inspect/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "rocksdb/slice_transform.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/outside.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/browser.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/sst_inspect/html_report.h"
#include "tools/table/table_file.h"

namespace rowbloom {
namespace {

using sst_inspect::FilePicture;
using sst_inspect::PictureBudget;
using table::BlockType;
using test::IsOk;
using test::Output;
using test::RunTool;
using test::SstSpec;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

size_t CountOf(const std::string& what, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// The texts that follow each `before`, up to the next character of `end`.
std::vector<std::string> AllBetween(const std::string& before,
                                    const std::string& end,
                                    const std::string& text) {
  std::vector<std::string> found;
  for (size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at)) {
    at += before.size();
    found.push_back(text.substr(at, text.find_first_of(end, at) - at));
  }
  return found;
}

// The number of blocks that layout lists.
std::string BlockCount(const std::string& path) {
  const Output layout = RunTool({"layout", "--json", path});
  return std::to_string(CountOf("\"record\":\"block\"", layout.out));
}

// A name that would be markup if it were taken for it.
constexpr const char* kHostile =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&amp;";

class HostileExtractor : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return kHostile; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), 3};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return key.size() >= 3;
  }
};

SstSpec Rowbloom(FilterKind kind, bool partitioned) {
  return {.policy = test::MakeFilterPolicy(
              {.key_layout = KeyLayout::FixedRow(7), .kind = kind}),
          .partitioned = partitioned,
          .change = [](auto* options, auto*) {
            options->compression = rocksdb::kLZ4Compression;
          }};
}

FilePicture Draw(const std::string& path, const PictureBudget& budget = {}) {
  std::unique_ptr<table::TableFile> file;
  EXPECT_THAT(table::OpenTable(path, &file), IsOk());
  FilePicture picture;
  EXPECT_THAT(sst_inspect::DrawFile(*file, budget, &picture), IsOk());
  return picture;
}

class Html : public testing::Test {
 protected:
  void Write(const SstSpec& spec, size_t keys, const std::string& path) {
    ASSERT_NO_FATAL_FAILURE(
        test::WriteSst(spec, path, test::NumberedKeys(keys)));
  }

  // The page of these files.
  std::string Page(std::vector<std::string> paths, int code = 0) {
    paths.insert(paths.begin(), {"layout", "--html", page_});
    const Output output = RunTool(paths);
    EXPECT_EQ(output.code, code);
    EXPECT_EQ(output.out, "");
    EXPECT_EQ(output.err, "");
    return test::ReadFile(page_);
  }

  // The path of a page that this process has not finished.
  static std::string UnfinishedPath(const std::string& page) {
    return page + "." + std::to_string(getpid()) + ".part";
  }

  // The path of a screenshot, which outlives the test.
  static std::string Artifact(const std::string& name) {
    std::filesystem::create_directories(ROWBLOOM_TEST_ARTIFACTS);
    return std::string(ROWBLOOM_TEST_ARTIFACTS) + "/" + name;
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
  const std::string page_ = dir_.File("page.html");
};

struct Piece {
  int type = 0;
  uint64_t bytes = 0;
  uint64_t pieces = 1;

  uint64_t size_bytes() const { return bytes; }
  bool BelongsWith(const Piece& next) const { return type == next.type; }
  void Join(const Piece& next) {
    bytes += next.bytes;
    pieces += next.pieces;
  }
};

TEST(MergingList, FewAreLeftApart) {
  sst_inspect::MergingList<Piece> list(8);
  for (uint64_t i = 0; i < 16; ++i) list.Add({.type = 1, .bytes = i});
  ASSERT_EQ(list.items().size(), 16U);
  EXPECT_EQ(list.items()[5].bytes, 5U);
}

TEST(MergingList, ManyAreJoinedEvenly) {
  sst_inspect::MergingList<Piece> list(64);
  for (uint64_t i = 0; i < 100'000; ++i) {
    list.Add({.type = i < 99'000 ? 1 : 2, .bytes = 100});
  }
  EXPECT_LE(list.items().size(), 128U);
  EXPECT_GE(list.items().size(), 32U);
  uint64_t pieces = 0;
  for (const Piece& piece : list.items()) {
    EXPECT_EQ(piece.bytes, 100 * piece.pieces);
    EXPECT_LE(piece.pieces, 100'000U / 64 * 4);
    pieces += piece.pieces;
  }
  EXPECT_EQ(pieces, 100'000U);
  EXPECT_EQ(list.items().front().type, 1);
  EXPECT_EQ(list.items().back().type, 2);
}

TEST(MergingList, StaysShortWhateverItIsGiven) {
  test::Random random(test::SeedFromEnv());
  for (const uint64_t types : {1, 2, 50}) {
    for (const uint64_t most_bytes : {1, 1000, 1'000'000'000}) {
      sst_inspect::MergingList<Piece> list(10);
      uint64_t bytes = 0;
      for (uint64_t i = 0; i < test::Scaled(20'000); ++i) {
        // Never the type of the neighbour, if there are several.
        list.Add({.type = static_cast<int>(i % types),
                  .bytes = random.Below(most_bytes)});
        ASSERT_LE(list.items().size(), 20U);
      }
      for (const Piece& piece : list.items()) bytes += piece.pieces;
      EXPECT_EQ(bytes, test::Scaled(20'000));
    }
  }
}

TEST(MergingList, StaysShortIfSizesAddUpToMoreThanAllNumbers) {
  for (const uint64_t bytes : {uint64_t{INT64_MAX}, uint64_t{UINT64_MAX}}) {
    sst_inspect::MergingList<Piece> list(10);
    for (int type = 0; type < 100; ++type) {
      list.Add({.type = type, .bytes = bytes});
      ASSERT_LE(list.items().size(), 20U);
    }
  }
}

TEST_F(Html, TextIsEscaped) {
  EXPECT_EQ(sst_inspect::EscapeHtml("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(sst_inspect::EscapeHtml(std::string_view("\0\n\x7f\xc3", 4)),
            "\\x00\\x0A\\x7F\\xC3");
}

TEST_F(Html, BlocksAreThoseOfLayout) {
  for (const bool partitioned : {false, true}) {
    Write(Rowbloom(FilterKind::kBloom, partitioned), 3000, path_);
    const std::string page = Page({path_});
    EXPECT_THAT(AllBetween("data-blocks=", ">", page),
                ElementsAre(BlockCount(path_)));
    EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(page, HasSubstr("<td class=number>100 %"));
    EXPECT_THAT(page, HasSubstr("ROWCOL, bloom"));
    // summary draws, too, and is the default.
    EXPECT_EQ(RunTool({path_, "--html", "-"}).out, page);

    const FilePicture picture = Draw(path_);
    uint64_t end = 0;
    uint64_t blocks = 0;
    for (const sst_inspect::BlockRun& run : picture.runs) {
      EXPECT_EQ(run.offset_bytes, end);
      end += run.stored_bytes;
      blocks += run.blocks;
    }
    EXPECT_EQ(end, std::filesystem::file_size(path_));
    EXPECT_EQ(blocks, picture.blocks);
    EXPECT_EQ(picture.runs.size(), blocks);
  }
}

// The bits of all pieces are those of the filter blocks.
TEST_F(Html, FillIsThatOfTheFilter) {
  const auto bits_set = [](const std::string& bytes) {
    uint64_t set = 0;
    for (const char byte : bytes) {
      set += static_cast<uint64_t>(
          std::popcount(static_cast<unsigned char>(byte)));
    }
    return set;
  };
  for (const bool partitioned : {false, true}) {
    for (const auto& policy : {test::StockBloom(), test::StockRibbon()}) {
      SCOPED_TRACE(policy->GetId());
      Write({.policy = policy, .partitioned = partitioned}, 5000, path_);
      uint64_t expected_set = 0;
      uint64_t expected_bytes = 0;
      for (std::string block : test::FilterBlocks(path_)) {
        block.resize(block.size() - 5);
        expected_set += bits_set(block);
        expected_bytes += block.size();
      }
      const FilePicture picture = Draw(path_, {.runs = 20, .buckets = 8});
      uint64_t set = 0;
      uint64_t bytes = 0;
      size_t last_part = 1;
      // RocksDB 11.1 can make the last part, a small one, a Bloom filter. The
      // file's properties have the number of keys of both kinds together.
      const bool is_one_kind = picture.sections.size() == 1;
      for (const sst_inspect::SectionPicture& section : picture.sections) {
        EXPECT_LE(section.buckets.size(), 16U);
        if (is_one_kind) {
          EXPECT_EQ(section.totals.keys, 5000U);
        }
        size_t partition = 1;
        for (const sst_inspect::FillBucket& bucket : section.buckets) {
          EXPECT_GE(bucket.first_part, partition);
          EXPECT_GE(bucket.last_part, bucket.first_part);
          partition = bucket.last_part;
          set += bucket.bits_set;
          bytes += bucket.bytes;
        }
        last_part = std::max(last_part, partition);
        EXPECT_EQ(section.note.find("equations") != std::string::npos,
                  section.what.second == "ribbon");
      }
      EXPECT_FALSE(picture.sections.empty());
      EXPECT_EQ(set, expected_set);
      EXPECT_EQ(bytes, expected_bytes);
      EXPECT_EQ(last_part, picture.filter_parts);
    }
  }
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    Write(Rowbloom(kind, true), 5000, path_);
    const FilePicture picture = Draw(path_);
    ASSERT_EQ(picture.sections.size(), 2U);
    for (const sst_inspect::SectionPicture& section : picture.sections) {
      uint64_t bytes = 0;
      for (const auto& bucket : section.buckets) bytes += bucket.bytes;
      EXPECT_EQ(bytes, section.totals.size_bytes);
      EXPECT_GT(bytes, 0U);
    }
  }
}

TEST_F(Html, NothingOfAFileIsMarkup) {
  // "</script>" is a folder "<" with a file in it, because of the slash.
  const std::string folder = dir_.path() / "x\n<";
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/script><script>alert(3)<\xff\">.sst";
  SstSpec spec{.policy = test::StockBloom()};
  spec.prefix_extractor = std::make_shared<HostileExtractor>();
  Write(spec, 500, path);
  ASSERT_THAT(RunTool({"summary", path}).out, HasSubstr(kHostile));
  const std::string page = Page({path});
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, HasSubstr("alert(3)&lt;\\xFF&quot;&gt;.sst"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(CountOf("<script", page), CountOf("</script>", page));
  EXPECT_EQ(CountOf("<script", page), 1 + CountOf("<canvas", page));
  for (const char c : page) {
    ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
  }
}

TEST_F(Html, PageNeedsNothingElse) {
  Write({.policy = test::StockBloom()}, 500, path_);
  const std::string page = Page({path_});
  for (const char* loads :
       {"http:", "https:", "src=", "href", "url(", "@import", "//", "fetch",
        "XMLHttpRequest", "<link", "import("}) {
    // Comments of the script start with //, too.
    const bool comment = std::string(loads) == "//";
    EXPECT_EQ(CountOf(loads, page), comment ? CountOf(" // ", page) : 0)
        << loads;
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST_F(Html, ManyBlocksMakeASmallPage) {
  SstSpec spec{.policy = test::StockBloom()};
  spec.change = [](auto*, auto* table) { table->block_size = 1; };
  const size_t keys = test::Scaled(100'000);
  Write(spec, keys, path_);
  const std::string page = Page({path_});
  const FilePicture picture = Draw(path_);
  EXPECT_EQ(picture.totals.at(BlockType::kData).blocks, keys);
  EXPECT_EQ(AllBetween("data-blocks=", ">", page).at(0), BlockCount(path_));
  EXPECT_LT(page.size(), 400'000U);
  EXPECT_LE(picture.runs.size(), 2 * PictureBudget().runs);
  if (keys > 10'000) {
    EXPECT_GT(picture.runs.size(), PictureBudget().runs / 2);
    EXPECT_THAT(page, HasSubstr(" pieces: neighbours of a type as one."));
  }
  // Many files share what there is.
  Write(spec, test::Scaled(5000), path_);
  const std::string shared = Page(std::vector<std::string>(50, path_));
  EXPECT_EQ(CountOf("<details class=file", shared), 50U);
  EXPECT_LT(shared.size(), 2'000'000U);
}

TEST_F(Html, DamageIsDrawnAndAFinding) {
  Write(Rowbloom(FilterKind::kBloom, false), 2000, path_);
  const std::string good = test::ReadFile(path_);
  test::WriteByte(path_, 10, static_cast<char>(good[10] ^ 1));
  const std::string block = Page({path_}, 1);
  EXPECT_THAT(block, HasSubstr("<span class=damaged>1 damaged</span>"));
  EXPECT_THAT(block, HasSubstr("<li>" + path_ + ": block at offset 0: "));
  test::WriteFile(path_, good);
  const sst::BlockHandle filter = test::FilterHandle(path_, 0);
  ASSERT_NO_FATAL_FAILURE(test::ChangeBlock(
      path_, filter, [](std::string* contents) { (*contents)[100] ^= 1; }));
  EXPECT_THAT(Page({path_}, 1), HasSubstr("<li>filter partition 1: ROW"));
}

// The page of a damaged file has the blocks that layout finds.
TEST_F(Html, DamageIsThatOfLayout) {
  test::Random random(test::SeedFromEnv());
  Write(Rowbloom(FilterKind::kBloom, true), 1000, path_);
  const std::string good = test::ReadFile(path_);
  for (uint64_t i = 0; i < test::Scaled(200); ++i) {
    const uint64_t at = random.Below(good.size());
    SCOPED_TRACE(at);
    test::WriteByte(path_, at,
                    static_cast<char>(good[at] ^ (1 << random.Below(8))));
    const Output layout = RunTool({"layout", "--json", path_});
    const Output page = RunTool({"layout", "--html", "-", path_});
    EXPECT_EQ(page.code, layout.code);
    if (page.out.empty()) {
      EXPECT_EQ(layout.out, "");
    } else {
      EXPECT_EQ(AllBetween("data-blocks=", ">", page.out).at(0),
                std::to_string(CountOf("\"record\":\"block\"", layout.out)));
      EXPECT_EQ(page.out.find("class=damaged") != std::string::npos,
                page.code != 0);
    }
    test::WriteByte(path_, at, good[at]);
  }
}

TEST_F(Html, OnlyPagesAreOverwritten) {
  Write({}, 100, path_);
  const std::string other = dir_.File("b.sst");
  std::filesystem::copy(path_, other);
  const std::string bytes = test::ReadFile(other);
  for (const std::string& target : {other, path_}) {
    const Output refused = RunTool({"layout", "--html", target, path_});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr(target + ": not overwritten"));
    EXPECT_EQ(test::ReadFile(target), bytes);
  }
  const std::string page = Page({path_});
  EXPECT_EQ(Page({path_}), page);
  // A file with the name of an unfinished page is not, either.
  const std::string part = UnfinishedPath(dir_.File("c.html"));
  std::filesystem::copy(path_, part);
  const Output refused =
      RunTool({"layout", "--html", dir_.File("c.html"), path_});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr(part + ": not overwritten"));
  EXPECT_EQ(test::ReadFile(part), bytes);
  EXPECT_EQ(RunTool({"layout", path_, "--html", dir_.path()}).code, 2);
  EXPECT_EQ(RunTool({"layout", path_, "--html", dir_.File("no/p")}).code, 2);
  EXPECT_EQ(RunTool({"layout", path_, "--html", "-", "--json"}).code, 2);
  EXPECT_EQ(RunTool({"layout", path_, "--html", ""}).code, 2);
  EXPECT_EQ(RunTool({"verify", path_, "--html", "-"}).code, 2);

  // Without any file there is no page, and the one before stays.
  const Output absent =
      RunTool({"layout", "--html", page_, dir_.File("absent")});
  EXPECT_EQ(absent.code, 2);
  EXPECT_EQ(test::Lines(absent.err).size(), 1U);
  EXPECT_EQ(test::ReadFile(page_), page);
  std::vector<std::string> many(1001, path_);
  many.insert(many.begin(), {"layout", "--html", page_});
  EXPECT_THAT(RunTool(many).err, HasSubstr("at most 1000 files, found 1001"));
  EXPECT_FALSE(std::filesystem::exists(UnfinishedPath(page_)));
}

// The directory may be everybody's.
TEST_F(Html, AFileThatCannotBeReadIsNotOverwritten) {
  namespace fs = std::filesystem;
  Write({}, 100, path_);
  const std::string other = dir_.File("b.sst");
  fs::copy(path_, other);
  fs::permissions(dir_.path(), fs::perms::all);
  fs::permissions(other, fs::perms::none);
  setfsuid(65534);  // root reads every file
  const Output refused = RunTool({"layout", "--html", other, path_});
  setfsuid(geteuid());
  EXPECT_EQ(refused.code, 2);
  fs::permissions(other, fs::perms::owner_all);
  EXPECT_EQ(test::ReadFile(other), test::ReadFile(path_));
}

// /dev/stdout is one, to a file if the shell has redirected it.
TEST_F(Html, ALinkIsNotReplaced) {
  Write({}, 100, path_);
  const std::string page = Page({path_});
  const std::string link = dir_.File("link.html");
  std::filesystem::create_symlink(dir_.File("b.html"), link);
  for (const char* run : {"first", "second"}) {
    SCOPED_TRACE(run);
    EXPECT_EQ(RunTool({"layout", "--html", link, path_}).code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(test::ReadFile(dir_.File("b.html")), page);
  }
}

// Somebody may guess the number of the process in a directory of several users.
TEST_F(Html, NoUnfinishedPageIsWrittenThroughALink) {
  Write({}, 100, path_);
  const std::string link = UnfinishedPath(dir_.File("c.html"));
  std::filesystem::create_symlink(dir_.File("other"), link);
  EXPECT_EQ(RunTool({"layout", "--html", dir_.File("c.html"), path_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(dir_.File("other")));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(Html, APageThatCannotTakeItsPlaceIsRemoved) {
  std::ostringstream out;
  std::ostringstream err;
  const cli::Diagnostics diagnostics{err};
  const cli::Output output{out, diagnostics};
  {
    sst_inspect::HtmlReport report(page_, "title", output);
    ASSERT_THAT(report.Open(), IsOk());
    std::filesystem::create_directory(page_);
    report.Add(sst_inspect::DatabaseTree{}, {});
    EXPECT_TRUE(report.Finish().IsIOError());
  }
  EXPECT_FALSE(std::filesystem::exists(UnfinishedPath(page_)));
}

TEST_F(Html, AnotherRunMayWriteTheSamePage) {
  Write({}, 100, path_);
  const std::string page = Page({path_});
  std::ostringstream out;
  std::ostringstream err;
  const cli::Diagnostics diagnostics{err};
  const cli::Output output{out, diagnostics};
  sst_inspect::HtmlReport report(page_, "title", output);
  ASSERT_THAT(report.Open(), IsOk());
  const pid_t other = fork();
  ASSERT_GE(other, 0);
  if (other == 0) _exit(RunTool({"layout", "--html", page_, path_}).code);
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(test::ReadFile(page_), page);
  report.Add(sst_inspect::DatabaseTree{}, {});
  EXPECT_THAT(report.Finish(), IsOk());
  EXPECT_NE(test::ReadFile(page_), page);
}

// A verb ends early for a signal and for output that nobody reads, in the same
// way.
TEST_F(Html, APageThatIsNotFinishedIsRemoved) {
  Write(Rowbloom(FilterKind::kBloom, false), 5000, path_);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(sst_inspect::Run({"layout", "--html", page_, path_},
                             {.in = in, .out = out, .err = {err}}),
            2);
  EXPECT_EQ(err.str(), "sst_inspect: cannot write to standard output\n");
  EXPECT_FALSE(std::filesystem::exists(page_));
  EXPECT_FALSE(std::filesystem::exists(UnfinishedPath(page_)));
}

TEST_F(Html, FullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  Write({}, 100, path_);
  const Output output = RunTool({"layout", "--html", "/dev/full", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("/dev/full: cannot write: No space left"));
}

// The page of a database, whose path is markup if it is taken for it.
class HtmlTree : public Html {
 protected:
  HtmlTree() {
    std::filesystem::create_directory(dir_.path() / "h<");
    rocksdb::Options options =
        test::TestDbOptions({.policy = test::MakeFilterPolicy(
                                 {.key_layout = KeyLayout::Delimited(':')})});
    options.level_compaction_dynamic_level_bytes = false;
    const auto db = test::OpenDb(options, db_);
    for (int file = 0; file < 4; ++file) {
      for (int row = 0; row < 500; ++row) {
        test::ExpectOk(
            db->Put({}, std::to_string(1000 * file + row) + ":q<", "v"));
      }
      test::ExpectOk(db->Flush({}));
      if (file == 1) {
        test::ExpectOk(db->CompactRange({}, nullptr, nullptr));
      }
    }
    test::ExpectOk(db->Close());
  }

  // The page by `tree --html` and these arguments.
  std::string TreePage(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), {"tree", "--html", page_, db_});
    const Output output = RunTool(arguments);
    EXPECT_EQ(output.code, code) << output.err;
    EXPECT_EQ(output.out, "");
    return test::ReadFile(page_);
  }

  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    const Output files = RunTool({"tree", "--files", "--json", db_});
    for (const auto& file : test::Records(files, "tree_file")) {
      paths.push_back(file.at("path"));
    }
    return paths;
  }

  const std::string db_ = dir_.path() / "h<" / "script><script>throw 1;";
};

TEST_F(HtmlTree, LevelsAreThoseOfTree) {
  const std::string page = TreePage({});
  EXPECT_EQ(CountOf("<h3>Family default</h3>", page), 1U);
  EXPECT_THAT(AllBetween("<h4>Level ", ":", page), ElementsAre("0", "1"));
  EXPECT_EQ(CountOf("<details class=file", page), 0U);
  EXPECT_THAT(page, Not(HasSubstr("<script>throw")));
  const auto drawn = AllBetween("{\"level\":", "\n", page);
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_THAT(drawn[0], StartsWith("0,\"runs\":[[1,0,"));
  EXPECT_THAT(drawn[0], HasSubstr("\"3000:q\\u003c\",\"3499:q\\u003c\"]"));
  EXPECT_EQ(CountOf("],[1,0,", drawn[0]), 1U);
  EXPECT_THAT(drawn[1], HasSubstr(",1000,"));  // entries of the merged file
  EXPECT_EQ(RunTool({"tree", db_, "--html", "-"}).out, page);
}

TEST_F(HtmlTree, FilesAreThoseOfLayout) {
  const std::string page = TreePage({"--files"});
  std::vector<std::string> blocks;
  for (const std::string& path : Paths()) blocks.push_back(BlockCount(path));
  EXPECT_EQ(blocks.size(), 3U);
  EXPECT_EQ(AllBetween("data-blocks=", ">", page), blocks);
}

TEST_F(HtmlTree, FilesThatCannotBeReadAreCountedAndTheRestIsDrawn) {
  const std::vector<std::string> paths = Paths();
  ASSERT_EQ(paths.size(), 3U);
  std::filesystem::remove(paths[0]);
  test::WriteFile(paths[1], "no table");
  const std::string page = TreePage({"--files"}, 1);
  EXPECT_THAT(page, HasSubstr("<td class=number>2 (2 NOT READ)"));
  EXPECT_THAT(page, Not(HasSubstr("<td class=number>0 %")));
  EXPECT_THAT(AllBetween("data-blocks=", ">", page),
              ElementsAre(BlockCount(paths[2])));
}

class HtmlInBrowser : public HtmlTree {
 protected:
  void SetUp() override {
    ROWBLOOM_SKIP_WITHOUT(test::kChromium, test::HaveProgram("chromium"));
  }
};

TEST_F(HtmlInBrowser, EveryFileIsDrawn) {
  const std::string hostile = dir_.path() / "h<";
  std::filesystem::create_directory(hostile);
  const std::vector<std::string> paths = {
      path_, dir_.File("ribbon.sst"), hostile + "/script><script>throw 1;.sst",
      dir_.File("many.sst")};
  Write(Rowbloom(FilterKind::kBloom, true), 5000, paths[0]);
  Write({.policy = test::StockRibbon()}, 5000, paths[1]);
  SstSpec spec{.policy = test::StockBloom()};
  spec.prefix_extractor = std::make_shared<HostileExtractor>();
  Write(spec, 1000, dir_.File("b.sst"));
  std::filesystem::rename(dir_.File("b.sst"), paths[2]);
  spec.change = [](auto*, auto* table) { table->block_size = 1; };
  Write(spec, test::Scaled(100'000), paths[3]);
  const std::string damaged = test::ReadFile(path_);
  test::WriteByte(path_, 10, static_cast<char>(damaged[10] ^ 1));

  std::string page = Page(paths, 1);
  // Opens all of them.
  page.insert(page.rfind("</body>"),
              "<script>for (const d of document.querySelectorAll('details')) "
              "d.open = true;</script>");
  test::WriteFile(page_, page);
  const test::ShownPage shown =
      test::ShowPage(page_, Artifact("sst_inspect_files.png"));
  EXPECT_THAT(shown.console, IsEmpty());
  std::vector<std::string> blocks;
  for (const std::string& drawing :
       AllBetween("class=\"drawing blocks\"", ">", shown.dom)) {
    blocks.push_back(AllBetween("data-drawn=\"", "\"", drawing).at(0));
  }
  EXPECT_THAT(blocks, ElementsAre(BlockCount(paths[0]), BlockCount(paths[1]),
                                  BlockCount(paths[2]), BlockCount(paths[3])));
  EXPECT_EQ(CountOf("class=\"drawing fill\" data-drawn=", shown.dom), 5U);
  EXPECT_EQ(CountOf("class=\"scale\"", shown.dom), 5U);
  EXPECT_GT(std::filesystem::file_size(Artifact("sst_inspect_files.png")),
            10'000U);
}

// The test does what a reader does with the pointer, the keys and the buttons.
TEST_F(HtmlInBrowser, FiguresAreShownForWhatIsChosen) {
  Write(Rowbloom(FilterKind::kBloom, false), 5000, path_);
  std::string page = Page({path_});
  test::WriteFile(page_, page);
  const test::ShownPage plain =
      test::ShowPage(page_, Artifact("sst_inspect_file.png"));
  EXPECT_THAT(plain.console, IsEmpty());

  page.insert(page.rfind("</body>"), R"(<script>
    const told = [];
    const [blocks, fill] = document.querySelectorAll(".drawing");
    const press = (drawing, key) => {
      drawing.querySelector("canvas").dispatchEvent(
        new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
      told.push(key + ": " + drawing.querySelector(".figures").textContent);
    };
    press(blocks, "Home");
    press(blocks, "End");
    press(blocks, "ArrowLeft");
    press(fill, "Home");
    const canvas = blocks.querySelector("canvas");
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(
      "pointermove", {clientX: box.left + 1, clientY: box.top + 1}));
    told.push("pointer: " + blocks.querySelector(".figures").textContent);
    told.push("value: " + canvas.getAttribute("aria-valuenow") + " " +
              canvas.getAttribute("aria-valuetext"));
    document.querySelector(".legend button[data-type=data]").click();
    told.push("drawn: " + blocks.dataset.drawn);
    press(blocks, "Home");
    for (const line of told) {
      const p = document.createElement("p");
      p.className = "told";
      p.textContent = line;
      document.body.append(p);
    }
  </script>)");
  test::WriteFile(page_, page);
  const test::ShownPage shown =
      test::ShowPage(page_, Artifact("sst_inspect_chosen.png"));
  EXPECT_THAT(shown.console, IsEmpty());
  const std::vector<std::string> told =
      AllBetween("<p class=\"told\">", "<", shown.dom);
  ASSERT_EQ(told.size(), 8U) << shown.dom;
  const FilePicture picture = Draw(path_);
  const auto first = std::to_string(picture.runs[0].stored_bytes);
  EXPECT_THAT(told[0], StartsWith("Home: data \xc2\xb7 offset 0 \xc2\xb7 " +
                                  first + " bytes stored"));
  EXPECT_THAT(told[0], HasSubstr("LZ4"));
  EXPECT_THAT(told[1], StartsWith("End: footer"));
  EXPECT_THAT(told[2], StartsWith("ArrowLeft: metaindex"));
  EXPECT_THAT(told[3], HasSubstr("% of bits set \xc2\xb7 64 bytes from byte 0 "
                                 "\xc2\xb7 partition 1"));
  EXPECT_EQ(told[4].substr(9), told[0].substr(6));
  EXPECT_EQ(told[5], "value: 1 " + told[4].substr(9));
  EXPECT_EQ(
      told[6],
      "drawn: " + std::to_string(picture.blocks -
                                 picture.totals.at(BlockType::kData).blocks));
  EXPECT_THAT(told[7], StartsWith("Home: filter"));
}

TEST_F(HtmlInBrowser, TreeIsDrawnAndOpensItsFiles) {
  std::string page = TreePage({"--files"});
  page.insert(page.rfind("</body>"), R"(<script>
    const tell = (text) => {
      const p = document.createElement("p");
      p.className = "told";
      p.textContent = text;
      document.body.append(p);
    };
    const [upper] = document.querySelectorAll(".drawing.level");
    const press = (key) => upper.querySelector("canvas").dispatchEvent(
      new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    press("End");
    tell(upper.querySelector(".figures").textContent);
    press("Enter");
    const open = document.querySelectorAll("details.file[open]");
    tell(open.length + " " + open[0].dataset.path);
  </script>)");
  test::WriteFile(page_, page);
  const test::ShownPage shown =
      test::ShowPage(page_, Artifact("sst_inspect_tree.png"));
  EXPECT_THAT(shown.console, IsEmpty());
  EXPECT_THAT(
      AllBetween("class=\"drawing level\" data-drawn=\"", "\"", shown.dom),
      ElementsAre("2", "1"));
  const std::vector<std::string> told =
      AllBetween("<p class=\"told\">", "\n", shown.dom);
  ASSERT_EQ(told.size(), 2U) << shown.dom;
  const std::string second = sst_inspect::EscapeHtml(Paths().at(1));
  EXPECT_THAT(told[0], StartsWith(second + " \xc2\xb7 "));
  EXPECT_THAT(told[0], HasSubstr(" 500 entries \xc2\xb7 "));
  EXPECT_THAT(told[0], HasSubstr("keys 2000:q&lt; to 2499:q&lt;"));
  EXPECT_THAT(told[1], StartsWith("1 " + second));
}

}  // namespace
}  // namespace rowbloom
