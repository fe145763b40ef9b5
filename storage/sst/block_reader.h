// BlockReader: blocks of a file, compression undone.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/status.h"
#include "storage/sst/compression.h"
#include "storage/sst/footer.h"
#include "storage/sst/sst_file.h"

namespace rowbloom::sst {

// Reads data and index blocks. Holds the bytes of one stored block and, once a
// data block needs it, the file's compression dictionary. The file must outlive
// it. Not thread-safe.
class BlockReader {
 public:
  explicit BlockReader(const SstFile& file) : file_(file) {}

  // Which blocks are compressed with the file's dictionary.
  enum class Dictionary : bool { kNone, kOfFile };

  // Reads a block, verifies it and undoes its compression. On error *contents
  // is unspecified.
  rocksdb::Status Read(const BlockHandle& handle, Dictionary dictionary,
                       std::string* contents);
  rocksdb::Status ReadData(const BlockHandle& handle, std::string* contents) {
    return Read(handle, Dictionary::kOfFile, contents);
  }
  rocksdb::Status ReadIndex(const BlockHandle& handle, std::string* contents) {
    return Read(handle, Dictionary::kNone, contents);
  }

  // Of the block that was read last.
  CompressionType compression() const { return compression_; }

 private:
  rocksdb::Status LoadDictionary();

  const SstFile& file_;
  std::string stored_;
  CompressionType compression_ = CompressionType::kNone;
  Decompressor plain_;
  std::unique_ptr<Decompressor> with_dictionary_;
};

}  // namespace rowbloom::sst
