#include "tools/table/table_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "lib/bytes/text.h"
#include "storage/format/input_file.h"
#include "storage/hfile/block.h"
#include "storage/hfile/trailer.h"
#include "tools/table/hfile_table.h"
#include "tools/table/sst_table.h"

namespace rowbloom::table {
namespace {

// The magic number of block-based tables, in the order of the file
// (little-endian).
constexpr std::string_view kSstMagic = "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88";

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
  if (size_bytes < hfile::kBlockMagicBytes) return FileKind::kOther;
  std::string start(hfile::kBlockMagicBytes, '\0');
  std::string end(std::min<uint64_t>(size_bytes, hfile::kTrailerBytes), '\0');
  if (!file->ReadAt(0, start.size(), start.data()).ok() ||
      !file->ReadAt(size_bytes - end.size(), end.size(), end.data()).ok()) {
    return FileKind::kUnread;
  }
  if (end.ends_with(kSstMagic)) return FileKind::kSst;
  if (hfile::HasTrailer(end)) return FileKind::kHFile;
  // A file that lost its end is an HFile if it starts as one.
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
