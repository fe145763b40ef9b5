#include "tools/sst_inspect/table_file.h"

#include "tools/sst_inspect/file_kind.h"
#include "tools/sst_inspect/open_hfile.h"
#include "tools/sst_inspect/sst_table.h"

namespace rowbloom::sst_inspect {

std::string_view ToString(BlockType type) {
  switch (type) {
    case BlockType::kData:
      return "data";
    case BlockType::kIndex:
      return "index";
    case BlockType::kIndexPartition:
      return "index partition";
    case BlockType::kFilter:
      return "filter";
    case BlockType::kFilterPartition:
      return "filter partition";
    case BlockType::kFilterIndex:
      return "filter index";
    case BlockType::kRangeDeletions:
      return "range deletions";
    case BlockType::kDictionary:
      return "dictionary";
    case BlockType::kProperties:
      return "properties";
    case BlockType::kMeta:
      return "meta";
    case BlockType::kMetaindex:
      return "metaindex";
    case BlockType::kFooter:
      return "footer";
    case BlockType::kEncodedData:
      return "encoded data";
    case BlockType::kLeafIndex:
      return "leaf index";
    case BlockType::kIntermediateIndex:
      return "intermediate index";
    case BlockType::kRootIndex:
      return "root index";
    case BlockType::kBloomChunk:
      return "Bloom chunk";
    case BlockType::kBloomFilter:
      return "Bloom filter";
    case BlockType::kFileInfo:
      return "file info";
    case BlockType::kTrailer:
      return "trailer";
    case BlockType::kBlobs:
      return "blobs";
    case BlockType::kGap:
      return "gap";
  }
  return "unknown";
}

rocksdb::Status OpenTable(const std::string& path,
                          std::unique_ptr<TableFile>* table) {
  // A file that is neither is refused in the words for SSTs.
  return KindOf(path) == FileKind::kHFile ? OpenHFile(path, table)
                                          : SstTable::Open(path, table);
}

}  // namespace rowbloom::sst_inspect
