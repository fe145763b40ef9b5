// BlockReader reads and decompresses blocks of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/format/buffer.h"
#include "storage/format/codec.h"
#include "tools/sst/compression.h"
#include "tools/sst/footer.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {

// Reads blocks of data, of the index and of filters. Holds up to 256 KiB of the
// file (more for a larger block), one decompressed block and, once a data block
// needs it, the file's compression dictionary. The file must outlive it. Not
// thread-safe.
class BlockReader {
 public:
  explicit BlockReader(const SstFile& file) : file_(file) {}

  // Reads a block, verifies and decompresses it. If blocks are read in their
  // order, it reads many at once, and still reports damage for the block that
  // has it. *contents lives until the next call. On error it is unspecified.
  rocksdb::Status ReadData(const BlockHandle& handle,
                           std::string_view* contents);
  // Reads a block of the index, which RocksDB compresses without the
  // dictionary, or a meta block, such as a filter, which it does not compress.
  rocksdb::Status ReadMeta(const BlockHandle& handle,
                           std::string_view* contents);

  // The compression of the block that was read last.
  CompressionType compression() const { return compression_; }

 private:
  rocksdb::Status Fill(uint64_t offset_bytes, uint64_t length_bytes);
  rocksdb::Status ReadStored(const BlockHandle& handle,
                             std::string_view* stored);
  rocksdb::Status LoadDictionary();
  rocksdb::Status Unpack(const BlockHandle& handle,
                         const CodecDictionary* dictionary,
                         std::string_view* contents);

  const SstFile& file_;
  Buffer room_;
  // The part of the file that is in the front of `room_`.
  uint64_t offset_bytes_ = 0;
  size_t size_bytes_ = 0;
  // The end of the block that was requested last; 0: none.
  uint64_t last_end_ = 0;
  uint64_t most_bytes_ = 0;  // the limit of one read

  Buffer decompressed_;
  CompressionType compression_ = CompressionType::kNone;
  bool dictionary_loaded_ = false;
  std::optional<CodecDictionary> dictionary_;
};

}  // namespace rowbloom::sst
