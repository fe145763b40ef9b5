#include "tools/table/table_file.h"

#include <array>
#include <filesystem>
#include <system_error>

#include "lib/bytes/text.h"
#include "storage/format/input_file.h"
#include "storage/hfile/block.h"
#include "tools/table/hfile_table.h"
#include "tools/table/sst_table.h"

namespace rowbloom::table {
namespace {

// The magic number of block-based tables, in the order of the file
// (little-endian).
constexpr std::string_view kSstMagic = "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88";

constexpr std::string_view kTrailerMagic = "TRABLK\"$";
// The trailer sizes of HFile v3, v2 and v1.
constexpr std::array<uint64_t, 3> kTrailerBytes = {4096, 212, 60};

constexpr size_t kMagicBytes = 8;

// Returns the bytes at `offset`; empty if they cannot be read.
std::string BytesAt(const InputFile& file, uint64_t offset) {
  std::string bytes(kMagicBytes, '\0');
  return file.ReadAt(offset, bytes.size(), bytes.data()).ok() ? bytes : "";
}

}  // namespace

std::string_view ToString(BlockType type) {
  // In the order of the types.
  static constexpr std::string_view kNames[] = {
      "data",
      "index",
      "index partition",
      "filter",
      "filter partition",
      "filter index",
      "range deletions",
      "dictionary",
      "properties",
      "meta",
      "metaindex",
      "footer",
      "encoded data",
      "leaf index",
      "intermediate index",
      "root index",
      "Bloom chunk",
      "Bloom filter",
      "file info",
      "trailer",
      "blobs",
      "gap",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(BlockType::kGap) + 1);
  return NameOf(type, kNames);
}

FileKind KindOf(const std::string& path) {
  std::unique_ptr<InputFile> file;
  if (!InputFile::Open(path, &file).ok()) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) ? FileKind::kUnread
                                                           : FileKind::kOther;
  }
  const uint64_t size_bytes = file->size_bytes();
  if (size_bytes < kMagicBytes) return FileKind::kOther;
  const std::string end = BytesAt(*file, size_bytes - kMagicBytes);
  if (end.empty()) return FileKind::kUnread;
  if (end == kSstMagic) return FileKind::kSst;
  for (const uint64_t bytes : kTrailerBytes) {
    if (size_bytes >= bytes &&
        BytesAt(*file, size_bytes - bytes) == kTrailerMagic) {
      return FileKind::kHFile;
    }
  }
  // A file that lost its end is an HFile if it starts as one.
  const std::string start = BytesAt(*file, 0);
  for (size_t type = 0; type < hfile::kBlockTypes; ++type) {
    if (hfile::Magic(static_cast<hfile::BlockType>(type)) == start) {
      return FileKind::kHFile;
    }
  }
  return FileKind::kOther;
}

rocksdb::Status OpenTable(const std::string& path,
                          std::unique_ptr<TableFile>* table) {
  // A file of neither kind gets the error of SstTable.
  return KindOf(path) == FileKind::kHFile ? HFileTable::Open(path, table)
                                          : SstTable::Open(path, table);
}

}  // namespace rowbloom::table
