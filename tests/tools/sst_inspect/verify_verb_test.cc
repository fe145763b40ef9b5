// `sst_inspect verify`: whole files are fine, with each option; what is wrong
// is found, named, and gives the exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rowbloom/filter_policy.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/outside.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/sst/data_cursor.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/table/table_file.h"

namespace rowbloom {
namespace {

using test::IsOk;
using test::MemoryOf;
using test::Output;
using test::RunFine;
using test::RunTool;
using test::SstSpec;
using testing::HasSubstr;
using testing::Not;

class Verify : public test::SstTest {
 protected:
  void Write(const SstSpec& spec, size_t keys = 2000) {
    ASSERT_NO_FATAL_FAILURE(SstTest::Write(spec, keys));
    ASSERT_THAT(sst::SstFile::Open(path_, &file_), IsOk());
  }

  void ExpectFinding(const std::string& text) {
    const Output output = RunTool({"verify", path_});
    EXPECT_EQ(output.code, 1) << output.out << output.err;
    EXPECT_EQ(output.err, "");
    EXPECT_THAT(output.out, HasSubstr("problem: "));
    EXPECT_THAT(output.out, HasSubstr(text));
    EXPECT_THAT(output.out, HasSubstr("verdict   damaged"));
    EXPECT_EQ(RunTool({"verify", "--json", path_}).code, 1);
  }

  // The first data block.
  sst::BlockHandle FirstBlock() const {
    sst::IndexCursor index(*file_);
    EXPECT_TRUE(index.Next());
    return index.handle();
  }

  std::unique_ptr<sst::SstFile> file_;
};

TEST_F(Verify, WholeFilesAreFineAndEveryKeyIsProbed) {
  const auto extractor = std::shared_ptr<const rocksdb::SliceTransform>(
      rocksdb::NewFixedPrefixTransform(7));
  struct Case {
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    uint32_t version = 5;
    std::string asked;
  };
  const std::vector<Case> cases = {
      {nullptr, 5, "filter    none"},
      {test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)}), 5,
       "2,000 keys and 2,000 rows or prefixes probed, 0 false"},
      {test::MakeFilterPolicy(
           {.key_layout = KeyLayout::FixedRow(8), .kind = FilterKind::kRibbon}),
       5, "2,000 keys and 2,000 rows or prefixes probed, 0 false"},
      {test::StockBloom(), 5,
       "2,000 keys and 2,000 rows or prefixes probed, 0 false"},
      {test::StockRibbon(), 5,
       "2,000 keys and 2,000 rows or prefixes probed, 0 false"},
      {test::StockBloom(), 4,
       "2,000 keys and 2,000 rows or prefixes probed, 0 false"},
      {test::StockBloom(), test::kLatestFormatVersion,
       "2,000 keys and 2,000 rows or prefixes probed, 0 false"}};
  for (const Case& tested : cases) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(tested.asked);
      Write({.format_version = tested.version,
             .policy = tested.policy,
             .prefix_extractor = extractor,
             .partitioned = partitioned,
             .partition_bytes = 256});
      const Output output = RunFine({"verify", path_});
      EXPECT_EQ(output.err, "");
      EXPECT_THAT(output.out, HasSubstr("cells     2,000\n"));
      EXPECT_THAT(output.out, HasSubstr(tested.asked));
      EXPECT_THAT(output.out, HasSubstr("verdict   fine"));
      EXPECT_THAT(output.out, Not(HasSubstr("note")));
    }
  }
}

// Makes other prefixes than its name says.
class WrongPrefix : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "rocksdb.FixedPrefix.3"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), 2};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return key.size() >= 3;
  }
};

// Nothing of a key without a prefix is in the filter then.
TEST_F(Verify, FiltersWithoutWholeKeysAreProbedForPrefixesAlone) {
  const KeyLayout layout = KeyLayout::Delimited(':');
  // Writes a file, and tells where it is.
  const auto write =
      [&](const std::shared_ptr<const rocksdb::SliceTransform>& extractor,
          const std::string& db_path) {
        const auto db = test::OpenDb(
            test::TestDbOptions(
                {.policy = test::MakeFilterPolicy({.key_layout = layout}),
                 .extractor = extractor,
                 .whole_key_filtering = false}),
            db_path);
        for (const char* key : {"a", "outside", "row:q", "row:r", "rows:q"}) {
          EXPECT_THAT(db->Put({}, key, "v"), IsOk());
        }
        EXPECT_THAT(db->Flush({}), IsOk());
        std::vector<rocksdb::LiveFileMetaData> files;
        db->GetLiveFilesMetaData(&files);
        EXPECT_EQ(files.size(), 1u);
        return db_path + "/" + files.at(0).relative_filename;
      };
  const std::shared_ptr<const rocksdb::SliceTransform> fixed(
      rocksdb::NewFixedPrefixTransform(3));
  for (const auto& extractor : {NewRowPrefixExtractor(layout), fixed}) {
    SCOPED_TRACE(extractor->Name());
    const std::string file = write(extractor, dir_.File(extractor->Name()));
    const Output verified = RunFine({"verify", file});
    EXPECT_THAT(verified.out, HasSubstr(std::string("0 keys and ") +
                                        (extractor == fixed ? "4" : "3") +
                                        " rows or prefixes probed, 0 false"));
    for (const char* key : {"a", "outside", "row:q", "rows:q"}) {
      const Output probed = RunFine({"probe", "--key", key, file});
      EXPECT_THAT(probed.out, HasSubstr("verdict         may be there"));
    }
    EXPECT_THAT(RunTool({"probe", "--key", "none:q", file}).out,
                HasSubstr("verdict         not there"));
    EXPECT_EQ(RunTool({"probe", "--row", "row", file}).code, 0);
  }
  const std::string wrong =
      write(std::make_shared<WrongPrefix>(), dir_.File("wrong"));
  const Output found = RunTool({"verify", wrong});
  EXPECT_EQ(found.code, 1);
  EXPECT_THAT(found.out, HasSubstr("false negative: prefix "));
  EXPECT_EQ(RunTool({"probe", "--key", "row:q", wrong}).code, 1);
}

TEST_F(Verify, FilesInReverseOrderAreFine) {
  std::vector<std::string> keys = test::NumberedKeys(2000);
  std::reverse(keys.begin(), keys.end());
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = test::StockBloom(),
                      .comparator = rocksdb::ReverseBytewiseComparator(),
                      .partitioned = true},
                     path_, keys));
  const Output output = RunFine({"verify", path_});
  EXPECT_THAT(output.out, HasSubstr("2,000 keys"));
}

// Some check finds every byte that was changed.
TEST_F(Verify, EveryFlippedByteIsAFinding) {
  test::Random random(test::SeedFromEnv());
  Write({.policy = test::StockBloom(),
         .partitioned = true,
         .partition_bytes = 256,
         .change = [](auto* options,
                      auto*) { options->compression = rocksdb::kZSTD; }},
        500);
  const std::string good = test::ReadFile(path_);
  // No checksum covers the sequence number of ingested files, or the footer's
  // padding.
  const std::string sequence = "external_sst_file.global_seqno";
  const size_t unchecked = good.find(sequence) + sequence.size();
  const uint64_t steps = test::Scaled(400);
  for (uint64_t i = 0; i < steps; ++i) {
    const uint64_t at = random.Below(good.size() - sst::kFooterBytes);
    if (at >= unchecked && at < unchecked + 8) continue;
    test::WriteByte(path_, at,
                    static_cast<char>(good[at] ^ (1 << random.Below(8))));
    const Output output = RunTool({"verify", path_});
    EXPECT_EQ(output.code, 1) << "byte " << at << "\n"
                              << output.out << output.err;
    test::WriteByte(path_, at, good[at]);
  }
  EXPECT_EQ(RunTool({"verify", path_}).code, 0);
}

TEST_F(Verify, FalseNegativesAreFindings) {
  for (const bool partitioned : {false, true}) {
    Write({.policy = test::StockBloom(), .partitioned = partitioned});
    test::ChangeBlock(path_, test::FilterHandle(path_, 0),
                      [](std::string* contents) {
                        // All bits but those of the tail.
                        std::fill(contents->begin(), contents->end() - 5, '\0');
                      });
    ExpectFinding(
        "false negative: key key000000 is in the file, filter "
        "partition 1 says it is not");
    // Probe finds it for one key, too.
    const Output probe = RunTool({"probe", "--key", "key000000", path_});
    EXPECT_EQ(probe.code, 1);
    EXPECT_THAT(probe.out, HasSubstr("problem: false negative"));
  }
}

TEST_F(Verify, DamagedFilterSectionsAreFindings) {
  Write({.policy =
             test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)})});
  test::ChangeBlock(path_, test::FilterHandle(path_, 0),
                    [](std::string* contents) { (*contents)[100] ^= 1; });
  ExpectFinding("filter partition 1: ROW section at offset 8");
}

// Keys are whole.
const SstSpec kWithoutDeltas = {
    .change = [](auto*, auto* table) { table->use_delta_encoding = false; }};

// The checksums are right, the contents are not.
TEST_F(Verify, KeysOutOfOrderAndTypesThatDataHasNotAreFindings) {
  for (const auto& [place, byte, finding] :
       {std::tuple(8, '0', "key key000000@0 out of order after key000001"),
        std::tuple(9, '\x0c', "key key000002 has type 0x0c")}) {
    Write(kWithoutDeltas);
    test::ChangeBlock(path_, FirstBlock(),
                      [place = place, byte = byte](std::string* contents) {
                        contents->at(contents->find("key000002") + place) =
                            byte;
                      });
    ExpectFinding(finding);
  }
}

TEST_F(Verify, AnIndexThatDisagreesIsAFinding) {
  Write(kWithoutDeltas);
  // The last key of the first block moves behind its index key.
  std::string last;
  sst::DataCursor data(*file_);
  ASSERT_TRUE(data.NextBlock());
  while (data.NextEntry()) last = data.key().user_key;
  test::ChangeBlock(path_, FirstBlock(), [&](std::string* contents) {
    const size_t at = contents->find(last);
    ASSERT_NE(at, std::string::npos);
    (*contents)[at + 3] = '9';
  });
  ExpectFinding("up to which the index says it goes");
}

TEST_F(Verify, PropertiesThatDisagreeAreFindings) {
  Write({}, 2000);
  test::ChangeBlock(
      path_, file_->meta_blocks().find("rocksdb.properties")->second,
      [](std::string* contents) {
        sst::EntryCursor entries(*contents, sst::ValueForm::kSized);
        while (entries.Next() && entries.key() != "rocksdb.num.entries") {
        }
        // 2000 as a varint becomes 2001.
        ASSERT_EQ(entries.value(), "\xd0\x0f");
        (*contents)[entries.value_offset_bytes()] = '\xd1';
      });
  ExpectFinding("properties say 2001 entries, found 2000");
}

// RocksDB before 6.0 does not count range deletions as entries and deletions.
TEST_F(Verify, CountsOfEarlierVersionsAreFine) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), test::MakeOptions({}));
  ASSERT_TRUE(writer.Open(path_).ok());
  ASSERT_TRUE(writer.Put("a", "v").ok());
  ASSERT_TRUE(writer.DeleteRange("b", "c").ok());
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(sst::SstFile::Open(path_, &file_).ok());
  for (const auto& [name, count] : {std::pair("rocksdb.num.entries", '\1'),
                                    std::pair("rocksdb.deleted.keys", '\0')}) {
    test::ChangeBlock(
        path_, file_->meta_blocks().find("rocksdb.properties")->second,
        [name = name, count = count](std::string* contents) {
          sst::EntryCursor entries(*contents, sst::ValueForm::kSized);
          while (entries.Next() && entries.key() != name) {
          }
          ASSERT_EQ(entries.value(), std::string(1, count + 1));
          (*contents)[entries.value_offset_bytes()] = count;
        });
    RunFine({"verify", path_});
  }
}

TEST_F(Verify, GoesOnBehindDamage) {
  Write({.partitioned = true, .partition_bytes = 256});
  const std::string good = test::ReadFile(path_);
  sst::IndexCursor index(*file_);
  std::vector<sst::BlockHandle> blocks;
  while (index.Next()) blocks.push_back(index.handle());
  for (const size_t i : {size_t{1}, size_t{5}}) {
    const uint64_t at = blocks[i].offset_bytes;
    test::WriteByte(path_, at, static_cast<char>(good[at] ^ 1));
  }
  const Output output = RunTool({"verify", path_});
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.out, HasSubstr(", 2 damaged"));
}

// An entry shares more bytes with the key before than that key has; the
// checksum of the block is right.
TEST_F(Verify, AMalformedIndexOfPartitionsIsFound) {
  for (const int number : {0, 2}) {
    Write({.partitioned = true, .partition_bytes = 256});
    const sst::BlockHandle top = *file_->index().handle;
    test::ChangeBlock(path_, top, [&](std::string* contents) {
      sst::EntryCursor entries(*contents, sst::ValueForm::kHandle);
      for (int i = 0; i <= number; ++i) ASSERT_TRUE(entries.Next());
      contents->at(contents->find(entries.key()) - 2) = '\x7f';
    });
    for (const char* const verb : {"verify", "layout"}) {
      const Output output = RunTool({verb, path_});
      EXPECT_EQ(output.code, 1) << verb << output.out;
      EXPECT_THAT(output.out + output.err,
                  HasSubstr("offset " + std::to_string(top.offset_bytes)))
          << verb;
    }
    EXPECT_THAT(RunTool({"verify", path_}).out, HasSubstr("problems  1\n"));
  }
}

TEST_F(Verify, EachDamagedPartitionOfTheIndexIsToldOnce) {
  Write({.partitioned = true, .partition_bytes = 256});
  const std::string good = test::ReadFile(path_);
  sst::IndexCursor index(*file_);
  std::map<size_t, sst::BlockHandle> partitions;
  while (index.Next()) partitions[index.partition()] = index.block();
  ASSERT_GT(partitions.size(), 4U);
  std::vector<std::string> offsets;
  for (const size_t i : {size_t{2}, size_t{4}}) {
    const uint64_t at = partitions[i].offset_bytes;
    test::WriteByte(path_, at, static_cast<char>(good[at] ^ 1));
    offsets.push_back("block at offset " + std::to_string(at) + ": ");
  }
  const Output verify = RunTool({"verify", path_});
  EXPECT_EQ(verify.code, 1);
  const Output layout = RunTool({"layout", path_});
  EXPECT_EQ(layout.code, 1);
  EXPECT_EQ(layout.err, "");
  for (const std::string& offset : offsets) {
    for (const std::string& out : {verify.out, layout.out}) {
      const size_t first = out.find(offset);
      ASSERT_NE(first, std::string::npos) << out;
      EXPECT_EQ(out.find(offset, first + 1), std::string::npos) << out;
    }
  }
}

TEST_F(Verify, ADamagedIndexOfPartitionsIsToldOnce) {
  Write({.policy = test::StockBloom(),
         .partitioned = true,
         .partition_bytes = 256});
  const std::string good = test::ReadFile(path_);
  for (const uint64_t at : {file_->index().handle->offset_bytes,
                            file_->filter().handle.offset_bytes}) {
    test::WriteByte(path_, at, static_cast<char>(good[at] ^ 1));
    EXPECT_THAT(RunTool({"verify", path_}).out, HasSubstr("problems  1\n"));
    test::WriteByte(path_, at, good[at]);
  }
}

TEST_F(Verify, ProgressIsShownUntilTheFileIsRead) {
  Write({});
  std::unique_ptr<table::TableFile> table;
  ASSERT_THAT(table::OpenTable(path_, &table), IsOk());
  std::ostringstream err;
  EXPECT_FALSE(sst_inspect::ProgressOn({err, true}, *table));
  table->SetProgress(sst_inspect::ProgressOn({err, true}, *table, 1));
  const auto cells = table->NewCellReader();
  while (cells->Next()) {
  }
  const std::string out = err.str();
  EXPECT_THAT(out, testing::AllOf(testing::StartsWith("\r"),
                                  testing::HasSubstr(": 0 % of "),
                                  testing::EndsWith("\r\x1b[K")));
}

// A root without devpts has no terminals.
bool CanOpenTerminal() {
  int terminal = -1;
  int program = -1;
  if (openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) {
    return false;
  }
  close(program);
  close(terminal);
  return true;
}

// The program's output when all its streams are one terminal.
std::string OnTerminal(const std::vector<std::string>& args) {
  int terminal = -1;
  int program_side = -1;
  EXPECT_EQ(openpty(&terminal, &program_side, nullptr, nullptr, nullptr), 0);
  // A session's terminal, as forkpty makes it, will not do: when the session
  // ends, Linux throws away what was printed last.
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : {0, 1, 2}) dup2(program_side, stream);
    close(program_side);
    close(terminal);
    std::vector<char*> argv;
    std::string program = "sst_inspect";
    argv.push_back(program.data());
    std::vector<std::string> owned = args;
    for (std::string& arg : owned) argv.push_back(arg.data());
    argv.push_back(nullptr);
    execv(ROWBLOOM_SST_INSPECT, argv.data());
    _exit(127);
  }
  EXPECT_GT(child, 0);
  // The program's side stays open here, too: Linux may answer a read with an
  // error although bytes are left when the last holder closes its side.
  std::string printed;
  int status = 0;
  for (bool ended = false;;) {
    pollfd readable = {terminal, POLLIN, 0};
    if (poll(&readable, 1, ended ? 0 : 10) > 0) {
      char buffer[4096];
      const ssize_t got = read(terminal, buffer, sizeof(buffer));
      if (got <= 0) break;
      printed.append(buffer, static_cast<size_t>(got));
    } else if (ended) {
      break;
    } else {
      ended = waitpid(child, &status, WNOHANG) != 0;
    }
  }
  close(program_side);
  close(terminal);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << printed;
  return printed;
}

// Handles count from the start of the file, so that its footer may lie behind a
// gap that takes no space on disk.
TEST_F(Verify, ProgressIsShownOnATerminalForLargeFiles) {
  ROWBLOOM_SKIP_WITHOUT(test::kTerminal, CanOpenTerminal());
  Write({});
  EXPECT_THAT(OnTerminal({"verify", path_}), Not(HasSubstr("%")));

  const std::string footer = test::ReadFile(path_).substr(
      std::filesystem::file_size(path_) - sst::kFooterBytes);
  std::filesystem::resize_file(path_,
                               sst_inspect::kProgressBytes - sst::kFooterBytes);
  std::ofstream(path_, std::ios::binary | std::ios::app) << footer;
  const std::string line = ": 0 % of 1.0 GiB";
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"verify", path_},
           {"stats", path_},
           {"layout", path_, "--html", dir_.File("page.html")}}) {
    const std::string printed = OnTerminal(args);
    const size_t at = printed.rfind(line);
    ASSERT_NE(at, std::string::npos) << printed;
    // The line is then erased, before anything else is printed.
    const size_t after = printed.find("\x1b[K\r", at);
    ASSERT_NE(after, std::string::npos) << printed;
    const std::string rest = printed.substr(after);
    EXPECT_THAT(rest, testing::StartsWith("\x1b[K\r\r\x1b[K"));
  }
  // Lines that come all the while are progress enough.
  const std::string layout = OnTerminal({"layout", path_});
  EXPECT_THAT(layout, Not(HasSubstr("\x1b[K")));
  EXPECT_THAT(layout, HasSubstr("gap "));
  // Output that is no terminal gets no progress.
  EXPECT_EQ(RunTool({"verify", path_}).err, "");
}

// `good` with other handles in its footer.
std::string WithHandles(std::string good, const sst::BlockHandle& metaindex,
                        const sst::BlockHandle& index) {
  std::string handles;
  for (uint64_t value : {metaindex.offset_bytes, metaindex.size_bytes,
                         index.offset_bytes, index.size_bytes}) {
    for (; value >= 0x80; value >>= 7) {
      handles += static_cast<char>(value | 0x80);
    }
    handles += static_cast<char>(value);
  }
  // Behind the type of checksum; version and magic take the last 12 bytes.
  handles.resize(sst::kFooterBytes - 1 - 12, '\0');
  return good.replace(good.size() - sst::kFooterBytes + 1, handles.size(),
                      handles);
}

// Files that a name alone makes SSTs, claims that are too large, handles that
// lead back to where they are: one sentence, at once, and no page.
TEST_F(Verify, HostileFilesGiveOneSentence) {
  Write({});
  const std::string good = test::ReadFile(path_);
  const uint64_t footer = good.size() - sst::kFooterBytes;
  const sst::BlockHandle metaindex = file_->footer().metaindex;
  const sst::BlockHandle index = *file_->footer().index;
  ASSERT_EQ(WithHandles(good, metaindex, index), good);
  std::string wrong_magic = good;
  wrong_magic.back() = 'x';
  std::string flipped = good;
  flipped[metaindex.offset_bytes + 3] ^= 4;
  const auto at = [](uint64_t offset) {
    return " at offset " + std::to_string(offset);
  };
  struct Case {
    std::string bytes;
    std::string where;
  };
  for (const Case& tested :
       {Case{"", ": 0 bytes"},
        Case{good.substr(0, good.size() - 1), at(good.size() - 1 - 8)},
        Case{good.substr(0, good.size() / 2), at(good.size() / 2 - 8)},
        Case{wrong_magic, at(good.size() - 8)},
        Case{flipped, at(metaindex.offset_bytes)},
        Case{WithHandles(good, {0, uint64_t{1} << 62}, index), at(0)},
        Case{WithHandles(good, {footer, 8}, index), at(footer)},
        Case{WithHandles(good, {footer - 8, 8}, index), at(footer - 8)}}) {
    SCOPED_TRACE(tested.where);
    test::WriteFile(path_, tested.bytes);
    const std::string page = dir_.File("page.html");
    for (const std::vector<std::string>& args :
         std::vector<std::vector<std::string>>{
             {"verify", path_},
             {"layout", path_},
             {"filter", path_},
             {"stats", path_},
             {"layout", "--html", page, path_}}) {
      const Output output = RunTool(args);
      EXPECT_EQ(output.code, 1);
      EXPECT_EQ(output.out, "");
      EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
      EXPECT_THAT(output.err, testing::StartsWith("sst_inspect: " + path_));
      EXPECT_THAT(output.err, HasSubstr(tested.where));
      EXPECT_THAT(output.err, HasSubstr("expected"));
    }
    EXPECT_FALSE(std::filesystem::exists(page));
  }

  // An index that is the metaindex, whose handles are those of other blocks:
  // it comes to an end, and what was found goes with it.
  test::WriteFile(path_, WithHandles(good, metaindex, metaindex));
  for (const char* verb : {"verify", "layout"}) {
    const Output output = RunTool({verb, path_});
    EXPECT_EQ(output.code, 1) << output.out << output.err;
    EXPECT_THAT(output.out + output.err, HasSubstr(path_ + ": "));
  }
}

// A file much larger than the memory that the program may take.
TEST_F(Verify, MemoryIsBoundedWhateverTheFile) {
  if (test::Scaled(100) != 100) {
    GTEST_SKIP() << "sanitizers and short runs have other sizes";
  }
  SstSpec spec{.policy = test::StockBloom(), .partitioned = true};
  spec.change = [](auto* options, auto* table) {
    options->compression = rocksdb::kNoCompression;
    table->block_size = 16 << 10;
    table->metadata_block_size = 4096;
  };
  constexpr uint64_t kFileBytes = uint64_t{160} << 20;
  {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                  test::MakeOptions(spec));
    ASSERT_THAT(writer.Open(path_), IsOk());
    const std::string value(4000, 'v');
    for (const std::string& key : test::NumberedKeys(kFileBytes / 4000)) {
      ASSERT_THAT(writer.Put(key, value), IsOk());
    }
    ASSERT_THAT(writer.Finish(), IsOk());
  }
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"layout", path_},
           {"verify", path_},
           {"filter", path_},
           {"layout", path_, "--html", dir_.File("page.html")}}) {
    EXPECT_LT(MemoryOf(args), 64 * 1024) << args.back();
  }
}

// Keys that share their beginnings take little of a file.
TEST_F(Verify, MemoryIsBoundedWhateverTheKeys) {
  if (test::Scaled(100) != 100) {
    GTEST_SKIP() << "sanitizers and short runs have other sizes";
  }
  const auto write = [&](size_t key_bytes, int keys) {
    SstSpec spec{.policy = test::StockBloom()};
    spec.change = [](auto*, auto* table) {
      table->block_size = 64 << 20;
      table->block_restart_interval = 1 << 20;
    };
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                  test::MakeOptions(spec));
    ASSERT_THAT(writer.Open(path_), IsOk());
    const std::string start(key_bytes, 'k');
    for (int i = 0; i < keys; ++i) {
      const std::string key = start + std::to_string(10'000 + i) + "/q";
      ASSERT_THAT(writer.Put(key, "v"), IsOk());
    }
    ASSERT_THAT(writer.Finish(), IsOk());
    ASSERT_LT(std::filesystem::file_size(path_), 8U << 20);
  };
  write(2 << 20, 70);
  EXPECT_LT(MemoryOf({"verify", path_}), 64 * 1024);
  write(60'000, 4000);
  EXPECT_LT(MemoryOf({"advise", "--key-layout", "delimited:/", path_}),
            64 * 1024);
}

}  // namespace
}  // namespace rowbloom
