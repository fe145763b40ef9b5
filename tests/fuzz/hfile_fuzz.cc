// Reading HFiles. Each input is a file, and once more a file whose checksums
// are made right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/index_walk.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/storage/hfile/edit_file.h"

namespace rowbloom::fuzz {
namespace {

using rocksdb::Status;

constexpr size_t kMaxCells = 20'000;

void CheckError(const Status& status) {
  Check(status.IsCorruption() || status.IsNotSupported() ||
            status.IsMemoryLimit(),
        "bytes that cannot be read are corrupt, not supported or too large");
  Check(status.getState() != nullptr && *status.getState() != '\0',
        "an error says what is wrong");
}

void CheckEnd(const HFileIterator& iterator) {
  if (!iterator.status().ok()) CheckError(iterator.status());
}

// Every cell that can be read, up to a limit.
std::vector<HFileCell> CheckScan(const HFileReader& reader, bool fill_cache) {
  std::vector<HFileCell> cells;
  const auto iterator = reader.NewIterator({.fill_cache = fill_cache});
  for (iterator->SeekToFirst(); iterator->Valid() && cells.size() < kMaxCells;
       iterator->Next()) {
    cells.emplace_back(iterator->cell());
    Check(cells.back().View().value.size() <= reader.file_bytes() * 1032 ||
              reader.trailer().compression == HFileCompression::kZstd,
          "values are no larger than a codec can make them");
  }
  CheckEnd(*iterator);
  return cells;
}

// The index is read to its end or to an error, whatever it points to.
void CheckIndex(const hfile::Reader& reader) {
  size_t entries = 0;
  const Status status = hfile::ForEachDataIndexEntry(
      reader, [&](const hfile::DataIndexEntry&) { ++entries; });
  if (!status.ok()) CheckError(status);
  // A block, of which each entry names another, has a header.
  Check(entries <= reader.file_bytes() / hfile::kBlockHeaderBytes,
        "an index cannot name more blocks than a file has room for");
}

void CheckSeek(HFileIterator* iterator, const HFileKey& key) {
  iterator->Seek(key);
  CheckEnd(*iterator);
  Check(
      !iterator->Valid() || CompareHFileKeys(iterator->cell().key(), key) >= 0,
      "a seek does not stop before the key");
}

void CheckQuestions(const HFileReader& reader, std::string_view row,
                    std::string_view qualifier) {
  const bool may = reader.MayContainRow(row);
  if (!reader.BloomStatus().ok() && reader.GeneralBloom() == nullptr) {
    Check(may && reader.MayContainRowCol(row, qualifier),
          "an unusable filter may contain everything");
  }
  reader.MayContainRowCol(row, qualifier);
  reader.MayContainScan(row, qualifier);
  reader.MayContainDeleteFamily(row);
  reader.KeyRangeMayContain(row, qualifier);
  reader.TimeRangeMayContain(0, 1);
  std::vector<HFileCell> cells;
  Status status = reader.GetRow(row, &cells);
  if (!status.ok()) CheckError(status);
  for (const HFileCell& cell : cells) {
    Check(cell.row == row, "a row has its own cells");
  }
  status = reader.GetColumn(row, "f", qualifier, &cells);
  if (!status.ok()) CheckError(status);
}

void CheckFile(const MemoryFile& memory, std::string_view bytes) {
  memory.Write(bytes);
  HFileReaderOptions options;
  options.max_block_bytes = size_t{1} << 20;
  options.max_get_bytes = size_t{1} << 20;
  options.block_cache_bytes = size_t{1} << 18;
  std::unique_ptr<HFileReader> reader;
  Status status = HFileReader::Open(options, memory.Path(), &reader);
  Check(status.ok() == (reader != nullptr), "an error leaves the result alone");
  if (!status.ok()) {
    CheckError(status);
    return;
  }
  const std::vector<HFileCell> cells = CheckScan(*reader, false);
  Check(CheckScan(*reader, true) == cells, "the cache changes no cell");
  const auto iterator = reader->NewIterator({});
  CheckSeek(iterator.get(), {"row", "f", "q", 7});
  CheckQuestions(*reader, "row", "q");
  const size_t step = std::max<size_t>(1, cells.size() / 8);
  for (size_t i = 0; i < cells.size(); i += step) {
    const HFileCell& cell = cells[i];
    CheckSeek(iterator.get(), cell.View().key());
    CheckQuestions(*reader, cell.row, cell.qualifier);
  }
  std::string text;
  for (const std::string& name : reader->MetaBlockNames()) {
    status = reader->ReadMetaBlock(name, &text);
    if (!status.ok()) CheckError(status);
  }
  reader->FirstKey();
  reader->LastKey();
  CheckIndex(static_cast<const hfile::Reader&>(*reader));
  HFileReport report;
  status = reader->Verify(&report);
  if (!status.ok()) CheckError(status);
  Check(report.problems.size() <= HFileReport::kMaxProblems + 1,
        "a report has its limit");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const rowbloom::fuzz::MemoryFile memory;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rowbloom::fuzz::CheckFile(memory, bytes);
  std::string repaired(bytes);
  rowbloom::test::ResealBlocks(&repaired);
  if (repaired != bytes) rowbloom::fuzz::CheckFile(memory, repaired);
  return 0;
}
