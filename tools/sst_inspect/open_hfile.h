// Opens HFiles. Programs that were built without rowbloom::hfile have
// open_hfile_absent.cc for it.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/status.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// Errors as of HFileReader::Open. On error *table is left as it was.
rocksdb::Status OpenHFile(const std::string& path,
                          std::unique_ptr<TableFile>* table);

}  // namespace rowbloom::sst_inspect
