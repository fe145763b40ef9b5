// The payload of a data block has cells in one of HBase's encodings
// (FORMAT.md). A BlockCells walks over them, a BlockBuilder makes a payload;
// each encoding but NONE has both in a file of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"
#include "storage/hfile/block.h"
#include "storage/hfile/cell.h"

namespace rowbloom::hfile {

// An encoded payload starts with the number of its encoding.
inline constexpr size_t kEncodingIdBytes = 2;

// Finds the encoding that file info names. Returns nullopt for other names.
std::optional<HFileEncoding> FindEncoding(std::string_view name);

// Reads the encoding from the front of an encoded payload. Returns nullopt for
// an unknown one.
std::optional<HFileEncoding> EncodingOf(std::string_view payload);

// Returns the type of data blocks that have this encoding.
inline BlockType DataBlockType(HFileEncoding encoding) {
  return encoding == HFileEncoding::kNone ? BlockType::kData
                                          : BlockType::kEncodedData;
}

// Walks over the cells of one block after another. If the encoding leaves out
// parts of keys, holds up to four times the largest key, and compressed tags of
// a cell and of the dictionary. Safe for any bytes. Not thread-safe.
class BlockCells {
 public:
  virtual ~BlockCells() = default;
  BlockCells(const BlockCells&) = delete;
  BlockCells& operator=(const BlockCells&) = delete;

  // Moves to the first cell of this payload, whose bytes must stay valid until
  // the next Start. This and the other moves return false after an error;
  // status() returns it.
  [[nodiscard]] virtual bool Start(std::string_view payload) = 0;
  // Moves to the next cell. REQUIRES HasNext().
  [[nodiscard]] virtual bool Next() = 0;
  // Moves from the first cell towards the first one at or after `key`, and not
  // beyond. An encoding without an index stays on the first cell. REQUIRES that
  // the first cell is before `key`.
  [[nodiscard]] virtual bool SkipTo(const HFileKey& key);

  // Tells whether there is a cell after this one.
  bool HasNext() const { return !rest_.empty(); }
  // The cell's bytes stay valid until the next move, the bytes of its key until
  // the move after that.
  const HFileCellView& cell() const { return cell_; }
  // Returns the offset of the cell in the payload.
  size_t offset() const { return offset_; }
  // Returns Corruption or MemoryLimit, with the offset in the payload, without
  // a file.
  const rocksdb::Status& status() const { return status_; }

 protected:
  BlockCells() = default;

  // Sets the payload, in which offsets count from now on.
  void SetPayload(std::string_view payload) {
    payload_ = payload;
    rest_ = payload;
    offset_ = 0;
  }
  // Skips the number of the encoding. Fails for another one.
  bool ReadEncodingId(HFileEncoding expected);
  // Reads the next cell, which is stored as in a plain block. Returns false
  // after an error.
  bool ReadPlainCell(const CellForm& form);
  size_t OffsetOfRest() const {
    return static_cast<size_t>(rest_.data() - payload_.data());
  }
  bool Fail(const std::string& problem);
  bool FailForMemory(const std::string& problem);

  std::string_view payload_;
  // The bytes after the current cell, up to the end of the last one.
  std::string_view rest_;
  size_t offset_ = 0;
  HFileCellView cell_;

 private:
  rocksdb::Status status_;
};

// Returns a BlockCells that refuses blocks whose cells would take more than
// `max_cells_bytes` in a plain block.
std::unique_ptr<BlockCells> NewBlockCells(HFileEncoding encoding,
                                          const CellForm& form,
                                          uint64_t max_cells_bytes);

// Makes one block after another. Not thread-safe.
class BlockBuilder {
 public:
  virtual ~BlockBuilder() = default;
  BlockBuilder(const BlockBuilder&) = delete;
  BlockBuilder& operator=(const BlockBuilder&) = delete;

  // REQUIRES a cell that HFileWriter::Append takes.
  virtual void Add(const HFileCellView& cell) = 0;
  // Returns the payload, which stays valid until the next call. REQUIRES a
  // cell. Only Clear may follow.
  virtual std::string_view Finish() = 0;
  // Begins the next block.
  virtual void Clear() = 0;

  bool empty() const { return cells_bytes_ == 0; }
  // Returns the size that decides whether the block is full: the size of its
  // cells as they are encoded, or in a plain block if that is larger.
  size_t size_bytes() const { return std::max(cells_bytes_, encoded_bytes_); }

 protected:
  BlockBuilder() = default;

  size_t cells_bytes_ = 0;  // the size of the cells in a plain block
  size_t encoded_bytes_ = 0;
};

std::unique_ptr<BlockBuilder> NewBlockBuilder(HFileEncoding encoding,
                                              const CellForm& form);

}  // namespace rowbloom::hfile
