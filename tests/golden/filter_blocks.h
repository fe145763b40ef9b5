// The filter blocks of the golden data, as today's code writes them. Needs no
// RocksDB.
#pragma once

#include <map>
#include <string>

#include "tests/golden/golden.h"

namespace rowbloom::golden {

struct FilterBlocks {
  std::map<std::string, std::string> bytes;  // by the name of the block's file
  // The text beside the archive:
  //
  //   block NAME LAYOUT COLUMN_FAMILY LEVEL SECTION...  of type/kind/entries
  //   key LAYOUT BYTES                                  in all blocks of it
  Lines lines;
};

FilterBlocks BuildFilterBlocks();

}  // namespace rowbloom::golden
