// The corpus of the fuzz targets: what its files are, and that they still are.
// To write it anew after a change of the format:
//
//   ROWBLOOM_WRITE_CORPUS=1 ctest --preset release -R fuzz_corpus
//
// Files of other names in these folders are inputs that a fuzzer found.
#include "tests/fuzz/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "rocksdb/sst_file_writer.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"
#include "tests/fuzz/sst_checksums.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/sst_file.h"

namespace rowbloom {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using fuzz::ExpectSeeds;
using fuzz::Files;
using fuzz::kMaxSeedBytes;
using fuzz::SeedPath;
using test::ReadFile;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Build(const FilterBlockOptions& options,
                  const std::vector<std::string>& keys) {
  FilterBlockBuilder builder(options);
  for (const std::string& key : keys) builder.AddKey(key);
  return builder.Finish();
}

std::string Example() {
  return Build({.key_layout = KeyLayout::Delimited(':'), .bits_per_key = 10},
               {"a:x", "a:y", "b:x"});
}

// Flips the lowest bit of a byte; a negative offset counts from the end.
std::string Flipped(std::string bytes, ptrdiff_t offset) {
  const size_t at =
      offset < 0 ? bytes.size() - static_cast<size_t>(-offset) : offset;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return bytes;
}

// The same block with another directory, whose checksum is right.
std::string WithDirectory(std::string_view block,
                          const std::function<void(std::string*)>& change) {
  const format::Trailer trailer = format::GetTrailer(block);
  const size_t directory_at = trailer.at - trailer.DirectoryBytes();
  std::string directory(block.substr(directory_at, trailer.DirectoryBytes()));
  change(&directory);
  const std::string_view end = block.substr(trailer.at + 8);
  std::string result(block.substr(0, directory_at));
  result += directory;
  PutFixed(&result, Checksum(directory, Checksum(end)), 8);
  return result.append(end);
}

// 60 rows: enough for a ribbon to be the smaller kind.
std::string Ribbon() {
  std::vector<std::string> keys;
  for (int i = 100; i < 160; ++i) keys.push_back(std::to_string(i));
  return Build({.bloom_type = BloomType::kRow,
                .key_layout = KeyLayout::FixedRow(3),
                .kind = FilterKind::kRibbon},
               keys);
}

// The same block with another byte in its first section, and that section's
// checksum right.
std::string WithFirstSection(std::string block, size_t at, char value) {
  block[format::kHead.size() + at] = value;
  const FilterSection section = FilterBlock::Open(block).sections()[0];
  const uint64_t checksum = Checksum(
      std::string_view(block).substr(section.offset_bytes, section.size_bytes));
  return WithDirectory(block, [&](std::string* directory) {
    std::string bytes;
    PutFixed(&bytes, checksum & 0xffffffff, 4);
    directory->replace(20, 4, bytes);
  });
}

struct BlockSeed {
  std::string bytes;
  std::string problem;          // the block's; "" when it is usable
  std::string section_problem;  // its first section's
};

std::map<std::string, BlockSeed> BlockSeeds() {
  const std::string example = Example();
  const auto with_byte = [&example](size_t at, char value) {
    return WithDirectory(
        example, [=](std::string* directory) { (*directory)[at] = value; });
  };
  return {
      {"example_of_format_md", {example, "", ""}},
      {"row",
       {Build({.bloom_type = BloomType::kRow,
               .key_layout = KeyLayout::FixedRow(3)},
              {"aaa", "aab1", "aab2"}),
        "", ""}},
      {"row_prefix",
       {Build({.bloom_type = BloomType::kRowPrefixFixedLength,
               .key_layout = KeyLayout::LengthPrefixed(),
               .row_prefix_length = 2},
              {"\0\3abcx"s, "\0\3abdy"s}),
        "", ""}},
      {"escaped_with_20_bits",
       {Build({.bits_per_key = 20}, {"a\0\1q"s, "b\0\xff\0\1q"s}), "", ""}},
      {"no_keys", {Build({}, {}), "", ""}},
      {"key_outside_the_layout",
       {Build({.key_layout = KeyLayout::Delimited(':')}, {"a:x", "outside"}),
        "", ""}},
      {"whole_keys_in_a_section_that_is_not_there", {with_byte(50, 3), "", ""}},
      {"ribbon", {Ribbon(), "", ""}},
      {"ribbon_of_too_many_layers",
       {WithFirstSection(Ribbon(), 1, 7), "", "7 layers, expected 1 to 6"}},
      {"ribbon_of_too_many_blocks",
       {WithFirstSection(Ribbon(), 4, 100), "", "100 blocks in"}},
      {"cut_at_the_tail",
       {example.substr(0, example.size() - 5), "does not end with the tail",
        ""}},
      {"cut_at_the_head",
       {example.substr(8), "does not start with ROWBLOOM", ""}},
      {"tail_alone", {example.substr(example.size() - 5), "of 5 bytes", ""}},
      {"unknown_version", {Flipped(example, -6), "version 0", ""}},
      {"directory_longer_than_the_block",
       {Flipped(example, -8), "directory of 318 bytes", ""}},
      {"wrong_directory_checksum",
       {Flipped(example, 136), "directory at offset 136: checksum", ""}},
      {"unknown_layout", {with_byte(51, 'x'), "unknown key layout", ""}},
      {"wrong_section_checksum", {Flipped(example, 9), "", "checksum"}},
      {"unknown_section_type", {with_byte(0, 9), "", ""}},
      {"unknown_filter_kind", {with_byte(1, 9), "", "unknown filter kind 9"}},
      {"no_probes", {with_byte(2, 0), "", "0 probes"}},
      {"too_many_probes", {with_byte(2, 17), "", "17 probes"}},
      {"section_starts_in_the_head", {with_byte(8, 7), "", "offset 7"}},
      {"section_ends_after_the_block",
       {with_byte(14, 1), "", "expected them between"}},
      {"section_of_half_a_block", {with_byte(12, 32), "", "32 bytes for 2"}},
      {"keys_without_bytes", {with_byte(12, 0), "", "0 bytes for 2 keys"}},
      {"two_sections_of_one_type", {with_byte(24, 1), "", ""}},
  };
}

TEST(FuzzCorpus, FilterBlocksAreWhatTheirNamesSay) {
  Files files;
  for (const auto& [name, seed] : BlockSeeds()) {
    SCOPED_TRACE(name);
    const FilterBlock block = FilterBlock::Open(seed.bytes);
    if (seed.problem.empty()) {
      EXPECT_THAT(block.problem(), IsEmpty());
    } else {
      EXPECT_THAT(block.problem(), HasSubstr(seed.problem));
    }
    if (!seed.section_problem.empty()) {
      ASSERT_FALSE(block.sections().empty());
      EXPECT_THAT(block.sections()[0].problem, HasSubstr(seed.section_problem));
    } else if (block.usable()) {
      EXPECT_THAT(block.sections()[0].problem, IsEmpty());
    }
    files[name] = seed.bytes;
  }
  // Keys to build a block from: how to damage it (1 byte), where (2), what with
  // (1); type, layout, bits per key; each key after its length.
  files["keys_delimited_one_wrong_byte"] =
      "\0\x18\0\x40\0\0\x14\3a:x\3a:y\3b:x\5row:q"s;
  files["keys_escaped_cut"] =
      "\1\x50\0\0\0\1\x14\4a\0\1x\4a\0\1y\6b\0\xff\0\1q"s;
  files["keys_u16_head_missing"] = "\2\x09\0\0\1\2\x20\4\0\1ax\4\0\1ay"s;
  files["keys_row_prefix"] = "\0\x30\1\1\2\3\x14\2\4abcd\3abe\2zz"s;
  ExpectSeeds("filter_block", files);
}

// The length of a layout's text, the text, and a key.
std::string LayoutInput(const std::string& text, std::string_view key) {
  return std::string(1, static_cast<char>(text.size())) + text +
         std::string(key);
}

TEST(FuzzCorpus, KeyLayoutsAreWhatTheirNamesSay) {
  const Files files = {
      {"escaped", LayoutInput("escaped", "row\0\xff\0\1qualifier"sv)},
      {"escaped_without_end", LayoutInput("escaped", "row\0"sv)},
      {"escaped_unknown_escape", LayoutInput("escaped", "row\0\2x"sv)},
      {"fixed", LayoutInput("fixed:4", "row1qualifier")},
      {"fixed_key_too_short", LayoutInput("fixed:4", "row")},
      {"fixed_longest", LayoutInput("fixed:65535", "row")},
      {"fixed_of_nothing", LayoutInput("fixed:0", "row")},
      {"fixed_too_long", LayoutInput("fixed:65536", "row")},
      {"fixed_no_number", LayoutInput("fixed:4x", "row")},
      {"delimited", LayoutInput("delimited::", "user_1001:tags")},
      {"delimited_in_hex", LayoutInput("delimited:0x0a", "row\nqualifier")},
      {"delimited_bad_hex", LayoutInput("delimited:0xg0", "row")},
      {"delimited_absent", LayoutInput("delimited:,", "row")},
      {"u16", LayoutInput("u16", "\0\3rowqualifier"sv)},
      {"u16_longer_than_the_key", LayoutInput("u16", "\1\0row"sv)},
      {"custom", LayoutInput("custom:two-bytes", "ab:c")},
      {"custom_unregistered", LayoutInput("custom:none", "ab:c")},
      {"text_longer_than_the_input",
       "\xff"
       "escaped"},
  };
  for (const auto& [name, input] : files) {
    const auto text_bytes = static_cast<uint8_t>(input[0]);
    const bool bad = name == "fixed_of_nothing" || name == "fixed_too_long" ||
                     name == "fixed_no_number" || name == "delimited_bad_hex" ||
                     name.starts_with("custom");  // known to the target alone
    const auto layout = KeyLayout::FromString(input.substr(1, text_bytes));
    EXPECT_EQ(layout.has_value(), !bad) << name;
  }
  ExpectSeeds("key_layout", files);
}

TEST(FuzzCorpus, OptionIdsAreWhatTheirNamesSay) {
  // The text is not taken from PolicyId: old files have it for good.
  const std::string good =
      "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:escaped";
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string id = good;
    const size_t at = id.find(from);
    return at == std::string::npos ? "no " + from
                                   : id.replace(at, from.size(), to);
  };
  const Files files = {
      {"policy", good},
      {"policy_row_prefix",
       "rowbloom.filter:ROWPREFIX_FIXED_LENGTH:bloom:0.3333333333333333:4:"
       "uniform:delimited::"},
      {"policy_rate_is_no_number", with("0.01", "nan")},
      {"policy_rate_is_infinite", with("0.01", "-inf")},
      {"policy_rate_is_the_smallest", with("0.01", "5e-324")},
      {"policy_optimal", with("uniform", "optimal/4/10/4/last")},
      {"policy_optimal_adaptive",
       with("uniform", "optimal/6/8.5/20/first/adaptive/0.125")},
      {"policy_adaptive", with("uniform", "uniform/adaptive/1e+30")},
      {"policy_size_ratio_is_no_number",
       with("uniform", "optimal/0/nan/4294967295/last")},
      {"policy_ribbon", with("bloom:", "ribbon:")},
      {"policy_bloom_before_level", with("bloom:", "ribbon/2:")},
      {"policy_bloom_before_level_too_low", with("bloom:", "ribbon/-7:")},
      {"bad_policy_bloom_before_level_cut", with("bloom:", "ribbon/:")},
      {"bad_policy_bloom_before_level_longer", with("bloom:", "ribbon/2/2:")},
      {"bad_policy_bloom_before_level_of_a_bloom", with("bloom:", "bloom/2:")},
      {"bad_policy_allocation", with("uniform", "monkey")},
      {"bad_policy_optimal_cut", with("uniform", "optimal/4/10/4")},
      {"bad_policy_optimal_where", with("uniform", "optimal/4/10/4/middle")},
      {"bad_policy_adaptive_cut", with("uniform", "uniform/adaptive")},
      {"bad_policy_adaptive_longer", with("uniform", "uniform/adaptive/1/1")},
      {"bad_policy_uniform_of_a_shape", with("uniform", "uniform/4/10/4/last")},
      {"bad_policy_rate_overflows", with("0.01", "1e999")},
      {"bad_policy_type", with("ROWCOL", "ROWS")},
      {"bad_policy_kind", with("bloom:", "cuckoo:")},
      {"bad_policy_prefix_is_negative", with(":0:", ":-1:")},
      {"bad_policy_layout", with("escaped", "escapes")},
      {"bad_policy_cut", good.substr(0, good.size() / 2)},
      {"bloom_type_row", "row"},
      {"bloom_type_mixed_case", "RowCol"},
      {"filter_kind_upper_case", "BLOOM"},
  };
  for (const auto& [name, id] : files) {
    EXPECT_EQ(ParsePolicyId(id).has_value(), name.starts_with("policy"))
        << name << ": " << id;
  }
  ExpectSeeds("option_id", files);
}

// The result of opening the file and reading its filters, as text.
std::string Outcome(const std::string& path) {
  std::unique_ptr<sst::SstFile> file;
  rocksdb::Status status = sst::SstFile::Open(path, &file);
  std::vector<sst::FilterPartition> partitions;
  if (status.ok()) status = file->FilterPartitions(&partitions);
  for (const sst::FilterPartition& partition : partitions) {
    std::string contents;
    if (status.ok()) status = file->ReadBlock(partition.handle, &contents);
  }
  if (!status.ok()) return status.ToString();
  return "format_version " + std::to_string(file->footer().format_version) +
         ", partitions: " + std::to_string(partitions.size());
}

// Written by RocksDB, whose versions differ in the bytes.
Files WriteSstSeeds() {
  const test::TempDir dir;
  FilterPolicyOptions options;
  options.key_layout = KeyLayout::FixedRow(8);
  test::SstSpec spec;
  EXPECT_TRUE(NewFilterPolicy(options, &spec.policy).ok());
  const std::string path = dir.File("seed.sst");
  bool delete_range = false;
  const auto write = [&](size_t keys) {
    rocksdb::Options rocksdb_options = test::MakeOptions(spec);
    // Else it is the name of the machine.
    rocksdb_options.db_host_id = "host";
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), rocksdb_options);
    EXPECT_TRUE(writer.Open(path).ok());
    for (const std::string& key : test::NumberedKeys(keys)) {
      EXPECT_TRUE(writer.Put(key, "value of " + key).ok());
    }
    if (delete_range) {
      EXPECT_TRUE(writer.DeleteRange("a", "key000009").ok());
    }
    EXPECT_TRUE(writer.Finish().ok());
    return ReadFile(path);
  };
  Files files;
  const std::string full = files["full_filter"] = write(12);
  std::unique_ptr<sst::SstFile> file;
  EXPECT_TRUE(sst::SstFile::Open(path, &file).ok());
  const sst::BlockHandle filter = file->filter().handle;
  const sst::BlockHandle metaindex = file->footer().metaindex;
  const auto footer_at = static_cast<ptrdiff_t>(file->footer().offset_bytes);
  files["format_version_6"] = fuzz::WithFormatVersion6(full);
  files["wrong_footer_checksum"] =
      Flipped(files["format_version_6"], footer_at + 6);
  files["wrong_filter_checksum"] =
      Flipped(full, static_cast<ptrdiff_t>(filter.offset_bytes) + 9);
  files["wrong_metaindex_checksum"] =
      Flipped(full, static_cast<ptrdiff_t>(metaindex.offset_bytes) + 9);
  files["handle_after_the_end"] = full;
  // The two high bits of the metaindex's offset, in two bytes of a varint.
  files["handle_after_the_end"][static_cast<size_t>(footer_at) + 2] = '\x7f';
  files["unknown_format_version"] = Flipped(full, -12);
  files["unknown_checksum_type"] = full;
  files["unknown_checksum_type"][static_cast<size_t>(footer_at)] = '\x09';
  files["cut_in_the_footer"] = full.substr(0, full.size() - 9);
  files["footer_alone"] = full.substr(static_cast<size_t>(footer_at));
  files["empty"] = "";
  // The lengths of the first key and of its value.
  for (const auto& [name, at] : {std::pair("metaindex_key_too_long", 1),
                                 std::pair("metaindex_value_too_long", 2)}) {
    test::WriteFile(path, full);
    test::ChangeBlock(path, metaindex, [at = at](std::string* contents) {
      (*contents)[static_cast<size_t>(at)] = '\x7f';
    });
    files[name] = ReadFile(path);
  }
  spec.partitioned = true;
  spec.partition_bytes = 64;
  files["partitioned_filter"] = write(48);
  spec.policy = nullptr;
  spec.partitioned = false;
  spec.checksum = rocksdb::kCRC32c;
  files["no_filter"] = write(4);

  using Table = rocksdb::BlockBasedTableOptions;
  const auto add = [&](const std::string& name,
                       rocksdb::CompressionType compression, auto change) {
    spec.change = [=](rocksdb::Options* rocksdb_options, Table* table) {
      rocksdb_options->compression = compression;
      table->enable_index_compression = false;
      change(rocksdb_options, table);
    };
    files[name] = write(60);
  };
  add("two_levels_zstd", rocksdb::kZSTD, [](auto*, Table* table) {
    table->index_type = Table::kTwoLevelIndexSearch;
    table->metadata_block_size = 64;
  });
  add("first_keys_zlib", rocksdb::kZlibCompression, [](auto*, Table* table) {
    table->index_type = Table::kBinarySearchWithFirstKey;
  });
  add("data_hash_index_snappy", rocksdb::kSnappyCompression,
      [](auto*, Table* table) {
        table->data_block_index_type = Table::kDataBlockBinaryAndHash;
      });
  add("dictionary_lz4", rocksdb::kLZ4Compression,
      [](rocksdb::Options* rocksdb_options, Table* table) {
        rocksdb_options->compression_opts.max_dict_bytes = 256;
        table->filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
      });
  delete_range = true;
  add("range_deletion", rocksdb::kNoCompression, [](auto*, Table* table) {
    table->filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  });
  return files;
}

TEST(FuzzCorpus, SstFilesAreWhatTheirNamesSay) {
  if (fuzz::WritesCorpus()) fuzz::WriteSeeds("sst_file", WriteSstSeeds());
  const std::map<std::string, std::string> outcomes = {
      {"full_filter", "format_version 5, partitions: 1"},
      {"format_version_6", "format_version 6, partitions: 1"},
      {"partitioned_filter", "format_version 5, partitions: 2"},
      {"no_filter", "format_version 5, partitions: 0"},
      {"wrong_footer_checksum", ": xxh3 checksum"},
      {"wrong_filter_checksum", ": xxh3 checksum"},
      {"wrong_metaindex_checksum", ": xxh3 checksum"},
      {"handle_after_the_end", "expected it to end before the footer"},
      {"unknown_format_version", "format_version 4"},
      {"unknown_checksum_type", "checksum type 9"},
      {"cut_in_the_footer", "not a RocksDB table, or cut short"},
      {"footer_alone", "expected it to end"},
      {"empty", "0 bytes, expected a footer"},
      {"two_levels_zstd", "format_version 5, partitions: 0"},
      {"first_keys_zlib", "format_version 5, partitions: 0"},
      {"data_hash_index_snappy", "format_version 5, partitions: 0"},
      {"dictionary_lz4", "format_version 5, partitions: 1"},
      {"range_deletion", "format_version 5, partitions: 1"},
      {"metaindex_key_too_long", "key of 127 and value of"},
      {"metaindex_value_too_long", "and value of 127 bytes"},
  };
  for (const auto& [name, outcome] : outcomes) {
    const std::string path = SeedPath("sst_file", name);
    EXPECT_THAT(Outcome(path), HasSubstr(outcome)) << name;
    EXPECT_LT(std::filesystem::file_size(path), kMaxSeedBytes) << name;
  }
}

// Fuzzing changes bytes behind checksums, which only then gets anywhere.
TEST(FuzzCorpus, ChecksumsOfAnSstAreMadeRight) {
  const test::TempDir dir;
  const std::string path = dir.File("damaged.sst");
  const std::map<std::string, std::string> outcomes = {
      {"wrong_footer_checksum", "format_version 6, partitions: 1"},
      {"wrong_filter_checksum", "format_version 5, partitions: 1"},
      // The wrong byte is one of the filter's name.
      {"wrong_metaindex_checksum", "format_version 5, partitions: 0"},
  };
  for (const auto& [name, outcome] : outcomes) {
    std::string bytes = ReadFile(SeedPath("sst_file", name));
    fuzz::MakeChecksumsRight(&bytes);
    test::WriteFile(path, bytes);
    EXPECT_EQ(Outcome(path), outcome) << name;
  }
}

}  // namespace
}  // namespace rowbloom
