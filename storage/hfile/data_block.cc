#include "storage/hfile/data_block.h"

#include <array>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/format/status_text.h"
#include "storage/hfile/delta_block.h"
#include "storage/hfile/row_index_block.h"

namespace rowbloom {
namespace {

struct NamedEncoding {
  HFileEncoding encoding;
  std::string_view name;
};
constexpr std::array<NamedEncoding, 5> kEncodings = {{
    {HFileEncoding::kNone, "NONE"},
    {HFileEncoding::kPrefix, "PREFIX"},
    {HFileEncoding::kDiff, "DIFF"},
    {HFileEncoding::kFastDiff, "FAST_DIFF"},
    {HFileEncoding::kRowIndexV1, "ROW_INDEX_V1"},
}};

}  // namespace

std::string_view ToString(HFileEncoding encoding) {
  for (const NamedEncoding& known : kEncodings) {
    if (known.encoding == encoding) return known.name;
  }
  return "unknown";
}

namespace hfile {
namespace {

// NONE stores whole cells, one after another.
class PlainCells : public BlockCells {
 public:
  explicit PlainCells(const CellForm& form) : form_(form) {}

  [[nodiscard]] bool Start(std::string_view payload) override {
    SetPayload(payload);
    if (payload.empty()) return Fail("at least one cell expected, found none");
    return Next();
  }
  [[nodiscard]] bool Next() override { return ReadPlainCell(form_); }

 private:
  const CellForm form_;
};

class PlainBuilder : public BlockBuilder {
 public:
  explicit PlainBuilder(const CellForm& form) : form_(form) {}

  void Add(const HFileCellView& cell) override {
    AppendCell(cell, form_, &payload_);
    cells_bytes_ = encoded_bytes_ = payload_.size();
  }
  std::string_view Finish() override { return payload_; }
  void Clear() override {
    payload_.clear();
    cells_bytes_ = encoded_bytes_ = 0;
  }

 private:
  const CellForm form_;
  std::string payload_;
};

}  // namespace

std::optional<HFileEncoding> FindEncoding(std::string_view name) {
  for (const NamedEncoding& known : kEncodings) {
    if (known.name == name) return known.encoding;
  }
  return std::nullopt;
}

std::optional<HFileEncoding> EncodingOf(std::string_view payload) {
  if (payload.size() < kEncodingIdBytes) return std::nullopt;
  const auto id = static_cast<HFileEncoding>(LoadBig<uint16_t>(payload.data()));
  for (const NamedEncoding& known : kEncodings) {
    if (known.encoding == id && id != HFileEncoding::kNone) return id;
  }
  return std::nullopt;
}

bool BlockCells::SkipTo(const HFileKey& /*key*/) { return true; }

bool BlockCells::ReadEncodingId(HFileEncoding expected) {
  uint16_t id = 0;
  if (!GetBig(&rest_, &id)) return Fail("encoding is cut off");
  if (id == static_cast<uint16_t>(expected)) return true;
  return Fail(Concat("encoding ", id, ", expected ",
                     static_cast<uint16_t>(expected), ", ",
                     ToString(expected)));
}

bool BlockCells::ReadPlainCell(const CellForm& form) {
  const std::string_view bytes = rest_;
  offset_ = OffsetOfRest();
  size_t cell_bytes = 0;
  const char* problem = ParseCell(bytes, form, &cell_, &cell_bytes);
  if (problem != nullptr) {
    return Fail(Concat(DescribeCell(bytes), ": ", problem));
  }
  rest_ = bytes.substr(cell_bytes);
  return true;
}

bool BlockCells::Fail(const std::string& problem) {
  status_ = Corruption("byte ", offset_, " of its payload: ", problem);
  return false;
}

bool BlockCells::FailForMemory(const std::string& problem) {
  status_ = MemoryLimit("byte ", offset_, " of its payload: ", problem);
  return false;
}

std::unique_ptr<BlockCells> NewBlockCells(HFileEncoding encoding,
                                          const CellForm& form,
                                          uint64_t max_cells_bytes) {
  switch (encoding) {
    case HFileEncoding::kPrefix:
      return std::make_unique<PrefixCells>(form, max_cells_bytes);
    case HFileEncoding::kDiff:
      return std::make_unique<DiffCells>(form, max_cells_bytes);
    case HFileEncoding::kFastDiff:
      return std::make_unique<FastDiffCells>(form, max_cells_bytes);
    case HFileEncoding::kRowIndexV1:
      return std::make_unique<RowIndexCells>(form);
    case HFileEncoding::kNone:
      break;
  }
  return std::make_unique<PlainCells>(form);
}

std::unique_ptr<BlockBuilder> NewBlockBuilder(HFileEncoding encoding,
                                              const CellForm& form) {
  switch (encoding) {
    case HFileEncoding::kPrefix:
      return std::make_unique<PrefixBuilder>(form);
    case HFileEncoding::kDiff:
      return std::make_unique<DiffBuilder>(form);
    case HFileEncoding::kFastDiff:
      return std::make_unique<FastDiffBuilder>(form);
    case HFileEncoding::kRowIndexV1:
      return std::make_unique<RowIndexBuilder>(form);
    case HFileEncoding::kNone:
      break;
  }
  return std::make_unique<PlainBuilder>(form);
}

}  // namespace hfile
}  // namespace rowbloom
