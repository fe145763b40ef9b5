// The kind of a table file, by its bytes alone: names and folders say nothing
// about files that were copied away.
#pragma once

#include <cstdint>
#include <string>

namespace rowbloom::sst_inspect {

enum class FileKind : uint8_t {
  kSst,    // ends as a table of RocksDB's does
  kHFile,  // has the trailer of an HFile of any version, or starts as one
  kOther,  // neither, or it cannot be read
};

// Reads a few bytes of a regular file.
FileKind KindOf(const std::string& path);

}  // namespace rowbloom::sst_inspect
