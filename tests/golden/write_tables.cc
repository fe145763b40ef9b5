// write_tables DIR: writes the table files of tests/data/tables/VERSION with
// the RocksDB that it is linked with, to a directory that it makes. See
// tests/data/tables/README.md. Exit status: 0 written, 1 not so, 2 usage.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/advanced_compression.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/user_defined_index.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "tests/golden/store_contents.h"
#include "tests/golden/write_golden.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {
namespace {

namespace fs = std::filesystem;
using rocksdb::BlockBasedTableOptions;

std::string RowKey(int row, const std::string& qualifier) {
  char text[32];
  std::snprintf(text, sizeof(text), "user%04d:", row);
  return text + qualifier;
}

std::map<std::string, std::string> Cells() {
  std::map<std::string, std::string> cells;
  for (int row = 0; row < 40; ++row) {
    cells[RowKey(row, "mail")] = RowKey(row, "mail") + "@example.org";
    if (row % 2 == 0) cells[RowKey(row, "seen")] = std::to_string(row);
  }
  return cells;
}

// The options of a file: RocksDB's defaults, but small blocks.
struct FileOptions {
  rocksdb::Options db;
  BlockBasedTableOptions table;

  FileOptions() {
    table.block_size = 256;
    db.db_host_id = kHostName;
    db.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
  }

  rocksdb::Options Finished() const {
    rocksdb::Options options = db;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }
};

// Files have the cells, and a range deletion.
void WriteFile(const FileOptions& options, const fs::path& path) {
  const rocksdb::Options finished = options.Finished();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), finished);
  Check(writer.Open(path));
  for (const auto& [key, value] : Cells()) Check(writer.Put(key, value));
  Check(writer.DeleteRange(RowKey(50, ""), RowKey(60, "")));
  Check(writer.Finish());
}

// A file of each kind of entry, several versions of some, as a flush writes it.
void WriteFlushed(const fs::path& path) {
  const test::TempDir dir;
  FileOptions options;
  options.table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.db.create_if_missing = true;
  Check(rocksdb::MergeOperator::CreateFromString({}, "stringappend",
                                                 &options.db.merge_operator));
  std::unique_ptr<rocksdb::DB> db;
  Check(rocksdb::DB::Open(options.Finished(), dir.path() / "db", &db));
  const rocksdb::WriteOptions write;
  for (const auto& [key, value] : Cells()) Check(db->Put(write, key, value));
  const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
  for (int row = 0; row < 40; row += 4) {
    Check(db->Put(write, RowKey(row, "mail"), "new"));
    Check(db->Delete(write, RowKey(row, "seen")));
    Check(db->SingleDelete(write, RowKey(row + 1, "mail")));
    Check(db->Merge(write, RowKey(row + 2, "seen"), "more"));
  }
  Check(db->PutEntity(write, db->DefaultColumnFamily(), RowKey(70, ""),
                      {{"mail", "ada"}, {"seen", "yes"}}));
  Check(db->DeleteRange(write, db->DefaultColumnFamily(), RowKey(8, ""),
                        RowKey(10, "")));
  Check(db->Flush({}));
  db->ReleaseSnapshot(snapshot);
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  if (files.size() != 1) throw std::runtime_error("expected one file");
  fs::copy_file(files[0].directory + "/" + files[0].relative_filename, path);
}

// RocksDB's ZSTD under a number and a manager's name that RocksDB lacks.
class CustomCompressor final : public rocksdb::CompressorWrapper {
 public:
  using CompressorWrapper::CompressorWrapper;

  const char* Name() const override { return "GoldenCompressor"; }
  rocksdb::CompressionType GetPreferredCompressionType() const override {
    return rocksdb::kCustomCompression81;
  }
  std::unique_ptr<Compressor> Clone() const override {
    return std::make_unique<CustomCompressor>(wrapped_->Clone());
  }
  std::unique_ptr<Compressor> MaybeCloneSpecialized(
      rocksdb::CacheEntryRole /*block_type*/,
      DictConfigArgs&& /*dictionary*/) const override {
    return Clone();
  }
  rocksdb::Status CompressBlock(rocksdb::Slice contents, char* out,
                                size_t* out_bytes,
                                rocksdb::CompressionType* type,
                                ManagedWorkingArea* area) override {
    const rocksdb::Status status =
        wrapped_->CompressBlock(contents, out, out_bytes, type, area);
    if (*type != rocksdb::kNoCompression) *type = rocksdb::kCustomCompression81;
    return status;
  }
};

class CustomManager final : public rocksdb::CompressionManagerWrapper {
 public:
  CustomManager()
      : CompressionManagerWrapper(rocksdb::GetBuiltinV2CompressionManager()) {}

  const char* Name() const override { return "GoldenManager"; }
  const char* CompatibilityName() const override { return "GoldenCodecs"; }
  bool SupportsCompressionType(
      rocksdb::CompressionType /*type*/) const override {
    return true;
  }
  std::unique_ptr<rocksdb::Compressor> GetCompressor(
      const rocksdb::CompressionOptions& options,
      rocksdb::CompressionType /*type*/) override {
    return std::make_unique<CustomCompressor>(
        wrapped_->GetCompressor(options, rocksdb::kZSTD));
  }
  std::unique_ptr<rocksdb::Compressor> GetCompressorForSST(
      const rocksdb::FilterBuildingContext& /*context*/,
      const rocksdb::CompressionOptions& options,
      rocksdb::CompressionType type) override {
    return GetCompressor(options, type);
  }
};

std::shared_ptr<const rocksdb::FilterPolicy> Rowbloom(BloomType type) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  Check(NewFilterPolicy(
      {.bloom_type = type, .key_layout = KeyLayout::Delimited(':')}, &policy));
  return policy;
}

void MakePartitioned(BlockBasedTableOptions* table) {
  table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table->partition_filters = true;
  table->metadata_block_size = 128;
}

using Change = std::function<void(FileOptions*)>;
using Changes = std::map<std::string, Change>;

const Changes& ChangesOfAll() {
  static const Changes changes = {
      {"dictionary",
       [](FileOptions* options) {
         options->db.compression = rocksdb::kLZ4Compression;
         options->db.compression_opts.max_dict_bytes = 256;
       }},
      {"aligned",
       [](FileOptions* options) {
         options->table.super_block_alignment_size = 1024;
         options->table.super_block_alignment_space_overhead_ratio = 4;
       }},
      {"custom",
       [](FileOptions* options) {
         options->db.compression_manager = std::make_shared<CustomManager>();
         options->db.compression = rocksdb::kCustomCompression81;
         options->table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
       }},
      {"row",
       [](FileOptions* options) {
         options->table.filter_policy = Rowbloom(BloomType::kRow);
       }},
      {"rowcol",
       [](FileOptions* options) {
         options->table.filter_policy = Rowbloom(BloomType::kRowCol);
       }},
      {"rowcol_partitioned",
       [](FileOptions* options) {
         options->table.filter_policy = Rowbloom(BloomType::kRowCol);
         MakePartitioned(&options->table);
       }},
  };
  return changes;
}

// Files of one version show what the other lacks.
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1108

std::shared_ptr<rocksdb::UserDefinedIndexFactory> Trie() {
  std::shared_ptr<rocksdb::UserDefinedIndexFactory> trie;
  Check(rocksdb::UserDefinedIndexFactory::CreateFromString({}, "trie_index",
                                                           &trie));
  return trie;
}

const Changes& ChangesOfVersion() {
  static const Changes changes = {
      {"apart",
       [](FileOptions* options) {
         options->table.separate_key_value_in_data_block = true;
         options->table.block_restart_interval = 4;
         options->db.compression = rocksdb::kZSTD;
       }},
      {"apart_hash",
       [](FileOptions* options) {
         options->table.separate_key_value_in_data_block = true;
         options->table.data_block_index_type =
             BlockBasedTableOptions::kDataBlockBinaryAndHash;
         options->db.compression = rocksdb::kNoCompression;
       }},
      {"even",
       [](FileOptions* options) {
         options->table.uniform_cv_threshold = 10;
         options->table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
         options->db.compression = rocksdb::kNoCompression;
       }},
      {"even_partitioned",
       [](FileOptions* options) {
         options->table.uniform_cv_threshold = 10;
         options->table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
         MakePartitioned(&options->table);
       }},
      {"trie",
       [](FileOptions* options) {
         options->table.user_defined_index_factory = Trie();
       }},
      {"trie_primary",
       [](FileOptions* options) {
         options->table.user_defined_index_factory = Trie();
         options->table.use_udi_as_primary_index = true;
       }},
  };
  return changes;
}

// Large values, of entities too, in records beside the data blocks. The text is
// what RocksDB reads there.
void WriteBlobs(const fs::path& path) {
  FileOptions options;
  const rocksdb::Options finished = options.Finished();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), finished);
  Check(writer.OpenWithEmbeddedBlobs(path, {.min_blob_size = 64}));
  for (int row = 0; row < 24; ++row) {
    const std::string value(row % 3 == 0 ? 80 + row : 8, 'a' + row);
    Check(writer.Put(RowKey(row, "mail"), value));
  }
  const std::string column(70, 'c');
  Check(writer.PutEntity(RowKey(30, ""), {{"long", column}, {"short", "s"}}));
  Check(writer.Finish());

  rocksdb::SstFileReader reader(finished);
  Check(reader.Open(path));
  const std::unique_ptr<rocksdb::Iterator> cells(reader.NewIterator({}));
  Lines lines;
  for (cells->SeekToFirst(); cells->Valid(); cells->Next()) {
    lines.push_back(Hex(cells->key().ToString()) + " " +
                    Hex(cells->value().ToString()));
  }
  Check(cells->status());
  WriteLines(fs::path(path).replace_extension(".read.txt"), lines);
}

void WriteOthersOfVersion(const fs::path& dir) {
  WriteBlobs(dir / "blobs.sst");
}

#else  // 10.11

// The index has a line for each data block, with its last key and its place.
class GoldenIndexBuilder final : public rocksdb::UserDefinedIndexBuilder {
 public:
  rocksdb::Slice AddIndexEntry(const rocksdb::Slice& last_key,
                               const rocksdb::Slice* /*next_key*/,
                               const BlockHandle& block,
                               std::string* /*scratch*/) override {
    contents_ += last_key.ToString() + " " + std::to_string(block.offset) +
                 " " + std::to_string(block.size) + "\n";
    return last_key;
  }
  rocksdb::Status Finish(rocksdb::Slice* contents) override {
    *contents = contents_;
    return rocksdb::Status::OK();
  }

 private:
  std::string contents_;
};

// RocksDB 10.11 has no user-defined index of its own.
class GoldenIndexFactory final : public rocksdb::UserDefinedIndexFactory {
 public:
  const char* Name() const override { return "golden_index"; }
  rocksdb::UserDefinedIndexBuilder* NewBuilder() const override {
    return new GoldenIndexBuilder;
  }
  std::unique_ptr<rocksdb::UserDefinedIndexReader> NewReader(
      rocksdb::Slice& /*contents*/) const override {
    return nullptr;  // files are only written here
  }
};

const Changes& ChangesOfVersion() {
  static const Changes changes = {
      {"hash",
       [](FileOptions* options) {
         options->table.data_block_index_type =
             BlockBasedTableOptions::kDataBlockBinaryAndHash;
         options->table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
         options->db.compression = rocksdb::kNoCompression;
       }},
      {"partitioned",
       [](FileOptions* options) {
         options->table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
         options->db.compression = rocksdb::kZSTD;
         MakePartitioned(&options->table);
       }},
      {"user_index",
       [](FileOptions* options) {
         options->table.user_defined_index_factory =
             std::make_shared<GoldenIndexFactory>();
       }},
  };
  return changes;
}

void WriteOthersOfVersion(const fs::path& /*dir*/) {}

#endif

void Write(const fs::path& dir) {
  if (!fs::create_directory(dir)) {
    throw std::runtime_error(dir.string() + " exists");
  }
  for (const Changes* changes : {&ChangesOfAll(), &ChangesOfVersion()}) {
    for (const auto& [name, change] : *changes) {
      FileOptions options;
      change(&options);
      WriteFile(options, dir / (name + ".sst"));
    }
  }
  WriteFlushed(dir / "flushed.sst");
  WriteOthersOfVersion(dir);
}

}  // namespace
}  // namespace rowbloom::golden

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_tables DIR\n");
    return 2;
  }
  try {
    rowbloom::golden::Write(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_tables: %s\n", error.what());
    return 1;
  }
}
