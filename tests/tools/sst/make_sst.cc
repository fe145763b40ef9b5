#include "tests/tools/sst/make_sst.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "rocksdb/sst_file_writer.h"
#include "rowbloom/open_db.h"
#include "tests/support/files.h"
#include "tools/sst/checksum.h"

namespace rowbloom::test {

rocksdb::Options MakeOptions(const SstSpec& spec) {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = spec.format_version;
  table.checksum = spec.checksum;
  table.filter_policy = spec.policy;
  table.block_size = 256;
  table.metadata_block_size = spec.partition_bytes;
  table.index_block_restart_interval = spec.index_restart_interval;
  if (spec.partitioned) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
  }
  rocksdb::Options options;
  options.comparator = spec.comparator;
  options.compression = rocksdb::kNoCompression;
  options.prefix_extractor = spec.prefix_extractor;
  if (spec.change) spec.change(&options, &table);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// The cells are pairs of a key and a value.
template <typename Cells>
static void WritePairs(const SstSpec& spec, const std::string& path,
                       const Cells& cells) {
  const rocksdb::Options options = MakeOptions(spec);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  rocksdb::Status status = writer.Open(path);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (const auto& [key, value] : cells) {
    status = writer.Put(key, value);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  status = writer.Finish();
  ASSERT_TRUE(status.ok()) << status.ToString();
}

void WriteSst(const SstSpec& spec, const std::string& path,
              const std::vector<std::string>& keys) {
  std::vector<std::pair<std::string, std::string>> cells;
  for (const auto& key : keys) cells.emplace_back(key, "value of " + key);
  WritePairs(spec, path, cells);
}

void WriteSst(const SstSpec& spec, const std::string& path,
              const std::map<std::string, std::string>& cells) {
  WritePairs(spec, path, cells);
}

std::unique_ptr<sst::SstFile> OpenSst(const std::string& path) {
  std::unique_ptr<sst::SstFile> file;
  const rocksdb::Status status = sst::SstFile::Open(path, &file);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return file;
}

std::unique_ptr<rocksdb::DB> NewDb(const SstSpec& spec,
                                   const std::string& path) {
  rocksdb::Options options = MakeOptions(spec);
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = rocksdb::DB::Open(options, path, Into(&db));
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return db;
}

std::string OnlySst(rocksdb::DB* db) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  EXPECT_EQ(files.size(), 1U);
  return files.empty() ? "" : files[0].db_path + files[0].name;
}

std::vector<std::string> NumberedKeys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    char text[32];
    std::snprintf(text, sizeof(text), "key%06zu", i);
    keys.emplace_back(text);
  }
  return keys;
}

std::string Fixed(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

void WriteByte(const std::string& path, uint64_t offset_bytes, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset_bytes));
  file.put(byte);
  file.close();
  ASSERT_TRUE(file.good()) << path;
}

void ChangeBlock(const std::string& path, const sst::BlockHandle& handle,
                 const std::function<void(std::string*)>& change) {
  const auto file = OpenSst(path);
  std::string bytes = ReadFile(path);
  std::string contents = bytes.substr(handle.offset_bytes, handle.size_bytes);
  change(&contents);
  ASSERT_EQ(contents.size(), handle.size_bytes);
  contents += bytes[handle.offset_bytes + handle.size_bytes];
  const uint32_t checksum =
      sst::Checksum(file->footer().checksum_type, contents) +
      sst::ContextModifier(file->footer().base_context_checksum,
                           handle.offset_bytes);
  for (int i = 0; i < 4; ++i) {
    contents += static_cast<char>(checksum >> (8 * i));
  }
  bytes.replace(handle.offset_bytes, contents.size(), contents);
  WriteFile(path, bytes);
}

}  // namespace rowbloom::test
