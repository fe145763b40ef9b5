// The verbs on files that the installed RocksDB writes, in its forms; on a
// fixed one show.transcript and diff.transcript have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/stride.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/table/table_file.h"

namespace rowbloom {
namespace {

using nlohmann::json;
using test::IsOk;
using test::Lines;
using test::Output;
using test::Records;
using test::RunFine;
using test::RunTool;
using test::SstSpec;
using testing::HasSubstr;
using testing::Not;

SstSpec PartitionedLz4() {
  return {
      .policy = test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)}),
      .partitioned = true,
      .partition_bytes = 256,
      .change = [](auto* options, auto*) {
        options->compression = rocksdb::kLZ4Compression;
      }};
}

using Verbs = test::SstTest;

TEST_F(Verbs, LayoutIsEveryByteOfTheFile) {
  for (const uint32_t version : {2U, 4U, test::kLatestFormatVersion}) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(version);
      SstSpec spec = PartitionedLz4();
      spec.format_version = version;
      spec.partitioned = partitioned;
      Write(spec);
      const Output output = RunFine({"layout", "--json", path_});
      uint64_t end = 0;
      std::map<std::string, size_t> types;
      for (const json& block : Records(output, "block")) {
        EXPECT_EQ(block["offset"], end);
        end += block["stored_bytes"].get<uint64_t>();
        ++types[block["type"]];
        EXPECT_TRUE(block.value("ok", true));
        if (block["type"] == "data") {
          EXPECT_EQ(block["compression"], "LZ4");
          EXPECT_GT(block["contents_bytes"], block["stored_bytes"]);
        }
      }
      EXPECT_EQ(end, std::filesystem::file_size(path_));
      EXPECT_FALSE(types.contains("gap"));
      const auto file = test::OpenSst(path_);
      EXPECT_EQ(types["data"],
                *file->NumberProperty("rocksdb.num.data.blocks"));
      EXPECT_EQ(types["index"], 1U);
      EXPECT_EQ(types["footer"], 1U);
      EXPECT_EQ(types["properties"], 1U);
      EXPECT_EQ(types["index partition"] > 2, partitioned);
      EXPECT_EQ(types["filter partition"] > 2, partitioned);
      EXPECT_EQ(types["filter"], partitioned ? 0U : 1U);

      const Output text = RunFine({"layout", path_});
      EXPECT_THAT(text.out, HasSubstr("data "));
      EXPECT_THAT(text.out, Not(HasSubstr("DAMAGED")));
    }
  }
}

TEST_F(Verbs, LayoutNamesGaps) {
  Write({.change = [](auto*, auto* table) {
    table->block_align = true;
    table->block_size = 4096;
  }});
  const Output output = RunFine({"layout", "--json", path_});
  bool gap = false;
  for (const json& block : Records(output, "block")) {
    gap = gap || block["type"] == "gap";
  }
  EXPECT_TRUE(gap);
}

TEST_F(Verbs, DataWithoutALayoutHasNoRows) {
  Write({});
  const Output output = RunTool({"data", "--row", "key00042", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("give --key-layout"));
  EXPECT_EQ(Lines(RunTool({"data", "--row", "key00042", "--key-layout",
                           "fixed:8", path_})
                      .out)
                .size(),
            12U);
  EXPECT_EQ(RunTool({"data", "--key-layout", "fixed:x", path_}).code, 2);
}

// A database that is open in this process: versions, types, range deletions.
TEST_F(Verbs, LiveDatabaseShowsItsVersions) {
  const auto db = test::NewDb({}, dir_.File("db"));
  ASSERT_THAT(db->Put({}, "a", "1"), IsOk());
  const rocksdb::ManagedSnapshot snapshot(db.get());
  ASSERT_THAT(db->Delete({}, "a"), IsOk());
  ASSERT_THAT(db->DeleteRange({}, db->DefaultColumnFamily(), "b", "d"), IsOk());
  ASSERT_THAT(db->Flush({}), IsOk());
  const Output output = RunFine({"data", dir_.File("db")});
  const std::vector<std::string> lines = Lines(output.out);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[1], "  key  type    sequence  value");
  EXPECT_EQ(lines[2], "  a    delete         2");
  EXPECT_EQ(lines[3], "  a    put            1  1");
  EXPECT_EQ(lines[4], "  from  to  type          sequence");
  EXPECT_EQ(lines[5], "  b     d   range-delete         3");
  const std::vector<std::string> limited =
      Lines(RunFine({"data", "--cells", "1", dir_.File("db")}).out);
  ASSERT_EQ(limited.size(), 5U);
  EXPECT_EQ(limited[2], lines[2]);
  EXPECT_EQ(limited[4], lines[5]);
  EXPECT_EQ(RunTool({"verify", dir_.File("db")}).code, 0);
  const json stats =
      Records(RunTool({"stats", "--json", dir_.File("db")}), "stats").at(0);
  EXPECT_EQ(stats["entries"], 2);
  EXPECT_EQ(stats["keys"], 1);
}

// A byte that no UTF-8 has, which some terminals take for a command.
TEST_F(Verbs, NamesInAFileArePrintedAsKeysAre) {
  std::filesystem::copy(
      std::string(ROWBLOOM_TEST_DATA_DIR) + "/tables/11.8.1/custom.sst", path_);
  const auto file = test::OpenSst(path_);
  ASSERT_NO_FATAL_FAILURE(test::ChangeBlock(
      path_, file->meta_blocks().find("rocksdb.properties")->second,
      [](std::string* contents) {
        contents->at(contents->find("GoldenCodecs")) = '\x9b';
        contents->at(contents->find("leveldb.Bytewise")) = '\x9b';
      }));
  EXPECT_EQ(Records(RunTool({"summary", "--json", path_}), "summary")
                .at(0)
                .at("codecs"),
            "those of the compression manager \\x9BoldenCodecs");
  EXPECT_THAT(Records(RunTool({"verify", "--json", path_}), "note")
                  .at(0)
                  .at("note")
                  .get<std::string>(),
              HasSubstr("comparator \\x9Beveldb."));
}

TEST_F(Verbs, TimestampsAreDecoded) {
  const rocksdb::Comparator* with_timestamps = nullptr;
  ASSERT_THAT(rocksdb::Comparator::CreateFromString(
                  {}, "leveldb.BytewiseComparator.u64ts", &with_timestamps),
              IsOk());
  rocksdb::SstFileWriter writer(
      rocksdb::EnvOptions(), test::MakeOptions({.policy = test::StockBloom(),
                                                .comparator = with_timestamps,
                                                .partitioned = true}));
  ASSERT_THAT(writer.Open(path_), IsOk());
  const std::string time("\x2a\0\0\0\0\0\0\0", 8);
  for (const std::string& key : test::NumberedKeys(1000)) {
    ASSERT_THAT(writer.Put(key, time, "v"), IsOk());
  }
  // RocksDB 7.8 does not count it in the properties.
  ASSERT_THAT(writer.Delete("key001000", time), IsOk());
  ASSERT_THAT(writer.Finish(), IsOk());
  EXPECT_THAT(RunTool({"data", "--cells", "1", path_}).out,
              HasSubstr("  key000000         42  put          0  v\n"));
  const auto index =
      Records(RunTool({"index", "--json", path_}), "index_entry");
  EXPECT_EQ(index.back().at("key"), "key001000");
  EXPECT_EQ(index.back().at("timestamp"), 42);
  EXPECT_EQ(Records(RunTool({"filter", "--partitions", "--json", path_}),
                    "partition_section")
                .back()
                .at("up_to_key"),
            "key001000");
  const Output verify = RunFine({"verify", path_});
  EXPECT_THAT(verify.out, HasSubstr("1,001 keys probed"));
  const Output probe = RunTool({"probe", "--key", "key000500", path_});
  EXPECT_THAT(probe.out, HasSubstr("in file         yes, put at 42 with"));
}

TEST_F(Verbs, ALinkWithoutItsFileIsAFailure) {
  const std::string links = dir_.File("links");
  std::filesystem::create_directory(links);
  std::filesystem::create_symlink(path_ + ".moved", links + "/a.sst");
  const Output verify = RunTool({"verify", links});
  EXPECT_EQ(verify.code, 2);
  EXPECT_THAT(verify.err, HasSubstr("a.sst: cannot open: "));
}

// Too long a name stands for each error but that there is no such file.
TEST_F(Verbs, AListedFileThatCannotBeFoundOutAboutIsAFailure) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const cli::Streams streams{.in = in, .out = out, .err = {err}};
  const sst_inspect::FileOpener opener(streams, cli::Prints::kAtTheEnd);
  const auto open = [&](const std::string& path) {
    return opener.Open(path, /*listed=*/true, [](const table::TableFile&) {
      return cli::ExitCode::kOk;
    });
  };
  EXPECT_EQ(open(path_), cli::ExitCode::kOk);
  EXPECT_THAT(err.str(), HasSubstr("gone since it was listed"));
  EXPECT_EQ(open(dir_.File(std::string(300, 'a'))), cli::ExitCode::kFailed);
  EXPECT_THAT(err.str(), HasSubstr("cannot open"));
}

// A directory's files of other kinds are passed over, and HFiles of HBase have
// no suffix.
TEST_F(Verbs, AFileThatCannotBeReadIsOfNoOtherKind) {
  test::WriteFile(path_, "neither an SST nor an HFile");
  EXPECT_EQ(table::KindOf(path_), table::FileKind::kOther);
  // UBSan needs a descriptor when it first meets the type of an error.
  EXPECT_EQ(table::KindOf(dir_.File("none")), table::FileKind::kOther);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const table::FileKind of_file = table::KindOf(path_);
  const table::FileKind of_directory = table::KindOf(dir_.path().string());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(of_file, table::FileKind::kUnread);
  EXPECT_EQ(of_directory, table::FileKind::kOther);
}

// Output of somebody who presses Ctrl-C when the first of it comes.
class InterruptedOutput : public std::stringbuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    if (!std::exchange(interrupted_, true)) std::raise(SIGINT);
    return std::stringbuf::xsputn(text, bytes);
  }

 private:
  bool interrupted_ = false;
};

TEST_F(Verbs, AnInterruptionEndsVerbsThatReadNoData) {
  Write(PartitionedLz4());
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"summary", path_, path_},
                                             {"props", path_, path_},
                                             {"index", path_},
                                             {"filter", path_}}) {
    SCOPED_TRACE(args[0]);
    // The parent of this process may have the signal ignored.
    std::signal(SIGINT, SIG_DFL);
    InterruptedOutput text;
    std::ostream out(&text);
    std::istringstream in;
    std::ostringstream err;
    EXPECT_EQ(sst_inspect::Run(args, {.in = in, .out = out, .err = {err}}),
              130);
    EXPECT_EQ(err.str(), "sst_inspect: interrupted\n");
    EXPECT_EQ(text.str().find(path_), 0U);
    EXPECT_EQ(text.str().rfind(path_), 0U);
  }
}

TEST_F(Verbs, MeasureAgreesWithThePrediction) {
  const std::string prefix = test::NumberedKeys(2000)[0].substr(0, 3);
  std::vector<std::string> keys;
  for (int row = 0; row < 2000; ++row) {
    for (int column = 0; column < 5; ++column) {
      keys.push_back(prefix + std::to_string(100000 + 7 * row) + "/" +
                     std::to_string(100 + 11 * column));
    }
  }
  const auto layout = KeyLayout::Delimited('/');
  uint64_t combination = 0;
  for (const bool partitioned : {false, true}) {
    for (const bool stock : {false, true}) {
      if (combination++ % test::Stride(3) != 0) continue;
      SCOPED_TRACE(std::to_string(partitioned) + std::to_string(stock));
      ASSERT_NO_FATAL_FAILURE(test::WriteSst(
          {.policy =
               stock ? test::StockBloom(8)
                     : test::MakeFilterPolicy(
                           {.key_layout = layout, .false_positive_rate = 0.03}),
           .prefix_extractor = NewRowPrefixExtractor(layout),
           .partitioned = partitioned,
           .partition_bytes = 2048},
          path_, keys));
      const Output output =
          RunTool({"measure-fpr", "--count", "20000", "--json", path_});
      ASSERT_EQ(output.code, 0) << output.err;
      const std::vector<json> measured = Records(output, "measured");
      ASSERT_EQ(measured.size(), 3U);
      for (const json& record : measured) {
        SCOPED_TRACE(record.dump());
        EXPECT_GT(record["probed"], 5000);
        const double predicted = record["predicted"];
        const double rate = record["rate"];
        EXPECT_NEAR(rate, predicted, 0.25 * predicted + 0.0015);
        EXPECT_LE(record["low"], rate);
        EXPECT_GE(record["high"], rate);
      }
    }
  }
  // The same seed, the same keys; another one, others.
  const auto measure = [&](const std::string& seed) {
    return RunTool({"measure-fpr", "--count", "2000", "--seed", seed, "--json",
                    path_})
        .out;
  };
  EXPECT_EQ(measure("1"), measure("1"));
  EXPECT_NE(measure("1"), measure("2"));
}

TEST_F(Verbs, MeasureLeavesOutFilesWithoutFilter) {
  Write({});
  const Output none = RunTool({"measure-fpr", path_});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr(path_ + ": no filter that can be probed"));

  const std::string filtered = path_ + ".filtered.sst";
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.policy =
           test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)})},
      filtered, test::NumberedKeys(500)));
  const Output one_of_two = RunFine({"measure-fpr", "--json", path_, filtered});
  EXPECT_EQ(one_of_two.err, none.err);
  EXPECT_FALSE(Records(one_of_two, "measured").empty());
}

// Long keys that share their beginnings take little of a file, and would take
// much memory.
TEST_F(Verbs, MeasureTakesBoundedMemory) {
  const auto measure = [&](size_t key_bytes) {
    const std::string start(key_bytes - 3, 'k');
    std::vector<std::string> keys;
    for (int i = 100; i < 200; ++i) keys.push_back(start + std::to_string(i));
    const auto policy = test::StockBloom();
    EXPECT_NO_FATAL_FAILURE(test::WriteSst({.policy = policy}, path_, keys));
    return RunTool({"measure-fpr", "--json", path_});
  };
  const Output long_keys = measure(30'000);
  const uint64_t made = (64 << 20) / 30'000 + 1;
  const uint64_t probed = Records(long_keys, "measured").at(0)["probed"];
  EXPECT_LE(probed, made);
  EXPECT_GE(probed, made - 100);  // some are keys of the file
  const Output too_long = measure(40'000);
  EXPECT_EQ(too_long.code, 2);
  EXPECT_THAT(too_long.err, HasSubstr("no keys of at most 32768 bytes"));
}

// The only mixture of one key is that key.
TEST_F(Verbs, MeasureSaysWhyNoKeyIsAbsent) {
  Write({.policy = test::StockBloom()}, /*keys=*/1);
  const Output none = RunTool({"measure-fpr", "--count", "1", path_});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("each that was made is in the file"));
}

// A filter does not look up bytes that are no row of its layout.
TEST_F(Verbs, MeasureCountsOnlyWhatTheFilterLooksUp) {
  Write({.policy = test::MakeFilterPolicy(
             {.key_layout = KeyLayout::Delimited('/')})});
  const Output output =
      RunFine({"measure-fpr", "--key-layout", "fixed:5", "--json", path_});
  for (const json& record : Records(output, "measured")) {
    EXPECT_TRUE(record["question"] != "absent row" || record["rate"] < 0.5)
        << record.dump();
  }
}

TEST_F(Verbs, AdviceComparesWithThePresentFilter) {
  ASSERT_NO_FATAL_FAILURE(test::WriteSst({.policy = test::StockBloom()}, path_,
                                         test::NumberedKeys(5000)));
  const Output output = RunFine(
      {"advise", "--key-layout", "fixed:8", "--files", "4", "--json", path_});
  const json advice = Records(output, "advice").at(0);
  EXPECT_EQ(advice["rows"], 500);
  EXPECT_EQ(advice["cells"], 5000);
  EXPECT_NE(advice["reason"], "");
  const std::vector<json> costs = Records(output, "filter_cost");
  ASSERT_EQ(costs.size(), 6U);
  EXPECT_EQ(costs[0]["which"], "present");
  EXPECT_EQ(costs[0]["filter"], "RocksDB bloom");
  // Scans have no filter to probe; gets have one of 1 %.
  EXPECT_EQ(costs[0]["scan_absent_row"], 4.0);
  EXPECT_NEAR(costs[0]["get_absent_row"], 0.04, 0.01);
  EXPECT_LT(costs[1]["scan_absent_row"], 0.1);
  EXPECT_THAT(RunTool({"advise", "--key-layout", "fixed:8", path_}).out,
              HasSubstr("  advised "));
  EXPECT_EQ(RunTool({"advise", path_}).code, 2);
  // Arguments that mean nothing are refused before a file is read.
  for (const char* rate : {"7", "0", "nan", "x"}) {
    EXPECT_THAT(
        RunTool({"advise", "--key-layout", "fixed:8", "--rate", rate, "none"})
            .err,
        HasSubstr("--rate: expected a rate inside (0, 1), found "));
  }
  EXPECT_THAT(RunTool({"advise", "--key-layout", "nonsense", "none"}).err,
              AllOf(HasSubstr("--key-layout: "), HasSubstr("nonsense")));
}

// A get then probes the prefix, which tells an absent row and no column.
TEST_F(Verbs, AdviceKnowsPresentFiltersOfPrefixesAlone) {
  Write({.policy = test::StockBloom(),
         .prefix_extractor = std::shared_ptr<const rocksdb::SliceTransform>(
             rocksdb::NewFixedPrefixTransform(8)),
         .change = [](auto*,
                      auto* table) { table->whole_key_filtering = false; }},
        5000);
  const json present = Records(RunFine({"advise", "--key-layout", "fixed:8",
                                        "--files", "4", "--json", path_}),
                               "filter_cost")
                           .at(0);
  EXPECT_EQ(present["which"], "present");
  EXPECT_LT(present["get_absent_row"], 0.2);
  EXPECT_EQ(present["get_absent_row"], present["scan_absent_row"]);
  EXPECT_NEAR(present["get_absent_column"], 4.0, 1e-9);
}

TEST_F(Verbs, AdviceNamesNoPresentFilterOfAnUnknownKind) {
  Write({.policy = test::StockBloom()});
  ASSERT_NO_FATAL_FAILURE(test::ChangeBlock(
      path_, test::FilterHandle(path_, 0), [](std::string* contents) {
        (*contents)[contents->size() - 5] = '\xfd';  // no marker of RocksDB
      }));
  const json present =
      Records(RunFine({"advise", "--key-layout", "fixed:8", "--json", path_}),
              "filter_cost")
          .at(0);
  EXPECT_EQ(present["filter"], "unknown");
  EXPECT_GT(present["bytes"], 0);
  EXPECT_EQ(present["get_absent_row"], 1.0);
}

// RocksDB before 7.0 may have written one, and all else of the file is read.
TEST_F(Verbs, AFilterForEachDataBlockIsToldAndNotRead) {
  Write({.policy = test::StockBloom()});
  ASSERT_NO_FATAL_FAILURE(test::ChangeBlock(
      path_, test::OpenSst(path_)->footer().metaindex,
      [](std::string* contents) {
        contents->replace(contents->find("fullfilter."), 11, "filter.old.");
      }));
  EXPECT_THAT(RunFine({"filter", path_}).out,
              HasSubstr("not rowbloom's: one for each data block, "));
  EXPECT_THAT(RunFine({"verify", path_}).out,
              HasSubstr("the filter is not checked: one for each data block"));
  EXPECT_THAT(RunFine({"probe", "--key", "absent", path_}).out,
              HasSubstr("may be there"));
  const json present =
      Records(RunFine({"advise", "--key-layout", "fixed:8", "--json", path_}),
              "filter_cost")
          .at(0);
  EXPECT_GT(present["bytes"], 0);
  EXPECT_EQ(present["get_absent_row"], 1.0);
}

TEST_F(Verbs, StockFiltersAreDecoded) {
  const auto decode = [&](const SstSpec& spec) {
    test::WriteSst(spec, path_, test::NumberedKeys(5000));
    const Output output = RunFine({"filter", "--json", path_});
    const std::vector<json> sections = Records(output, "section");
    EXPECT_EQ(sections.size(), 1U) << output.out;
    return sections.at(0);
  };
  const auto bloom = test::StockBloom();
  const auto ribbon = test::StockRibbon();
  json section = decode({.policy = bloom});
  EXPECT_EQ(section["section"], "key");
  EXPECT_EQ(section["kind"], "bloom");
  EXPECT_EQ(section["probes"], 6);
  EXPECT_EQ(section["keys"], 5000);
  EXPECT_NEAR(section["bits_per_key"], 10, 0.2);
  EXPECT_NEAR(section["fill_low"], 0.45, 0.03);
  EXPECT_NEAR(section["expected_rate"], 0.0095, 0.002);
  section = decode({.policy = ribbon});
  EXPECT_EQ(section["kind"], "ribbon");
  EXPECT_NEAR(section["bits_per_key"], 7, 0.5);
  EXPECT_NEAR(section["expected_rate"], 0.0095, 0.002);
  EXPECT_FALSE(section.contains("fill_low"));
  section = decode({.format_version = 4, .policy = bloom});
  EXPECT_EQ(section["kind"], "legacy bloom");
  section = decode(
      {.policy = bloom,
       .prefix_extractor = std::shared_ptr<const rocksdb::SliceTransform>(
           rocksdb::NewFixedPrefixTransform(6)),
       .partitioned = true});
  EXPECT_EQ(section["section"], "key+prefix");
  EXPECT_GT(section["keys"], 5000);
}

TEST_F(Verbs, ProbeDoesNotDenyEntriesOfAnUnknownExtractor) {
  Write({.policy = test::StockBloom(),
         .prefix_extractor = std::shared_ptr<const rocksdb::SliceTransform>(
             rocksdb::NewNoopTransform()),
         .change = [](auto*, auto* table) {
           table->whole_key_filtering = false;
         }});
  EXPECT_THAT(RunFine({"probe", "--key", "key000001", path_}).out,
              HasSubstr("not probed: the filter's entries are not known"));
}

// A policy that writes its Bloom filters under the name of RocksDB 7.0.0.
class PolicyOfRocksDb70 final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return "bloomfilter"; }
  const char* CompatibilityName() const override { return Name(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return bloom_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    return bloom_->GetFilterBitsReader(contents);
  }

 private:
  const std::shared_ptr<const rocksdb::FilterPolicy> bloom_ =
      test::StockBloom();
};

TEST_F(Verbs, FiltersOfRocksDb70AreDecoded) {
  Write({.policy = std::make_shared<PolicyOfRocksDb70>()});
  EXPECT_THAT(RunFine({"filter", path_}).out,
              HasSubstr("not rowbloom's: RocksDB Bloom (marker -1)"));
  EXPECT_THAT(RunFine({"verify", path_}).out,
              HasSubstr("1,000 keys probed, 0 false negatives"));
}

TEST_F(Verbs, ProbeAsksStockFilters) {
  for (const bool partitioned : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(test::WriteSst(
        {.policy = test::StockRibbon(20),
         .prefix_extractor = std::shared_ptr<const rocksdb::SliceTransform>(
             rocksdb::NewFixedPrefixTransform(8)),
         .partitioned = partitioned},
        path_, test::NumberedKeys(5000)));
    const Output present =
        RunFine({"probe", "--json", "--key", "key001234", path_});
    json record = Records(present, "probe").at(0);
    EXPECT_EQ(record["key"], "may be there");
    EXPECT_EQ(record["verdict"], "may be there");
    EXPECT_EQ(record["in_file"], "yes, put with sequence number 0");
    const Output absent =
        RunTool({"probe", "--json", "--key", "key001234x", path_});
    record = Records(absent, "probe").at(0);
    EXPECT_EQ(record["verdict"], "not there");
    EXPECT_EQ(record["in_file"], "no");
    const Output row = RunTool({"probe", "--json", "--row", "key00123",
                                "--key-layout", "fixed:8", path_});
    record = Records(row, "probe").at(0);
    EXPECT_EQ(record["prefix"], "may be there");
    EXPECT_EQ(record["in_file"], "yes, put with sequence number 0");
    const Output no_row = RunTool({"probe", "--json", "--row", "absent..",
                                   "--key-layout", "fixed:8", path_});
    EXPECT_EQ(Records(no_row, "probe").at(0)["verdict"], "not there");
  }
}

}  // namespace
}  // namespace rowbloom
