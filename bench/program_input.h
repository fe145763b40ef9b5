// The input and output that the programs that write databases share: where the
// cells come from, and where the databases go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cells.h"

namespace rowbloom::bench {

// A directory that goes with the object, unless the user named it.
class DatabaseDir {
 public:
  DatabaseDir() = default;
  ~DatabaseDir();
  DatabaseDir(const DatabaseDir&) = delete;
  DatabaseDir& operator=(const DatabaseDir&) = delete;

  // Makes `wanted` or, if that is "", a temporary directory whose name starts
  // with `program`. "" or why not.
  std::string Make(const std::string& wanted, const std::string& program);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

// Reads a package index or TSV; "-" is standard input. A cell's family is part
// of its qualifier. "" or what is wrong with the input.
std::string ReadCells(const std::string& input, std::vector<InputCell>* cells);

// 1234567 -> "1,234,567".
std::string Grouped(uint64_t number);

// "ROWSxCOLUMNS", both at least 1.
bool ParseShape(const std::string& text, uint64_t* rows, uint64_t* columns);

// "" or what is wrong with a shape, as CLI11 wants it.
std::string CheckShape(const std::string& text);

// ReadCells or, where `input` is "", made up cells of `shape`. REQUIRES one
// that CheckShape takes.
std::string ReadOrMakeCells(const std::string& input, const std::string& shape,
                            std::vector<InputCell>* cells);

// The name that results have for these cells.
std::string InputName(const std::string& input, const std::string& shape);

}  // namespace rowbloom::bench
