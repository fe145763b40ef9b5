// PREFIX, DIFF and FAST_DIFF share this: a cell is stored as its difference
// from the cell before it.
//
//   payload = encoding u16, size i32 of all cells as a plain block has them,
//             cells
//   cell    = key and value, as the encoding has them
//             [, tags length varint, tags] [, mvcc vlong]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/format/buffer.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/tag_dictionary.h"

namespace rowbloom::hfile {

// A key has these bytes behind row, family and qualifier.
inline constexpr size_t kTimestampTypeBytes = 9;

class DeltaCells : public BlockCells {
 public:
  [[nodiscard]] bool Start(std::string_view payload) final;
  [[nodiscard]] bool Next() final;

 protected:
  DeltaCells(HFileEncoding encoding, const CellForm& form,
             uint64_t max_cells_bytes)
      : encoding_(encoding), form_(form), max_cells_bytes_(max_cells_bytes) {}

  // Reads the part that comes once, before the cells.
  [[nodiscard]] virtual bool ReadHead() { return true; }
  // Reads key and value of the next cell into cell_, which is the cell before
  // until then. The first cell has none before it: key_bytes() is 0.
  [[nodiscard]] virtual bool ReadKeyAndValue() = 0;

  // Takes the sizes from those of all cells. It is an error if the cell is
  // larger than what is left of them.
  bool CheckSizes(uint64_t key_bytes, uint64_t value_bytes);
  bool ReadValue(uint64_t value_bytes);
  bool FailCutOff() { return Fail("cell is cut off"); }

  // The size of the key before, in the form of cell.h; 0 if there is none.
  uint64_t key_bytes() const { return key_bytes_; }
  // Reads a key of `key_bytes` bytes, which CheckSizes took, timestamp and type
  // included. The first `common` of them are those of the key before.
  bool ReadKey(uint64_t common, uint64_t key_bytes);
  // Reads a key up to its timestamp, which follows in some other form: the rest
  // of the row and the qualifier, or only the rest of the qualifier if row and
  // family are common. All cells have `family`.
  bool ReadColumn(std::string_view family, uint64_t common, uint64_t key_bytes);

 private:
  // Makes room for the next key, with the first `common` bytes of the one
  // before, which stays. Null after an error.
  char* NewKey(uint64_t common, uint64_t key_bytes);
  bool ReadTags();
  bool ReadMvcc();
  // Takes tags or an mvcc number from the bytes of all cells.
  bool TakeSize(uint64_t byte_count);

  const HFileEncoding encoding_;
  const CellForm form_;
  const uint64_t max_cells_bytes_;
  uint64_t cells_bytes_ = 0;  // all cells as a plain block has them
  uint64_t left_bytes_ = 0;   // those of them not yet read
  // The key here and the one before it take turns.
  std::array<Buffer, 2> keys_;
  size_t key_at_ = 0;
  uint64_t key_bytes_ = 0;
  TagDictionary dictionary_;
  std::string tags_;  // the present cell's, if they were compressed
};

// Counts the bytes at the front of both keys, in the form of cell.h, that are
// the same, up to the timestamp. Families are taken to be the same.
size_t CommonColumnBytes(const HFileCellView& a, const HFileCellView& b);

class DeltaBuilder : public BlockBuilder {
 public:
  void Add(const HFileCellView& cell) final;
  std::string_view Finish() final;
  void Clear() final;

 protected:
  DeltaBuilder(HFileEncoding encoding, const CellForm& form);

  // Appends key and value to payload_. `before` is null for the first cell; its
  // value is in payload_, and moves when something is appended.
  virtual void AddKeyAndValue(const HFileCellView* before,
                              const HFileCellView& cell) = 0;
  void AppendValue(std::string_view value);
  // Appends the rest of row and qualifier, as DeltaCells::ReadColumn reads it.
  void AppendColumn(const HFileCellView& cell, size_t common);

  std::string payload_;

 private:
  const HFileEncoding encoding_;
  const CellForm form_;
  std::string key_;  // the previous cell's
  size_t value_at_ = 0;
  size_t value_bytes_ = 0;
  TagDictionary dictionary_;
};

}  // namespace rowbloom::hfile
