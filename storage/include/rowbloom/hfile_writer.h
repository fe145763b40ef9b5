// HFileWriter: writes an HFile as HBase writes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace rowbloom {

// The classes that compress on the cluster. They decide how LZ4, SNAPPY and
// ZSTD cut a block into chunks, and for ZSTD whether there are chunks at all: a
// reader of one ZSTD framing cannot read the other, so a writer must know. GZ
// and NONE are the same in all.
enum class HFileCodecClasses : uint8_t {
  kHadoop,              // Hadoop's own codecs, HBase's default
  kHBaseNative,         // hbase-compression-lz4, -snappy, -zstd
  kHBaseAircompressor,  // hbase-compression-aircompressor
};

// Defaults are HBase's own. Sizes are in bytes.
struct HFileWriterOptions {
  // The environment that has the file system to write to; it must outlive the
  // writer. nullptr: rocksdb::Env::Default(). An export takes that of the
  // store.
  rocksdb::Env* env = nullptr;

  HFileCompression compression = HFileCompression::kNone;
  HFileCodecClasses codec_classes = HFileCodecClasses::kHadoop;
  // The level of GZ (0 to 9) and ZSTD (0 to 22); -1 is the codec's default.
  int compression_level = -1;

  // PREFIX, DIFF and FAST_DIFF have room for one family in a file.
  HFileEncoding encoding = HFileEncoding::kNone;
  // The size of a data block, encoded or not, after which the next key begins a
  // new one; at most 512 MiB.
  uint32_t block_bytes = 64 * 1024;

  // True: cells are stored with tags, and with the mvcc number. False: cells
  // that have them are refused.
  bool tags = false;
  bool mvcc = true;
  // True: PREFIX, DIFF and FAST_DIFF write tags that a block has already as
  // references. Other encodings write them whole, but set the flag in the file
  // info as HBase does.
  bool compress_tags = false;

  BloomType bloom_type = BloomType::kRow;
  uint32_t bloom_prefix_bytes = 0;  // kRowPrefixFixedLength only
  float bloom_error_rate = 0.01F;   // HBase's own option is a float

  // File info. Unset entries are not written.
  std::optional<int64_t> create_time_ms;  // the clock when not set
  std::optional<int64_t> max_sequence_id;
  std::optional<bool> major_compaction = false;
  std::optional<bool> exclude_from_minor_compaction;
  std::optional<int64_t> bulk_load_time_ms;   // marks a bulk-loaded file
  std::optional<std::string> bulk_load_task;  // the name of the task
  // Other entries. Their names must not start with "hfile.", nor be those of
  // entries that have an option here or that the writer computes.
  std::map<std::string, std::string> file_info;
};

// Writes a file: Open, Append*, Finish. After Finish the file is at its path,
// synced to the disk; without it there is no file. Memory: one data block, its
// compressed form, the index's root, two Bloom chunks, and all meta blocks. If
// memory runs out, the call fails with MemoryLimit, and so do all later ones.
// Not thread-safe.
class HFileWriter {
 public:
  // Creates a file of another name in the directory of `path`. Errors:
  //   InvalidArgument  an option out of its range; the message says which
  //   NotSupported     a codec that Debian has no library for
  //   IOError          the file cannot be created
  static rocksdb::Status Open(const HFileWriterOptions& options,
                              const std::string& path,
                              std::unique_ptr<HFileWriter>* writer);
  // Removes the file, unless Finish has put it at its path, or the process is a
  // child of that which opened it.
  virtual ~HFileWriter() = default;
  HFileWriter(const HFileWriter&) = delete;
  HFileWriter& operator=(const HFileWriter&) = delete;

  // Adds a cell. Keys must ascend; equal keys are allowed.
  // InvalidArgument: the cell is out of order, over a limit, or of a type that
  // is not written, or has tags or an mvcc number and the options have not. It
  // was not added, and other cells can be. All other errors end the file: every
  // later call returns the same. So does the InvalidArgument of a block of more
  // than kHFileMaxBlockBytes: the cells of one key, which stay in one block,
  // can exceed it.
  virtual rocksdb::Status Append(const HFileCellView& cell) = 0;
  // Adds a block of the application, which is read by its name.
  // InvalidArgument: the file has a block of this name.
  virtual rocksdb::Status AddMetaBlock(std::string_view name,
                                       std::string_view contents) = 0;
  // Adds to the file info. InvalidArgument: a reserved name
  // (HFileWriterOptions::file_info).
  virtual rocksdb::Status AddFileInfo(std::string_view name,
                                      std::string_view value) = 0;
  // Completes the file and puts it at its path, in place of what is there. May
  // be called once. InvalidArgument: the file info, which has the keys of the
  // last cell and of the Bloom filter, has more than 16 MiB: no reader would
  // open the file. IOError: the file is not at its path; or the sync of its
  // directory failed, and it is there, but a power cut may take it.
  virtual rocksdb::Status Finish() = 0;

  // Bytes written so far.
  virtual uint64_t file_bytes() const = 0;
  virtual uint64_t cell_count() const = 0;

 protected:
  HFileWriter() = default;
};

}  // namespace rowbloom
