// HFileReader and HFileWriter read and write HFile v3, the files in which HBase
// keeps cells, with their Bloom filters and without HBase.
//
//   std::unique_ptr<rowbloom::HFileReader> file;
//   rocksdb::Status s = rowbloom::HFileReader::Open({}, path, &file);
//   if (s.ok() && file->MayContainRow("user_1001")) {
//     std::vector<rowbloom::HFileCell> cells;
//     s = file->GetRow("user_1001", &cells);
//   }
//
//   std::unique_ptr<rowbloom::HFileWriter> out;
//   s = rowbloom::HFileWriter::Open({}, path, &out);
//   if (s.ok()) s = out->Append({.row = "user_1001", .family = "f",
//                                .qualifier = "mail", .timestamp_ms = 17,
//                                .value = "ada@example.org"});
//   if (s.ok()) s = out->Finish();
//
// storage/hfile/FORMAT.md has every byte of the format. ImportHFiles and
// ExportHFiles, between a store and HFiles, need rowbloom::hfile_transfer; the
// rest needs rowbloom::hfile.
#pragma once

#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_format.h"
#include "rowbloom/hfile_reader.h"
#include "rowbloom/hfile_transfer.h"
#include "rowbloom/hfile_writer.h"
