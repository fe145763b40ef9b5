// Reading SST files. Each input is a file, and once more a file whose checksums
// are made right; and it is a block of entries by itself.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter_block.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sst_checksums.h"
#include "tools/sst/block.h"
#include "tools/sst/data_cursor.h"
#include "tools/sst/sst_file.h"
#include "tools/sst/stock_filter.h"

namespace rowbloom::fuzz {
namespace {

using rocksdb::Status;

void CheckError(const Status& status) {
  Check(status.IsCorruption() || status.IsNotSupported(),
        "bytes that cannot be read are corrupt or not supported");
  Check(status.getState() != nullptr && *status.getState() != '\0',
        "an error says what is wrong");
}

void CheckBlock(const sst::SstFile& file, const sst::BlockHandle& handle) {
  std::string contents;
  const Status status = file.ReadBlock(handle, &contents);
  if (!status.ok()) {
    CheckError(status);
    return;
  }
  Check(contents.size() == handle.size_bytes, "a block has its handle's size");
  const FilterBlock block = FilterBlock::Open(contents);
  Check(block.usable() || block.MayMatch("a:x").may_match(),
        "an unusable filter block matches everything");
  const sst::StockFilter stock = sst::StockFilter::Open(contents);
  const bool match = stock.MayMatch("a:x");
  Check(stock.problem().empty() || match, "a reserved filter matches");
  const double rate = stock.Estimate().false_positive_rate;
  Check(rate >= 0 && rate <= 1, "a rate is a probability");
}

// A value that may be elsewhere in the file.
void CheckBlob(const sst::SstFile& file, sst::EntryType type,
               std::string_view value, sst::EmbeddedBlobReader* blobs) {
  if (!sst::IsEmbeddedBlob(file, type, value)) return;
  std::string contents;
  const Status status = blobs->Read(value, &contents);
  if (!status.ok()) CheckError(status);
  Check(!status.ok() || contents.size() < file.size_bytes(),
        "a blob lies in the file");
}

// Each entry that can be reached, damage passed over.
void CheckData(const sst::SstFile& file) {
  sst::DataCursor data(file);
  sst::EmbeddedBlobReader blobs(file);
  uint64_t end = 0;
  do {
    while (data.NextBlock()) {
      Check(data.block().offset_bytes >= end, "data blocks go forward");
      end = data.block().offset_bytes + data.block().size_bytes;
      Check(sst::EndsWithin(data.block(), file.footer().offset_bytes),
            "data blocks lie in the file");
      size_t entries = 0;
      while (data.NextEntry()) {
        Check(data.value().size() <= data.contents_bytes(),
              "values come from their block");
        CheckBlob(file, data.key().type, data.value(), &blobs);
        ++entries;
      }
      Check(entries <= data.contents_bytes(), "an entry takes a byte");
      if (!data.block_status().ok()) CheckError(data.block_status());
    }
    if (!data.index().status().ok()) CheckError(data.index().status());
  } while (data.SkipDamagedPartition());
  sst::DataCursor from(file);
  from.SkipTo("key000007");
  while (from.Next()) {
  }
  const Status ranges =
      sst::ForEachRangeDeletion(file, [](const sst::RangeDeletion& range) {
        Check(range.sequence < uint64_t{1} << 56, "sequences have 56 bits");
      });
  if (!ranges.ok()) CheckError(ranges);
}

void CheckFile(const MemoryFile& memory, std::string_view bytes) {
  memory.Write(bytes);
  std::unique_ptr<sst::SstFile> file;
  const Status status = sst::SstFile::Open(memory.Path(), &file);
  Check(status.ok() == (file != nullptr), "an error leaves the result alone");
  if (!status.ok()) {
    CheckError(status);
    return;
  }
  Check(file->size_bytes() == bytes.size(), "a file has the size of its bytes");
  for (const auto& [name, handle] : file->meta_blocks()) {
    Check(sst::EndsWithin(handle, file->footer().metaindex.offset_bytes),
          "meta blocks lie before the metaindex");
    CheckBlock(*file, handle);
  }
  for (const auto& [name, value] : file->properties()) {
    Check(!file->NumberProperty(name) || !value.empty(),
          "an empty property is no number");
  }
  Check(!file->NumberProperty("absent"), "an absent property is no number");
  if (file->footer().index) CheckBlock(*file, *file->footer().index);
  // No handle is believed, wherever it comes from.
  CheckBlock(*file, {bytes.size(), 1});
  CheckBlock(*file, {UINT64_MAX, UINT64_MAX});
  CheckData(*file);

  std::vector<sst::FilterPartition> partitions(1);
  const Status filters = file->FilterPartitions(&partitions);
  if (!filters.ok()) {
    CheckError(filters);
    Check(partitions.size() == 1, "an error leaves the result alone");
    return;
  }
  const bool full = file->filter().form == sst::FilterForm::kFull;
  Check(!full || partitions.size() == 1, "a full filter is one partition");
  uint64_t end = 0;
  for (const sst::FilterPartition& partition : partitions) {
    Check(partition.handle.offset_bytes >= end, "partitions do not overlap");
    end = partition.handle.offset_bytes + partition.handle.size_bytes;
    CheckBlock(*file, partition.handle);
  }
}

void CheckEntries(std::string_view block, sst::ValueForm form) {
  sst::EntryCursor entries(block, form);
  size_t end = 0;
  while (entries.Next()) {
    const std::string_view value = entries.value();
    Check(entries.value_offset_bytes() >= end, "entries go forward");
    Check(entries.value_offset_bytes() <= block.size() &&
              value.size() <= block.size() - entries.value_offset_bytes(),
          "values lie within the block");
    Check(value == block.substr(entries.value_offset_bytes(), value.size()),
          "values are at their offset");
    Check(entries.key().size() <= block.size(), "keys come from the block");
    end = entries.value_offset_bytes() + value.size();
  }
  if (!entries.status().ok()) CheckError(entries.status());
  Check(!entries.Next(), "the end stays the end");
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const rowbloom::fuzz::MemoryFile memory;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rowbloom::fuzz::CheckFile(memory, bytes);
  std::string repaired(bytes);
  rowbloom::fuzz::MakeChecksumsRight(&repaired);
  rowbloom::fuzz::CheckFile(memory, repaired);
  for (const auto form :
       {rowbloom::sst::ValueForm::kSized, rowbloom::sst::ValueForm::kHandle,
        rowbloom::sst::ValueForm::kHandleAndFirstKey,
        rowbloom::sst::ValueForm::kData}) {
    rowbloom::fuzz::CheckEntries(bytes, form);
  }
  return 0;
}
