// The encodings PREFIX, DIFF and FAST_DIFF: a cell is stored as its difference
// from the cell before it.
//
//   payload = encoding u16, size i32 of all cells in a plain block, cells
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

class DeltaCells : public BlockCells {
 public:
  [[nodiscard]] bool Start(std::string_view payload) final;
  [[nodiscard]] bool Next() final;

 protected:
  DeltaCells(HFileEncoding encoding, const CellForm& form,
             uint64_t max_cells_bytes)
      : encoding_(encoding), form_(form), max_cells_bytes_(max_cells_bytes) {}

  // Reads the part of the payload before the cells.
  [[nodiscard]] virtual bool ReadHead() { return true; }
  // Reads key and value of the next cell into cell_, which holds the previous
  // cell until then. key_bytes() is 0 if there is no previous cell.
  [[nodiscard]] virtual bool ReadKeyAndValue() = 0;

  // Subtracts the cell's size from the bytes left of all cells. Fails if it is
  // larger.
  bool CheckSizes(uint64_t key_bytes, uint64_t value_bytes);
  bool ReadValue(uint64_t value_bytes);
  bool FailCutOff() { return Fail("cell is cut off"); }

  // Returns the size of the previous key in the form of cell.h, 0 if none.
  uint64_t key_bytes() const { return key_bytes_; }
  // Reads a key of `key_bytes` bytes that CheckSizes accepted, timestamp and
  // type included. The first `common` bytes are those of the previous key.
  bool ReadKey(uint64_t common, uint64_t key_bytes);
  // Reads a key up to its timestamp, which is stored in another form: reads the
  // rest of the row and the qualifier, or only the rest of the qualifier if row
  // and family are common. All cells have `family`.
  bool ReadColumn(std::string_view family, uint64_t common, uint64_t key_bytes);

 private:
  // Makes room for the next key and copies the first `common` bytes of the
  // previous one, which stays valid. Returns null after an error.
  char* NewKey(uint64_t common, uint64_t key_bytes);
  bool ReadTags();
  bool ReadMvcc();
  // Subtracts tags or an mvcc number from the bytes left of all cells.
  bool TakeSize(uint64_t byte_count);

  const HFileEncoding encoding_;
  const CellForm form_;
  const uint64_t max_cells_bytes_;
  uint64_t cells_bytes_ = 0;  // the size of all cells in a plain block
  uint64_t left_bytes_ = 0;   // the part of it not yet read
  // The current and the previous key take turns.
  std::array<Buffer, 2> keys_;
  size_t key_at_ = 0;
  uint64_t key_bytes_ = 0;
  TagDictionary dictionary_;
  std::string tags_;  // the present cell's, if they were compressed
};

// Counts the leading bytes, up to the timestamp, that both keys in the form of
// cell.h have in common. Assumes that the families are equal.
size_t CommonColumnBytes(const HFileCellView& a, const HFileCellView& b);

class DeltaBuilder : public BlockBuilder {
 public:
  void Add(const HFileCellView& cell) final;
  std::string_view Finish() final;
  void Clear() final;

 protected:
  DeltaBuilder(HFileEncoding encoding, const CellForm& form);

  // Appends key and value to payload_. `before` is null for the first cell. Its
  // value is in payload_ and may move when bytes are appended.
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

// PREFIX leaves out the first bytes of a key if the previous key has the same.
class PrefixCells : public DeltaCells {
 public:
  PrefixCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kPrefix, form, max_cells_bytes) {}

 private:
  bool ReadKeyAndValue() override;
};

class PrefixBuilder : public DeltaBuilder {
 public:
  explicit PrefixBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kPrefix, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

// FAST_DIFF stores the parts of row, qualifier, timestamp, type and value that
// a cell does not share with the previous cell. Many tables use it by default.
class FastDiffCells : public DeltaCells {
 public:
  FastDiffCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kFastDiff, form, max_cells_bytes) {}

 private:
  bool ReadKeyAndValue() override;
  bool ReadTimestamp(size_t common_bytes);
};

class FastDiffBuilder : public DeltaBuilder {
 public:
  explicit FastDiffBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kFastDiff, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

// DIFF is like FAST_DIFF, but stores a timestamp as a difference if that is
// shorter, and every value whole.
class DiffCells : public DeltaCells {
 public:
  DiffCells(const CellForm& form, uint64_t max_cells_bytes)
      : DeltaCells(HFileEncoding::kDiff, form, max_cells_bytes) {}

 private:
  bool ReadHead() override;
  bool ReadKeyAndValue() override;
  bool ReadTimestamp(uint8_t flags);

  std::string_view family_;  // all cells'; points into the payload
};

class DiffBuilder : public DeltaBuilder {
 public:
  explicit DiffBuilder(const CellForm& form)
      : DeltaBuilder(HFileEncoding::kDiff, form) {}

 private:
  void AddKeyAndValue(const HFileCellView* before,
                      const HFileCellView& cell) override;
};

}  // namespace rowbloom::hfile
