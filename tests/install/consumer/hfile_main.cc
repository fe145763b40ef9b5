// Writes an HFile and reads it.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rowbloom::HFileWriterOptions options;
  options.compression = rowbloom::HFileCompression::kZstd;
  std::unique_ptr<rowbloom::HFileWriter> writer;
  rocksdb::Status s = rowbloom::HFileWriter::Open(options, argv[1], &writer);
  if (s.ok()) {
    s = writer->Append({.row = "user_1001",
                        .family = "f",
                        .qualifier = "mail",
                        .timestamp_ms = 17,
                        .value = "ada@example.org"});
  }
  if (s.ok()) s = writer->Finish();
  std::unique_ptr<rowbloom::HFileReader> reader;
  if (s.ok()) s = rowbloom::HFileReader::Open({}, argv[1], &reader);
  std::vector<rowbloom::HFileCell> cells;
  if (s.ok()) s = reader->GetRow("user_1001", &cells);
  const bool right = s.ok() && cells.size() == 1 &&
                     cells[0].value == "ada@example.org" &&
                     !reader->MayContainRow("user_1002");
  std::cout << (right ? "ok" : "wrong: " + s.ToString()) << "\n";
  return right ? 0 : 1;
}
