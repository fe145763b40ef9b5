#include "tools/sst_inspect/table_file.h"

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
    case BlockType::kGap:
      return "gap";
  }
  return "unknown";
}

rocksdb::Status OpenTable(const std::string& path,
                          std::unique_ptr<TableFile>* table) {
  return SstTable::Open(path, table);
}

}  // namespace rowbloom::sst_inspect
