// BlockReader: blocks of a file, compression undone.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/sst/compression.h"
#include "storage/sst/footer.h"
#include "storage/sst/sst_file.h"

namespace rowbloom::sst {

// Reads data and index blocks. Holds what it has read of the file, one block
// without its compression and, once a data block needs it, the file's
// compression dictionary. The file must outlive it. Not thread-safe.
class BlockReader {
 public:
  explicit BlockReader(const SstFile& file) : file_(file) {}

  // Reads a block, verifies it and undoes its compression. When data blocks are
  // read in their order, many are read at once. *contents lives until the next
  // call. On error *contents is unspecified.
  rocksdb::Status ReadData(const BlockHandle& handle,
                           std::string_view* contents);
  rocksdb::Status ReadIndex(const BlockHandle& handle, std::string* contents);

  // The compression of the block that was read last.
  CompressionType compression() const { return compression_; }

 private:
  rocksdb::Status LoadDictionary();
  rocksdb::Status Decompress(const BlockHandle& handle, std::string_view stored,
                             Decompressor* by, std::string* contents) const;

  const SstFile& file_;
  ReadBuffer buffer_;
  std::string decompressed_;
  CompressionType compression_ = CompressionType::kNone;
  Decompressor plain_;
  std::unique_ptr<Decompressor> with_dictionary_;
};

}  // namespace rowbloom::sst
